import assert from "node:assert/strict";
import fc from "fast-check";
import { parse } from "yaml";
import { readCheckedConfig } from "../../lib/injection/templates/checked_config.ts";
import { INJECTION_FUNCTIONS } from "../../lib/injection/templates/functions.ts";
import { inject, injected, readCase } from "./support.ts";
import { runs } from "../properties.ts";

const folder = new URL("../testdata/injection/in/", import.meta.url);

/** The tree without its texts: the keys and the lengths of lists. */
function shapeOf(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(shapeOf);
  if (typeof tree !== "object" || tree === null) return "";
  return Object.fromEntries(Object.entries(tree).map(([key, one]) => [key, shapeOf(one)]));
}

/** Every way of a pod's text into a template. */
const HOSTILE = `
metadata:
  annotations:
    bare: {{ .ObjectMeta.Annotations.a }}
    quoted: "{{ .ObjectMeta.Annotations.a }}"
    single: '{{ .ObjectMeta.Annotations.a }}'
    twice: "{{ printf "%s-%s" .ObjectMeta.Annotations.a .ObjectMeta.Annotations.a }}" # {{ .ObjectMeta.Annotations.a }}
    json: |-
      {"a":{{ toJSON .ObjectMeta.Annotations.a }},"all":{{ structToJSON .ObjectMeta.Annotations }}}
    yaml: |-
      {{ toYaml (strdict "a" .ObjectMeta.Annotations.a) | indent 6 }}
spec:
  containers:
  - name: extra
    env:
    - { name: FLOW, value: {{ .ObjectMeta.Annotations.a | quote }} }
    - {{ toYaml (strdict "name" "TREE" "value" .ObjectMeta.Annotations.a) | indent 6 }}
    - {{ toJson (dict "name" "JSON" "value" .ObjectMeta.Annotations.a) }}
    - name: SPLIT
      value: {{ range splitList "," .ObjectMeta.Annotations.a }}{{ . }};{{ end }}
  {{- range .Spec.Containers }}
  - {{ toYaml . | indent 4 }}
  {{- end }}
`;

const pieces = fc.constantFrom(
  ...["a", ": ", "\n", "\n  - ", "\n    b: c", "- ", "#", " #", '"', "'", "\\", "{", "}", "[", "]", ",", "&x", "*x"],
  ...[
    "!!str",
    "\uE0000\uE000",
    "\uE000",
    "|",
    ">",
    "%",
    "---\n",
    "...\n",
    "@",
    "`",
    "\t",
    "<<: *x",
    "?",
    "\u2028",
    "é",
  ],
);

Deno.test("a text of a pod never adds a key or an item, and arrives as it was (property)", () => {
  const config = { defaultTemplates: ["t"], templates: { t: HOSTILE } };
  const podOf = (a: string) => ({
    metadata: { name: "p", annotations: { a } },
    spec: { containers: [{ name: "app", image: "shop/app", args: [a], env: [{ name: "A", value: a }] }] },
  });
  const harmless = shapeOf(injected({ config }, podOf("a")));
  fc.assert(
    fc.property(fc.array(pieces, { minLength: 1, maxLength: 12 }).map((list) => list.join("")), (a) => {
      const pod = injected({ config }, podOf(a));
      assert.deepEqual(shapeOf(pod), harmless);
      const { annotations = {} } = pod.metadata;
      for (const key of ["bare", "quoted", "single"]) assert.equal(annotations[key], a);
      assert.equal(annotations["twice"], `${a}-${a}`);
      assert.deepEqual(JSON.parse(annotations["json"]!), { a, all: { a } });
      assert.deepEqual(parse(annotations["yaml"]!), { a });
      const [extra, app] = [...pod.spec.containers].sort((one, other) => other.name < one.name ? -1 : 1);
      assert.deepEqual(extra?.env?.map(({ value }) => value), [a, a, a, `${a.split(",").join(";")};`]);
      assert.deepEqual(app, podOf(a).spec.containers[0]);
    }),
    { numRuns: runs(400) },
  );
});

