/** Pages about objects that replace others without any change for proxies. */
import assert from "node:assert/strict";
import { struct } from "../../lib/pb/wellknown.ts";
import { page, withServer } from "../discovery/running.ts";
import { TestProxy } from "./proxy.ts";

const BASE = `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: base, namespace: x }
spec:
  hosts: [base.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  location: MESH_INTERNAL
  endpoints: [{ address: 10.0.0.1 }]
`;

/** A sidecar with an agent and certificates. */
const NODE = {
  id: "sidecar~10.0.0.1~a.x~x.svc.cluster.local",
  metadata: struct({ PROXY_CONFIG: {} }),
};

/** Each kind has an effect on the proxy, independent of the name. */
const KINDS: Readonly<Record<string, string>> = {
  ServiceEntry: `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: NAME, namespace: x }
spec:
  hosts: [a.example.com]
  ports: [{ number: 81, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.9 }]
`,
  VirtualService: `apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: NAME, namespace: x }
spec:
  hosts: [base.example.com]
  http: [{ timeout: 3s, route: [{ destination: { host: base.example.com } }] }]
`,
  PeerAuthentication: `apiVersion: security.mesh.io/v1
kind: PeerAuthentication
metadata: { name: NAME, namespace: x }
spec: { mtls: { mode: STRICT } }
`,
  RequestAuthentication: `apiVersion: security.mesh.io/v1
kind: RequestAuthentication
metadata: { name: NAME, namespace: x }
spec: { jwtRules: [{ issuer: a, jwks: '{"keys":[]}' }] }
`,
  Sidecar: `apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: NAME, namespace: x }
spec: { egress: [{ hosts: ["x/*"] }] }
`,
};

interface Live {
  readonly total: number;
  readonly everywhere: boolean;
  readonly why: readonly string[];
}

for (const [kind, text] of Object.entries(KINDS)) {
  Deno.test(`${kind}: an object that replaces another object with the same effect is in force on the same proxies, and nothing is sent`, async () => {
    const files = { "base.yaml": BASE, "a.yaml": text.replace("NAME", "one") };
    await withServer(files, async ({ ports }, folder) => {
      using proxy = await TestProxy.attach(ports.grpc, NODE);
      const live = async (name: string): Promise<Live> => {
        const { body } = await page(ports.http, `/debug/live?object=${kind}/x/${name}&wait=90s`);
        return JSON.parse(body);
      };
      const before = await live("one");
      assert.deepEqual([before.total, before.everywhere], [1, true], before.why.join());
      proxy.hold();
      await Deno.writeTextFile(`${folder}/a.yaml`, text.replace("NAME", "two"));
      const after = await live("two");
      assert.deepEqual([after.total, after.everywhere], [1, true], after.why.join());
      assert.equal(proxy.waiting, 0);
    });
  });
}
