/** The command `manifests` as a process: output, values, refusals. */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { installObjects } from "../../lib/install/parts.ts";
import { withoutComments } from "../../lib/install/template/resolved.ts";
import { defaultValues } from "../../lib/install/values/values.ts";
import { pilotDiscovery } from "./offline.ts";

const objectsIn = (text: string) => parseAllDocuments(text).map((document) => document.toJS());

Deno.test("it prints the objects of a revision, by a file of values and by flags that replace its values", async () => {
  const files = { "values.yaml": "hub: a.example/mesh\nmeshd:\n  replicas: 3\nmeshConfig: { enableTracing: true }\n" };
  const args = ["manifests", "--values", "values.yaml", "--revision", "canary", "--tag", "prod", "--hub=b.example"];
  const { code, out, err } = await pilotDiscovery(args, { files });
  assert.deepEqual([code, err], [0, ""]);
  const changes = { "meshd.replicas": 3, meshConfig: { enableTracing: true } };
  const values = defaultValues({ ...changes, revision: "canary", tags: ["prod"], hub: "b.example" });
  assert.deepEqual(objectsIn(out), installObjects(values).map(withoutComments));
  assert.match(
    out,
    /^ {4}defaultConfig:\n {6}discoveryAddress: meshd-canary\.mesh-system\.svc:15012\n {4}accessLogFile: \/dev\/stdout\n {4}enableTracing: true$/m,
  );
});

Deno.test("without a revision it prints the default installation, and with --only some parts", async () => {
  const { code, out } = await pilotDiscovery(["manifests", "--only", "base,validation", "--namespace", "control"]);
  assert.equal(code, 0);
  assert.deepEqual(objectsIn(out).map(({ kind, metadata }) => `${kind} ${metadata.name}`), [
    "Namespace control",
    "PriorityClass mesh-control-plane",
    "ValidatingWebhookConfiguration mesh-control",
  ]);
  const whole = objectsIn((await pilotDiscovery(["manifests"])).out);
  assert.deepEqual(whole, installObjects(defaultValues()).map(withoutComments));
});

Deno.test("it ends with 1, and lines that say why, for wrong values and files", async () => {
  const cases: [string[], string, RegExp][] = [
    [["--revision", "Canary"], "", /^Error: revision: got "Canary", expected a name of lower-case letters/],
    [["--revision=canary", "--tag=canary"], "", /^Error: tags: got "canary", expected a name that is neither/],
    [["--only", "tags"], "", /^Error: flag --only: got tags, expected a part with objects/],
    [["--values", "none.yaml"], "", /^Error: flag --values: none\.yaml: no such file\n$/],
    [["--values", "values.yaml"], "a: [", /^Error: flag --values: values\.yaml:\d+: /],
    [["--values", "values.yaml"], "meshd: { replica: 1 }", /^Error: meshd\.replica: there is no such value\n$/],
  ];
  await Promise.all(cases.map(async ([args, file, message]) => {
    const { code, out, err } = await pilotDiscovery(["manifests", ...args], { files: { "values.yaml": file } });
    assert.deepEqual({ args, code, out }, { args, code: 1, out: "" });
    assert.match(err, message);
  }));
});
