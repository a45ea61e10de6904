/** The command `bug-report` at a real API server and a running server: what is in the archive, and no credential. */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { pilotDiscovery } from "../../cmd/offline.ts";
import { TestProxy } from "../../debug/proxy.ts";
import { struct } from "../../../lib/pb/wellknown.ts";
import { unpacked } from "../../offline/unpacked.ts";
import { withServer } from "../../discovery/running.ts";
import { kubeconfigOf } from "../support/server/kubeconfig.ts";
import type { ObjectDraft, ObjectId } from "../support/server/objects.ts";
import { apiServerTests } from "../support/server/tests.ts";

const test = apiServerTests();

/** Stands in every credential of the test, in plain and in base64. */
const CANARY = "Zq7canaryZq7";
const CANARY_BASE64 = btoa(CANARY);
const JWT = `eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiI${CANARY}.${CANARY}`;
const KEY = `-----BEGIN PRIVATE KEY-----\\n${CANARY}\\n-----END PRIVATE KEY-----`;

/** Objects with a credential in every place that a user may choose. */
const MESH = (namespace: string) => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: reviews, namespace: ${namespace} }
spec:
  hosts: [reviews.example]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.6 }]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: reviews, namespace: ${namespace}, annotations: { note: "password=${CANARY}" } }
spec:
  hosts: [reviews.example]
  http:
    - headers: { request: { set: { authorization: "Bearer ${CANARY}", x-api-key: ${CANARY} } } }
      match: [{ headers: { cookie: { exact: "session=${CANARY}" } } }]
      route: [{ destination: { host: reviews.example } }]
---
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: { name: keys, namespace: ${namespace} }
spec:
  configPatches:
    - applyTo: CLUSTER
      match: { cluster: { service: reviews.example } }
      patch:
        operation: MERGE
        value:
          transport_socket:
            name: tls
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
              common_tls_context:
                tls_certificates:
                  - certificate_chain: { inline_string: "public" }
                    private_key: { inline_string: "${KEY}" }
    - applyTo: HTTP_FILTER
      match: { context: ANY, listener: { filterChain: { filter: { name: envoy.filters.network.http_connection_manager } } } }
      patch:
        operation: INSERT_BEFORE
        value:
          name: lua
          typed_config:
            "@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua
            default_source_code: { inline_string: "local key = '${CANARY}'" }
---
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: { name: tokens, namespace: ${namespace} }
spec:
  jwtRules: [{ issuer: "https://issuer.example", jwks: '{"keys":[{"kty":"oct","alg":"HS256","kid":"a","k":"${CANARY}"}]}' }]
---
apiVersion: extensions.istio.io/v1alpha1
kind: WasmPlugin
metadata: { name: plugin, namespace: ${namespace} }
spec:
  url: oci://registry.example/plugin:1
  imagePullSecret: registry
  pluginConfig: { anything: ${CANARY} }
  vmConfig: { env: [{ name: ANY, value: ${CANARY} }] }
`;

/** Objects of the cluster alone. */
const CLUSTER = (namespace: string) => `
apiVersion: v1
kind: Secret
metadata: { name: registry, namespace: ${namespace} }
type: kubernetes.io/dockerconfigjson
data: { .dockerconfigjson: ${btoa(JSON.stringify({ auths: { a: { auth: CANARY } } }))} }
---
apiVersion: v1
kind: Pod
metadata: { name: cart, namespace: ${namespace}, annotations: { proxy.istio.io/config: "proxyMetadata: { API_TOKEN: ${CANARY} }" } }
spec:
  containers:
    - name: istio-proxy
      image: proxy
      args: ["--password=${CANARY}"]
      env: [{ name: ANY, value: ${CANARY} }, { name: PILOT_DEBOUNCE_MAX, value: 17s }]
---
apiVersion: v1
kind: Event
metadata: { name: failed, namespace: ${namespace} }
involvedObject: { kind: Pod, name: cart, namespace: ${namespace} }
message: "pull failed with Bearer ${CANARY} and ${JWT}"
reason: Failed
type: Warning
`;

/** Definitions of Istio's groups without schemas, as old clusters have them. */
const DEFINITIONS: readonly [group: string, kind: string, plural: string, version: string][] = [
  ["networking.istio.io", "ServiceEntry", "serviceentries", "v1"],
  ["networking.istio.io", "VirtualService", "virtualservices", "v1"],
  ["networking.istio.io", "EnvoyFilter", "envoyfilters", "v1alpha3"],
  ["security.istio.io", "RequestAuthentication", "requestauthentications", "v1"],
  ["extensions.istio.io", "WasmPlugin", "wasmplugins", "v1alpha1"],
];

function definition([group, kind, plural, name]: typeof DEFINITIONS[number]) {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope: "Namespaced", names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` } },
      versions: [{ name, served: true, storage: true, schema }],
    },
  };
}

function documents(yaml: string): (ObjectDraft & ObjectId)[] {
  return parseAllDocuments(yaml).map((document) => document.toJS());
}

