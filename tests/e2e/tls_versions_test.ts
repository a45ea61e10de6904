/** Versions, suites and curves on every generated TLS surface, tested by openssl as the other end. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { Authority, openssl } from "../certificates.ts";
import { gateway } from "./support/door.ts";
import { writeIdentity } from "./support/identity_files.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { requestHost } from "./support/request.ts";
import { until } from "../patience.ts";

const path = envoyPath();

/** The only TLS settings that the other end accepts, as openssl arguments. */
const OTHER_ENDS: Readonly<Record<string, readonly string[]>> = {
  "TLS 1.3": ["-tls1_3"],
  "AES-GCM": ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"],
  "AES-GCM over X25519": ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384", "-curves", "X25519"],
  "ChaCha20": ["-tls1_2", "-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"],
  "CBC": ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA"],
  "TLS 1.1": ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"],
};

type Accepted = readonly (keyof typeof OTHER_ENDS)[];
/**
 * Envoy's own limits. A TLS 1.2 client with only X25519 accepts no P-256 certificate, but a server shows a certificate
 * of its own.
 */
const GATEWAY: Accepted = ["TLS 1.3", "AES-GCM", "ChaCha20"];
const OUTBOUND: Accepted = ["TLS 1.3", "AES-GCM", "AES-GCM over X25519", "ChaCha20"];

/** Settings, and the other ends that each surface accepts. */
const ROWS: readonly {
  readonly name: string;
  readonly compliance?: "fips-140-2";
  readonly mesh?: Readonly<Record<string, unknown>>;
  readonly gateway: Accepted;
  readonly workload: Accepted;
  readonly outbound: Accepted;
}[] = [
  { name: "the defaults", gateway: GATEWAY, workload: ["TLS 1.3", "AES-GCM"], outbound: OUTBOUND },
  {
    name: "fips-140-2, over what the mesh configuration asks for",
    compliance: "fips-140-2",
    mesh: { meshMTLS: { minProtocolVersion: "TLSV1_3" }, tlsDefaults: { cipherSuites: ["ECDHE-ECDSA-AES128-SHA"] } },
    ...{ gateway: ["AES-GCM"], workload: ["AES-GCM"], outbound: ["AES-GCM"] },
  },
  {
    name: "TLS 1.3 between workloads",
    mesh: { meshMTLS: { minProtocolVersion: "TLSV1_3" } },
    ...{ gateway: GATEWAY, workload: ["TLS 1.3"], outbound: OUTBOUND },
  },
];

/** Whether a client with the limits completes the handshake. */
async function connects(port: number, limits: readonly string[], files: readonly string[]): Promise<boolean> {
  const args = ["s_client", "-connect", `127.0.0.1:${port}`, "-servername", "app.test", ...limits, ...files];
  const { stdout } = await new Deno.Command("openssl", { args, stdin: "null", stderr: "null" }).output();
  // A refusal in the last step of TLS 1.3 comes after the line with the cipher, but these clients show all required
  // certificates.
  return /New, TLSv1\.\d, Cipher is (?!\(NONE\))/.test(new TextDecoder().decode(stdout));
}

const config = (door: number, workload: number, plain: number, target: number, files: string) =>
  `
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: secure, namespace: demo }
spec:
  selector: { app: door }
  servers:
  - port: { number: ${door}, name: https, protocol: HTTPS }
    hosts: [app.test]
    tls: { mode: SIMPLE, serverCertificate: ${files}/server/cert.pem, privateKey: ${files}/server/key.pem }
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: app, namespace: demo }
spec:
  hosts: [app.test]
  gateways: [door]
  http: [{ route: [{ destination: { host: target.test } }] }]
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: target, namespace: demo }
spec:
  hosts: [target.test]
  location: MESH_EXTERNAL
  resolution: STATIC
  ports: [{ number: 443, protocol: HTTP, name: http }]
  endpoints: [{ address: 127.0.0.1, ports: { http: ${target} } }]
---
apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: target, namespace: demo }
spec: { host: target.test, trafficPolicy: { tls: { mode: SIMPLE, insecureSkipVerify: true } } }
---
apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: server, namespace: demo }
spec:
  workloadSelector: { labels: { app: server } }
  egress: [{ hosts: ["~/*"] }]
  ingress:
  - port: { number: ${workload}, protocol: HTTP, name: http }
    defaultEndpoint: "127.0.0.1:9"
    bind: 127.0.0.1
    captureMode: NONE
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: all, namespace: demo }
spec: { mtls: { mode: STRICT } }
---` + gateway(plain);

/** Whether the proxy's client completes a handshake with a server with the limits. */
async function isReached(plain: number, target: number, limits: readonly string[], files: readonly string[]) {
  const args = ["s_server", "-accept", `127.0.0.1:${target}`, "-www", "-quiet", ...limits, ...files];
  const server = new Deno.Command("openssl", { args, stdin: "null", stdout: "null", stderr: "null" }).spawn();
  try {
    await until("openssl listens", () =>
      Deno.connect({ hostname: "127.0.0.1", port: target }).then((connection) => {
        connection.close();
        return true;
      }, () => false));
    const response = await requestHost(plain, "app.test");
    return typeof response !== "string" && response.status === 200;
  } finally {
    server.kill("SIGKILL");
    await server.status;
  }
}

for (const row of ROWS) {
  Deno.test({
    name: `${row.name}: a gateway, a workload and a proxy's calls agree on what is allowed, and on nothing else`,
    ignore: path === undefined || !openssl,
    fn: () =>
      withPorts(4, async ([door = 0, workload = 0, plain = 0, target = 0]) => {
        const folder = await Deno.makeTempDir({ prefix: "mesh-tls-" });
        const authority = await Authority.make("mesh");
        try {
          const id = [["URI", "spiffe://cluster.local/ns/demo/sa/server"]] as const;
          const signed = await authority.sign("server", 1, id);
          const metadata = await writeIdentity(folder, "server", signed, authority.certificate);
          const own = ["-cert", `${folder}/server/cert.pem`, "-key", `${folder}/server/key.pem`];
          await using mesh = await TestMesh.start({
            files: { "world.yaml": config(door, workload, plain, target, folder) },
            ...(row.mesh && { meshConfig: row.mesh }),
            ...(row.compliance && { settings: { COMPLIANCE_POLICY: row.compliance } }),
          });
          const common = { namespace: "demo", address: "127.0.0.1" } as const;
          const router = { ...common, name: "door", type: "router", labels: { app: "door" } } as const;
          await (await mesh.attach(path!, router, true)).ready(door);
          const sidecar = { ...common, name: "server", type: "sidecar", labels: { app: "server" } } as const;
          await (await mesh.attach(path!, { ...sidecar, metadata: metadata("SERVER") }, true)).ready(workload);
          const accepted: Record<string, string[]> = { gateway: [], workload: [], outbound: [] };
          for (const [name, limits] of Object.entries(OTHER_ENDS)) {
            if (await connects(door, limits, [])) accepted.gateway!.push(name);
            if (await connects(workload, limits, own)) accepted.workload!.push(name);
            if (await isReached(plain, target, limits, own)) accepted.outbound!.push(name);
          }
          const { gateway, outbound } = row;
          assert.deepEqual(accepted, { gateway: [...gateway], workload: [...row.workload], outbound: [...outbound] });
        } finally {
          await authority.remove();
          await Deno.remove(folder, { recursive: true });
        }
      }),
  });
}
