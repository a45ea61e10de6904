/** The commands `tag list`, `tag set` and `tag remove` as processes. */
import assert from "node:assert/strict";
import { parseAllDocuments, stringify } from "yaml";
import { installObjects } from "../../lib/install/parts.ts";
import { withoutComments } from "../../lib/install/template/resolved.ts";
import { defaultValues } from "../../lib/install/values/values.ts";
import { pilotDiscovery } from "./offline.ts";

const objectsIn = (text: string) => parseAllDocuments(text).map((document) => document.toJS());
const namespace = (name: string, labels: object) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels },
});
const webhook = (labels: object) => ({ kind: "MutatingWebhookConfiguration", metadata: { name: "x", labels } });

Deno.test("tag set prints the objects of an installation with that tag, and tag remove what kubectl needs to delete them", async () => {
  const set = await pilotDiscovery(["tag", "set", "prod", "--revision=canary", "-n=control"]);
  const values = defaultValues({ revision: "canary", tags: ["prod"], namespace: "control" });
  assert.deepEqual([set.code, set.err], [0, ""]);
  assert.deepEqual(objectsIn(set.out), installObjects(values, ["tags"]).map(withoutComments));
  const removed = objectsIn((await pilotDiscovery(["tag", "remove", "prod", "-y"])).out);
  assert.deepEqual(
    removed,
    objectsIn(set.out).map(({ apiVersion, kind, metadata: { name } }) => ({ apiVersion, kind, metadata: { name } })),
  );
});

Deno.test("tag list reads what kubectl prints: tags of the mesh and of Istio, with the namespaces of each", async () => {
  const set = await pilotDiscovery(["tag", "set", "prod", "--revision=canary"]);
  const items = [
    ...objectsIn(set.out),
    webhook({ "istio.io/tag": "default", "istio.io/rev": "1-26" }),
    webhook({ "mesh.io/rev": "default" }),
    namespace("shop", { "mesh.io/rev": "prod" }),
    namespace("cart", { "mesh.io/rev": "prod" }),
    namespace("old", { "istio-injection": "enabled" }),
    namespace("other", { "istio-injection": "enabled", "istio.io/rev": "prod" }),
    namespace("bare", {}),
  ];
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  const [text, json, none] = await Promise.all([
    pilotDiscovery(["tag", "list", "-"], { stdin }),
    pilotDiscovery(["tag", "list", "-o=json", "a.yaml"], {
      files: { "a.yaml": items.map((one) => stringify(one)).join("---\n") },
    }),
    pilotDiscovery(["tag", "list", "-"], { stdin: stringify(namespace("a", {})) }),
  ]);
  assert.deepEqual([text!.code, text!.out], [
    0,
    "TAG      REVISION  NAMESPACES\ndefault  1-26      old\nprod     canary    cart,shop\n",
  ]);
  assert.deepEqual(JSON.parse(json!.out).tags, [
    { tag: "default", revision: "1-26", namespaces: ["old"] },
    { tag: "prod", revision: "canary", namespaces: ["cart", "shop"] },
  ]);
  assert.equal(none!.out, "no tag\n");
});

Deno.test("a tag that namespaces use is not removed by mistake, and wrong tags are refused", async () => {
  const stdin = stringify(namespace("shop", { "mesh.io/rev": "prod" }));
  const unused = await pilotDiscovery(["tag", "remove", "stage", "-"], { stdin });
  assert.deepEqual([unused.code, objectsIn(unused.out).length], [0, 3]);
  const cases: [string[], RegExp][] = [
    [["remove", "prod", "-"], /got prod, which shop has in the label mesh\.io\/rev, expected a tag without namespaces/],
    [["remove", "prod"], /got no namespaces, expected the output of kubectl get namespaces/],
    [["set", "prod"], /flag --revision: got none, expected the revision of the tag/],
    [["set", "canary", "--revision=canary"], /tags: got "canary", expected a name that is neither/],
    [["list", "gone.yaml"], /gone\.yaml: no such file or folder/],
  ];
  await Promise.all(cases.map(async ([args, message]) => {
    const { code, out, err } = await pilotDiscovery(["tag", ...args], { stdin });
    assert.deepEqual({ args, code, out }, { args, code: 1, out: "" });
    assert.match(err, message);
  }));
});
