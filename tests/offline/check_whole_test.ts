/**
 * Parts missing in texts may be elsewhere, unless the texts are said to be whole. Texts also hold other things than
 * objects of the mesh.
 */
import assert from "node:assert/strict";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { checkMesh } from "../../lib/offline/check/check.ts";
import { meshConfigOf } from "../../lib/offline/mesh_of_reads.ts";
import { meshOfTexts } from "../../lib/offline/library/texts_mesh.ts";
import { meshOf } from "./mesh_of.ts";

const workload = (namespace: string) => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: ${namespace} }
spec:
  selector: { matchLabels: { app: web } }
  template: { metadata: { labels: { app: web } }, spec: { containers: [{ name: web, image: web }] } }
`;

/** Each kind with a selector of workloads, matching no workload. */
const selecting = (namespace: string) =>
  [
    ["security.istio.io/v1", "RequestAuthentication", "selector: { matchLabels: { istio: gateway } }"],
    [
      "security.istio.io/v1",
      "AuthorizationPolicy",
      "{ selector: { matchLabels: { istio: gateway } }, rules: [{ to: [{ operation: { methods: [GET] } }] }] }",
    ],
    [
      "security.istio.io/v1",
      "PeerAuthentication",
      "{ selector: { matchLabels: { istio: gateway } }, mtls: { mode: STRICT } }",
    ],
    [
      "extensions.istio.io/v1alpha1",
      "WasmPlugin",
      '{ selector: { matchLabels: { istio: gateway } }, url: "oci://x.test/a:1" }',
    ],
    [
      "networking.istio.io/v1alpha3",
      "EnvoyFilter",
      "{ workloadSelector: { labels: { istio: gateway } }, configPatches: [{ applyTo: CLUSTER, patch: { operation: MERGE, value: { name: a } } }] }",
    ],
  ].map(([apiVersion, kind, spec]) =>
    `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: login, namespace: ${namespace} }\nspec: ${
      spec!.startsWith("{") ? spec : `{ ${spec} }`
    }\n`
  ).join("---\n");

function absences(text: string, whole: boolean): string[] {
  const files = { "a.yaml": text };
  const { findings } = unpaced(checkMesh(meshOf(files), { assumeServices: false, whole, textOf: () => undefined }));
  return findings.filter(({ code }) => code === "MSH0101" || code === "MSH0127").map(({ severity, place, expected }) =>
    `${severity} ${place.objects[0]!.kind} ${/of (the mesh|namespace \S+)/.exec(expected)?.[1]}`
  ).sort();
}

const KINDS = ["AuthorizationPolicy", "ProxyFilter", "RequestAuthentication", "WasmPlugin"];
const all = (severity: string, scope: string, ...more: string[]) =>
  [...KINDS, ...more].map((kind) => `${severity} ${kind} ${scope}`).sort();

Deno.test("a selector for workloads that are installed elsewhere is a thing to know, of each kind that is for the mesh", () => {
  assert.deepEqual(absences(`${workload("shop")}---\n${selecting("istio-system")}`, false), all("info", "the mesh"));
});

Deno.test("where workloads of the object's own namespace are known it is a warning, of each kind, with the scope's name", () => {
  const text = `${workload("shop")}---\n${selecting("shop")}`;
  assert.deepEqual(absences(text, false), all("warning", "namespace shop", "PeerAuthentication"));
});

Deno.test("texts that are whole make it an error, of each kind", () => {
  const text = `${workload("shop")}---\n${selecting("shop")}`;
  assert.deepEqual(absences(text, true), all("error", "namespace shop", "PeerAuthentication"));
});

Deno.test("a gateway, a delegate and a host of a namespace that no text tells of are warnings, and errors of whole texts", () => {
  const text = `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: web, namespace: shop }
spec:
  hosts: [shop.example.com]
  gateways: [edge/public]
  http:
    - match: [{ uri: { prefix: /a } }]
      delegate: { name: a, namespace: team }
    - route: [{ destination: { host: web.team.svc.cluster.local } }]
