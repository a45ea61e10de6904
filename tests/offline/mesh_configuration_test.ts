/** The mesh configuration of commands: from a file, from an object in a file, or from objects among the texts. */
import assert from "node:assert/strict";
import { parseMeshConfig } from "../../lib/config/mesh/parse.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { compareVersions } from "../../lib/offline/diff/compare.ts";
import { meshOfReads, useMeshConfigOf } from "../../lib/offline/mesh_of_reads.ts";
import { readsOf } from "./mesh_of.ts";

const settings = defaultSettings("pilot-discovery");
const options = { settings, domain: "cluster.local", manifestServices: true };
const parse = (text: string) => parseMeshConfig(text, { systemNamespace: "mesh-system", source: "install.yaml" });

const operator = (mode: string) =>
  `apiVersion: install.istio.io/v1alpha1
kind: IstioOperator
metadata: { name: main, namespace: istio-system }
spec: { meshConfig: { outboundTrafficPolicy: { mode: ${mode} } } }
`;
const map = (mode: string) =>
  `apiVersion: v1
kind: ConfigMap
metadata: { name: istio, namespace: istio-system }
data:
  mesh: |-
    outboundTrafficPolicy:
      mode: ${mode}
`;

const forms: Readonly<Record<string, string>> = {
  "the fields alone": "outboundTrafficPolicy: { mode: REGISTRY_ONLY }",
  "an IstioOperator": operator("REGISTRY_ONLY"),
  "a config map": map("REGISTRY_ONLY"),
  "both among manifests": `apiVersion: v1\nkind: Namespace\nmetadata: { name: x }\n---\n${
    operator("REGISTRY_ONLY")
  }---\n${map("REGISTRY_ONLY")}`,
  "a list": JSON.stringify({
    apiVersion: "v1",
    kind: "List",
    items: [{
      apiVersion: "sailoperator.io/v1",
      kind: "Istio",
      metadata: { name: "default" },
      spec: { values: { meshConfig: { outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } } } },
    }],
  }),
  "an IstioOperator with a byte order mark and lines of Windows": `\uFEFF${
    operator("REGISTRY_ONLY").replaceAll("\n", "\r\n")
  }`,
};

for (const [form, text] of Object.entries(forms)) {
  Deno.test(`a file of mesh configuration may be ${form}`, () => {
    const { value, findings } = parse(text);
    assert.deepEqual(findings, []);
    assert.equal(value?.outboundTrafficPolicy.mode, "REGISTRY_ONLY");
  });
}

Deno.test("a file with different objects is refused, and errors name the line of the object", () => {
  const differ = parse(`${operator("REGISTRY_ONLY")}---\n${map("ALLOW_ANY")}`);
  assert.equal(differ.value, undefined);
  assert.match(differ.findings[0]!.message, /IstioOperator istio-system\/main and ConfigMap istio-system\/istio/);
  const wrong = parse(`apiVersion: v1\nkind: Namespace\nmetadata: { name: x }\n---\n${operator("SOMETIMES")}`);
  assert.equal(wrong.value, undefined);
  assert.match(wrong.findings[0]!.message, /^outboundTrafficPolicy\.mode: "SOMETIMES", expected/);
  assert.equal(wrong.findings[0]!.place.line, 5);
});

const POD = `apiVersion: v1
kind: Pod
metadata: { name: app-1, namespace: shop, labels: { app: app } }
spec: { containers: [{ name: app, image: x }, { name: istio-proxy, image: p, args: [proxy, sidecar] }] }
status: { phase: Running, podIP: 10.9.0.1 }
`;

function diff(old: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>, given?: string) {
  const flag = given === undefined ? undefined : { text: given, name: "mesh.yaml" };
  const reads = readsOf(now);
  const mesh = meshOfReads(readsOf(old), flag, options);
  mesh.apply(readsOf(old));
  return unpaced(compareVersions(mesh, () => mesh.index.applySteps(reads), {
    nodes: [],
    textOf: { old: (file) => old[file], now: (file) => now[file] },
    meshConfig: () => useMeshConfigOf(mesh, reads, flag),
  }));
}

Deno.test("a comparison uses each version's own mesh configuration: an edit of the mesh configuration alone is a change, unless a mesh configuration is given", () => {
  const files = (mode: string) => ({ "install.yaml": operator(mode), "pod.yaml": POD });
  const [old, now] = [files("ALLOW_ANY"), files("REGISTRY_ONLY")];
  const { groups } = diff(old, now);
  const changed = groups.flatMap(({ resources }) => resources.map(({ type, name }) => `${type} ${name}`));
  assert.ok(changed.includes("lds virtualOutbound"), changed.join());
  assert.deepEqual(diff(old, old).groups, []);
  assert.deepEqual(diff(old, now, "outboundTrafficPolicy: { mode: REGISTRY_ONLY }").groups, []);
});

Deno.test("a mesh configuration of the new version with errors is a new finding, and the defaults take its place", () => {
  const files = (mode: string) => ({ "install.yaml": operator(mode), "pod.yaml": POD });
  const { findings } = diff(files("ALLOW_ANY"), files("SOMETIMES"));
  assert.deepEqual(findings.appeared.map(({ code, severity }) => `${severity} ${code}`), ["error MSH1051"]);
  assert.throws(() => meshOfReads([], { text: "outboundTrafficPolicy: { mode: SOMETIMES }" }, options), RangeError);
});
