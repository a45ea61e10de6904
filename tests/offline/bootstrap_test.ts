/** A bootstrap made of a proxy's resources: a real Envoy takes it, and serves with it alone. */
import assert from "node:assert/strict";
// @ts-types="npm:@types/js-yaml@4.0.9"
import { dump } from "js-yaml";
import { bootstrapOf, type BootstrapResources, standaloneNode } from "../../lib/offline/bootstrap.ts";
import { resourcesJson, type ShortType, TYPE_URLS } from "../../lib/offline/proxy_resources.ts";
import { impliedProxies } from "../../lib/offline/workloads.ts";
import { startEnvoyProcess } from "../../scripts/envoy.ts";
import { withPorts } from "../../scripts/ports.ts";
import { envoyPath } from "../envoy/path.ts";
import { validateBootstrap } from "../envoy/verdict.ts";
import { example, meshOf } from "./mesh_of.ts";

const options = { domain: "cluster.local", gatewaysInNamespace: false };

/** The bootstraps of all proxies implied by texts, as YAML, by name. */
function bootstraps(files: Record<string, string>, admin: number, meshConfig = ""): Map<string, string> {
  const mesh = meshOf(files, { meshConfig });
  const proxies = impliedProxies(mesh.objects.values(), options);
  return new Map(proxies.map(({ namespace, name, node: whole }) => {
    const node = standaloneNode(whole);
    const json = resourcesJson(mesh.join(node), Object.keys(TYPE_URLS) as ShortType[]);
    const bootstrap = bootstrapOf(node, json as unknown as BootstrapResources, { port: admin });
    return [`${namespace}/${name}`, dump(bootstrap, { noRefs: true })];
  }));
}

const WITH_METRICS = "defaultProviders: { metrics: [prometheus] }";

for (
  const [folder, meshConfig] of [
    ["first-steps/mesh", ""],
    ["tour", ""],
    ["istio-spelling", ""],
    ["shop", ""],
    ["shop", WITH_METRICS],
  ] as const
) {
  Deno.test({
    name: `Envoy takes the bootstrap of every proxy of examples/${folder}${meshConfig && ", with metrics"}`,
    ignore: envoyPath() === undefined,
    fn: async () => {
      const all = bootstraps(example(folder), 0, meshConfig);
      if (meshConfig) assert.match([...all.values()].join(""), /max_counters/);
      assert.ok(all.size > 0);
      for (const [name, text] of all) {
        const { accepted, output } = await validateBootstrap(envoyPath()!, text);
        assert.ok(accepted, `${name}: ${output}`);
      }
    },
  });
}

Deno.test({
  name: "an Envoy serves a gateway by its bootstrap alone: its own answer, and a service's by weight",
  ignore: envoyPath() === undefined,
  fn: () => withPorts(3, serveGateway),
});

async function serveGateway([gateway, first, second]: readonly number[]): Promise<void> {
  const files = Object.fromEntries(
    Object.entries(example("first-steps/mesh")).map(([name, text]) => [
      name,
      text.replaceAll("8088", `${gateway}`).replaceAll("9081", `${first}`).replaceAll("9082", `${second}`),
    ]),
  );
  const text = bootstraps(files, 0).get("demo/door");
  assert(text !== undefined);
  const services = [first, second].map((port, at) =>
    Deno.serve({ port: port!, hostname: "127.0.0.1", onListen: () => {} }, () => new Response(`v${at + 1}`))
  );
  try {
    await using running = await startEnvoyProcess({ binary: envoyPath()!, bootstrap: text });
    await running.ready([`127.0.0.1:${gateway}`]);
    const ask = async (path: string) => await (await fetch(`http://127.0.0.1:${gateway}${path}`)).text();
    assert.equal(await ask("/hello"), "hello from the gateway\n");
    assert.match(await ask("/other"), /^v[12]$/, "the service's answer");
  } finally {
    await Promise.all(services.map((service) => service.shutdown()));
  }
}

Deno.test("what would go on asking the server is refused by name", () => {
  const resources: BootstrapResources = {
    listeners: [],
    routes: [],
    clusters: [{ name: "odd", transport_socket: { sds_config: { ads: {} } } }],
    endpoints: [],
    secrets: [],
    extensions: [],
  };
  const node = { id: "sidecar~10.0.0.1~a.b~b.svc.cluster.local" };
  assert.throws(() => bootstrapOf(node, resources, { port: 0 }), /clusters: odd would go on asking the server/);
});

Deno.test("a certificate in files is a static secret that names them, and nothing goes on asking for it", () => {
  const gateway = `apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: demo }
spec:
  selector: { app: door }
  servers:
    - port: { number: 8443, name: https, protocol: HTTPS }
      hosts: [shop.example]
      tls: { mode: SIMPLE, serverCertificate: /etc/c.pem, privateKey: /etc/k.pem }
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: shop, namespace: demo }
spec: { hosts: [shop.example], gateways: [door], http: [{ directResponse: { status: 200 } }] }`;
  const text = bootstraps({ "a.yaml": gateway }, 0).get("demo/door") ?? "";
  assert.match(text, /private_key:\s+filename: \/etc\/k\.pem/);
  assert.doesNotMatch(text, /ads:|redacted/);
  assert.match(text, /tls_certificate_sds_secret_configs:\s+- name: file-cert/);
});

Deno.test("a plugin's filter stands with its configuration: without an agent what denies in its place", () => {
  const plugin = `apiVersion: extensions.mesh.io/v1alpha1
kind: WasmPlugin
metadata: { name: guard, namespace: x }
spec: { url: example.com/guard:1 }`;
  const entry = `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: x }
spec:
  hosts: [a.x]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.1, labels: { app: a } }]`;
  const [text = ""] = [...bootstraps({ "a.yaml": `${plugin}\n---\n${entry}` }, 0).values()];
  assert.match(text, /name: extensions.istio.io\/wasmplugin\/x.guard\s+typed_config:\s+'@type': >-\s+\S*http.rbac/);
  assert.doesNotMatch(text, /ads:/);
});