Deno.test("a configuration is refused with all that its templates name and that is not there, each with its line", () => {
  const templates = {
    one: "spec:\n  a: {{ env `HOME` }}\n{{ if (lookup 1) }}{{ tpl . | quote }}{{ end }}\n{{ template `part` . }}",
    two: "spec:\n{{ if .A }}",
  };
  const read = readCheckedConfig({
    templates,
    defaultTemplates: ["sidecar", "three"],
    aliases: { both: ["one", "x"] },
  });
  assert.deepEqual("problems" in read && read.problems, [
    'template "one":2: there is no function env',
    'template "one":3: there is no function lookup',
    'template "one":3: there is no function tpl',
    'template "one":4: there is no template "part"',
    'template "two":2: if without end',
    'defaultTemplates: got "three", expected one of gateway, grpc-agent, grpc-simple, one, sidecar, two, both',
    'aliases.both: got "x", expected one of gateway, grpc-agent, grpc-simple, one, sidecar, two',
  ]);
});

for (const name of ["alias", "custom_template", "spire", "template_functions"]) {
  Deno.test(`a configuration whose templates can run is taken: ${name}`, () => {
    const { config } = readCase(Deno.readTextFileSync(new URL(`${name}.yaml`, folder)));
    assert.ok("config" in readCheckedConfig(config));
  });
}

Deno.test("what a template makes is held to the form of a pod, with the fields named", () => {
  const text = "{ metadata: { labels: { a: [1] } }, spec: { containers: [{ name: x, ports: 3, readinessProbe: 5 }] } }";
  const config = { defaultTemplates: ["t"], templates: { t: text } };
  assert.throws(
    () => injected({ config }, { metadata: { name: "p" }, spec: { containers: [] } }),
    /metadata\.labels\.a.*spec\.containers\[0\]\.ports.*spec\.containers\[0\]\.readinessProbe/s,
  );
});

Deno.test("the page of templates names the functions that there are, and no other", () => {
  const page = Deno.readTextFileSync(new URL("../../docs/users/injection_templates.md", import.meta.url));
  const [, table = ""] = /\n\| Functions ([^]*?)\n\n/.exec(page) ?? [];
  const named = [...table.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
  assert.deepEqual(named.sort(), [...INJECTION_FUNCTIONS, "and", "or"].sort());
});

Deno.test("a pod that gets no proxy keeps its probes, and its metrics are scraped where they were", () => {
  const config = { templates: { note: "metadata: { labels: { noted: a } }" } };
  const annotations = { "inject.mesh.io/templates": "note", "prometheus.io/scrape": "true", "prometheus.io/port": "9" };
  const app = { name: "app", readinessProbe: { httpGet: { path: "/", port: 80 } } };
  const pod = injected({ config }, { metadata: { name: "p", annotations }, spec: { containers: [app] } });
  assert.deepEqual(pod.spec.containers, [app]);
  assert.equal(pod.metadata.annotations?.["prometheus.io/port"], "9");
});

Deno.test("JSON of an annotation that is nested without end refuses the pod and throws nothing", () => {
  const a = `{"x":${'{"a":'.repeat(40_000)}1${"}".repeat(40_000)}}`;
  const print = (text: string) => ({
    defaultTemplates: ["t"],
    templates: { t: `metadata: { labels: { a: ${text} } }` },
  });
  const cases = [
    [{}, "sidecar.mesh.io/userVolume"],
    [{}, "sidecar.mesh.io/userVolumeMount"],
    [print("{{ fromJSON .ObjectMeta.Annotations.a }}"), "a"],
    [print("{{ toYaml (fromJSON .ObjectMeta.Annotations.a) }}"), "a"],
  ] as const;
  for (const [config, key] of cases) {
    const result = inject({ config }, { metadata: { annotations: { [key]: a } }, spec: { containers: [] } });
    assert.equal(result.kind, "refused");
  }
  const status = { "sidecar.mesh.io/status": '{"containers":["mesh-proxy"]}' };
  const overrides = { "proxy.mesh.io/overrides": `{"containers":[{"name":"mesh-proxy","x":${a}}]}` };
  const pod = { metadata: { annotations: { ...status, ...overrides } }, spec: { containers: [] } };
  assert.equal(inject({}, pod).kind, "injected");
});
