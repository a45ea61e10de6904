/** Values of an installation are complete and typed, and unknown or contradicting values are refused by name. */
import assert from "node:assert/strict";
import {
  defaultValues,
  GATEWAY_VALUES,
  type InstallValues,
  readInstallValues,
  VALUES,
} from "../../lib/install/values/values.ts";

function problems(tree: unknown, more: Partial<InstallValues> = {}): readonly string[] {
  const read = readInstallValues(tree, more);
  return "problems" in read ? read.problems : [];
}

Deno.test("every default has the type of its row, and every row has a sentence", () => {
  for (const [path, { schema, default: otherwise, doc }] of Object.entries({ ...VALUES, ...GATEWAY_VALUES })) {
    assert.ok(schema.safeParse(otherwise).success, path);
    assert.match(doc, /^[A-Z].*\.$/, path);
  }
  assert.deepEqual(problems({}), []);
});

Deno.test("values of a file, with fields inside fields, replace defaults; flags replace both", () => {
  const read = readInstallValues({ meshd: { replicas: 3 }, hub: "a.example/x", gateways: [{ name: "door" }] }, {
    hub: "b.example/y",
  });
  assert.ok("values" in read);
  const { "meshd.replicas": replicas, "meshd.minAvailable": left, hub, gateways } = read.values;
  assert.deepEqual([replicas, left, hub], [3, 1, "b.example/y"]);
  assert.deepEqual(
    (gateways as readonly { name: string; namespace: string }[]).map(({ name, namespace }) => [name, namespace]),
    [["door", "mesh-ingress"]],
  );
});

Deno.test("an object completes its default in all depths, null removes a field, and in items of a list it replaces the default", () => {
  const gateways = [{ resources: {} }];
  const tree = { meshd: { resources: { requests: null, limits: { cpu: 1 } } }, meshConfig: { a: false }, gateways };
  const read = readInstallValues(tree);
  assert.ok("values" in read);
  assert.deepEqual(read.values["meshd.resources"], { limits: { memory: "2Gi", cpu: 1 } });
  assert.deepEqual(read.values["meshConfig"], { accessLogFile: "/dev/stdout", a: false });
  assert.deepEqual((read.values["gateways"] as readonly { resources: unknown }[])[0]!.resources, {});
});

Deno.test("a value that no row has, or that has another type, is refused by its path, all at once", () => {
  assert.deepEqual(problems({ meshd: { replica: 3, replicas: "x" }, hub: "", gateways: [{ size: 1 }], what: 1 }), [
    "meshd.replica: there is no such value",
    "what: there is no such value",
    'hub: got "", expected the registry and the folder of images',
    'meshd.replicas: got "x", expected a whole number',
    "gateways[0].size: there is no such value",
  ]);
  assert.deepEqual(problems({ meshd: 5 }), ["meshd: got 5, expected an object"]);
  assert.equal(problems({ revision: "Canary_1" }).length, 1);
});

Deno.test("a tag that is the revision, or default, and another revision's proxies sent to a fixed server are refused", () => {
  assert.match(problems({}, { revision: "canary", tags: ["canary"] })[0]!, /^tags: got "canary"/);
  assert.match(problems({}, { tags: ["default"] })[0]!, /^tags: got "default"/);
  const meshConfig = { defaultConfig: { discoveryAddress: "meshd.mesh-system.svc:15012" } };
  assert.match(problems({ meshConfig }, { revision: "canary" })[0]!, /discoveryAddress: got .* expected none/);
  assert.deepEqual(problems({ meshConfig }), []);
  assert.throws(() => defaultValues({ revision: "-" }), /revision: got "-"/);
});