`;
  const severities = (whole: boolean, more = "") => {
    const files = { "a.yaml": text + more };
    const { findings } = unpaced(checkMesh(meshOf(files), { assumeServices: false, whole, textOf: () => undefined }));
    return findings.map(({ name, severity }) => `${severity} ${name}`).sort();
  };
  const names = ["unknown-delegate", "unknown-gateway", "unknown-host"];
  assert.deepEqual(severities(false), names.map((name) => `warning ${name}`));
  assert.deepEqual(severities(true), names.map((name) => `error ${name}`));
  const service =
    "---\napiVersion: v1\nkind: Service\nmetadata: { name: other, namespace: team }\nspec: { ports: [{ port: 80 }] }\n";
  assert.deepEqual(severities(false, service)[0], "error unknown-host", "the texts tell of that namespace's services");
});

Deno.test("kinds that are passed over are counted by name, the most frequent first", () => {
  const other = (kind: string, name: string) =>
    `---\napiVersion: x.test/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`;
  const files = { "a.yaml": other("Gadget", "a") + other("Widget", "a") + other("Widget", "b") };
  const result = unpaced(checkMesh(meshOf(files), { assumeServices: false, textOf: () => undefined }));
  assert.deepEqual(Object.entries(result.passedOverKinds), [["Widget", 2], ["Gadget", 1]]);
  assert.equal(result.passedOver, 3);
});

const PROVIDER =
  "extensionProviders: [{ name: authz, envoyExtAuthzHttp: { service: authz.shop.svc.cluster.local, port: 8000 } }]";
const CARRIERS: Readonly<Record<string, string>> = {
  IstioOperator:
    `apiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\nmetadata: { name: main, namespace: istio-system }\nspec: { meshConfig: { ${PROVIDER} } }\n`,
  Istio:
    `apiVersion: sailoperator.io/v1\nkind: Istio\nmetadata: { name: default }\nspec: { values: { meshConfig: { ${PROVIDER} } } }\n`,
  "ConfigMap istio":
    `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: istio, namespace: istio-system }\ndata:\n  mesh: |-\n    ${PROVIDER}\n`,
  "ConfigMap mesh": `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: mesh, namespace: mesh-system }\ndata: { mesh: ${
    JSON.stringify(PROVIDER)
  } }\n`,
};

for (const [what, text] of Object.entries(CARRIERS)) {
  Deno.test(`the mesh configuration of ${what} among the texts holds, and no finding says that it is not read`, async () => {
    const { mesh } = await meshOfTexts({ files: { "install.yaml": text } });
    assert.ok(mesh.mesh.extensionProviders.some(({ name }) => name === "authz"));
    assert.deepEqual(mesh.findings(), []);
  });
}

Deno.test("equal objects are one mesh configuration; of different objects none is taken, and each is named", async () => {
  const same = Object.values(CARRIERS).join("---\n");
  const read = (text: string) => [{ path: "a.yaml", bytes: new TextEncoder().encode(text) }];
  assert.equal(meshConfigOf(read(same))?.name, "IstioOperator istio-system/main, a.yaml:1");
  const other = CARRIERS["ConfigMap istio"]!.replace("8000", "9000");
  const { mesh } = await meshOfTexts({ files: { "a.yaml": CARRIERS["IstioOperator"]!, "b.yaml": other } });
  assert.ok(!mesh.mesh.extensionProviders.some(({ name }) => name === "authz"));
  const named = mesh.findings().filter(({ code }) => code === "MSH1050");
  assert.deepEqual(named.map(({ message, fix }) => `${message}: ${fix}`), [
    "spec.meshConfig of IstioOperator istio-system/main is a mesh configuration, which is not read from there: " +
    "Name the file of the object with --meshConfig, which takes the object as it is, or a file with only its content.",
    "data.mesh of ConfigMap istio-system/istio is a mesh configuration, which is not read from there: " +
    "Name the file of the object with --meshConfig, which takes the object as it is, or a file with only its content.",
  ]);
});

Deno.test("a mesh configuration among the texts that has errors is not taken; an error says which", async () => {
  const wrong = CARRIERS["ConfigMap istio"]!.replace("8000", "many");
  const { mesh } = await meshOfTexts({ files: { "a.yaml": wrong } });
  assert.deepEqual(mesh.findings().map(({ code, severity }) => `${severity} ${code}`), ["error MSH1051"]);
  assert.match(mesh.findings()[0]!.message, /ConfigMap istio-system\/istio, a\.yaml:1 is refused: .*port: "many"/);
});

Deno.test("a given mesh configuration has precedence over the mesh configuration in the texts", async () => {
  const { mesh } = await meshOfTexts({ files: { "a.yaml": CARRIERS["Istio"]! }, meshConfig: "trustDomain: own" });
  assert.equal(mesh.mesh.trustDomain, "own");
  assert.ok(!mesh.mesh.extensionProviders.some(({ name }) => name === "authz"));
  assert.deepEqual(mesh.findings(), []);
});