test("a report has the server, its proxies and the cluster, and none of the credentials in them", async ({ server, namespace }) => {
  for (const one of DEFINITIONS) await server.objects.define(definition(one) as unknown as ObjectDraft & ObjectId);
  await server.objects.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } });
  for (const one of documents(`${MESH(namespace)}---${CLUSTER(namespace)}`)) await server.objects.apply(one);
  await withServer({ "mesh.yaml": MESH(namespace) }, async ({ ports }) => {
    const id = `sidecar~10.0.0.6~cart.${namespace}~${namespace}.svc.cluster.local`;
    const metadata = struct({ NAMESPACE: namespace, LABELS: { app: "cart" }, API_TOKEN: CANARY });
    using _cart = await TestProxy.attach(ports.grpc, { id, metadata });
    const folder = await Deno.makeTempDir();
    const archive = `${folder}/report.tar.gz`;
    try {
      const monitoring = `--monitoring-port=${ports.monitoring}`;
      const args = [
        "bug-report",
        monitoring,
        `--server=127.0.0.1:${ports.http}`,
        `--archive=${archive}`,
        "--orchconfig=config",
      ];
      const files = { config: kubeconfigOf(server.access) };
      const { code, out, err } = await pilotDiscovery([...args, `--include=${namespace}`], { files });
      // The pages of the process have no port here.
      assert.equal(code, 1, err);
      assert.match(out, /^\S+\.tar\.gz: \d+ files, \d+ bytes\n$/);
      const found = await unpacked(archive);
      for (const [path, text] of found) {
        for (const secret of [CANARY, CANARY_BASE64, CANARY.slice(0, 9)]) {
          const at = text.indexOf(secret);
          assert.ok(at < 0, `${path}: ${text.slice(Math.max(0, at - 200), at + 50)}`);
        }
      }
      const text = (path: string) => found.get(path) ?? assert.fail(`${path} of ${[...found.keys()].join(" ")}`);
      assert.ok(!found.has("cluster/secrets.json"));
      assert.match(text(`proxies/${namespace}/cart.${namespace}.json`), /reviews\.example/);
      assert.match(text("server/configz.json"), /"reviews"/);
      assert.match(text("server/metrics.txt"), /^# HELP /m);
      assert.match(text("cluster/events.json"), /pull failed with Bearer \[redacted\]/);
      assert.match(text("cluster/pods.json"), /"17s"/);
      // No node runs the pod, so its log is empty.
      assert.equal(text(`logs/${namespace}/cart/istio-proxy.log`).trim(), "");
      assert.match(text("cluster/virtualservices.networking.istio.io.json"), /reviews\.example/);
      const report = JSON.parse(text("report.json"));
      assert.deepEqual(report.flags.include, [namespace]);
      assert.ok(report.missing.some(({ part }: { part: string }) => part.startsWith("server/process/")));

      // Another namespace, and bounds on time and size.
      const again = await pilotDiscovery([...args, "--include=elsewhere"], { files });
      assert.match(`${again.code} ${again.err}`, /^2 [^]*: the file exists, expected the path of a new file/);
      await Deno.remove(archive);
      const elsewhere = await pilotDiscovery([...args, "--include=elsewhere"], { files });
      assert.equal(elsewhere.code, 1);
      const others = await unpacked(archive);
      assert.deepEqual([...others.keys()].filter((path) => path.startsWith("logs/")), []);
      assert.ok(!others.has(`proxies/${namespace}/cart.${namespace}.json`));
      assert.equal(others.get("cluster/pods.json")?.trim(), "[]");
      await Deno.remove(archive);
      const bounded = await pilotDiscovery([...args, "--timeout=1ms", "--max-megabytes=0"], { files });
      assert.match(bounded.err, /the time of --timeout is over/);
      assert.deepEqual([bounded.code, [...(await unpacked(archive)).keys()]], [2, ["report.json"]]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
});

test("without a server the rest is reported; without both there is no report", async ({ server }) => {
  const folder = await Deno.makeTempDir();
  const archive = `${folder}/report.tar.gz`;
  try {
    const args = ["bug-report", "--server=127.0.0.1:1", `--archive=${archive}`];
    const files = { config: kubeconfigOf(server.access) };
    const alone = await pilotDiscovery([...args, "--orchconfig=config"], { files });
    assert.match(`${alone.code} ${alone.err}`, /^1 not in the report: server: http:\/\/127\.0\.0\.1:1: /);
    assert.ok((await unpacked(archive)).has("cluster/nodes.json"));
    await Deno.remove(archive);
    const none = await pilotDiscovery([...args, "--cluster=false"]);
    assert.match(`${none.code} ${none.err}`, /^2 [^]*neither a server nor a cluster answered/);
    const elsewhere = await pilotDiscovery(["bug-report", "--server=127.0.0.1:1", "--archive=/etc/report.tar.gz"]);
    assert.match(`${elsewhere.code} ${elsewhere.err}`, /^2 [^]*the program may write only below \/tmp/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
