/** Helm makes of the charts the objects that `lib/install/` makes of the same values. */
import assert from "node:assert/strict";
import { parse } from "yaml";
import { runTool, toolTests } from "./support/tools.ts";
import {
  CASES,
  type ChartCase,
  definitionsOf,
  expectedObjects,
  type ManifestObject,
  objectsOf,
} from "./support/cases.ts";

const test = toolTests("helm");
const CHARTS = new URL("../../charts/", import.meta.url).pathname;

async function rendered({ chart, namespace = "mesh-system", values }: ChartCase): Promise<readonly ManifestObject[]> {
  const args = ["template", "release", `${CHARTS}${chart}`, "--namespace", namespace, "--values", "-"];
  return objectsOf(await runTool("helm", args, JSON.stringify(values)));
}

/** Objects by their identity. Config maps hold YAML as text, whose order of fields does not count. */
function byIdentity(objects: readonly ManifestObject[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    objects.map((object) => {
      const { kind, metadata: { namespace = "", name }, data } = object;
      const read = data && Object.fromEntries(Object.entries(data).map(([key, text]) => [key, parse(text)]));
      return [`${kind} ${namespace}/${name}`, read ? { ...object, data: read } : object];
    }).sort(),
  );
}

for (const chart of ["mesh", "mesh-tags", "mesh-gateways"]) {
  test(`the chart ${chart} makes the objects of the source, for ${CASES.filter((c) => c.chart === chart).length} sets of values`, async () => {
    for (const one of CASES.filter((one) => one.chart === chart)) {
      const expected = expectedObjects(one);
      assert.ok(expected.length > 0 || one.isEmpty, one.name);
      assert.deepEqual(byIdentity(await rendered(one)), byIdentity(expected), one.name);
    }
  });
}

test("the chart has all definitions of the kinds, and each stays when the release is uninstalled", async () => {
  const objects = await rendered({ name: "definitions", chart: "mesh-definitions", values: {} });
  assert.deepEqual(byIdentity(objects), byIdentity(definitionsOf({ "helm.sh/resource-policy": "keep" })));
});

const REFUSED: Readonly<Record<string, readonly [chart: string, values: unknown, complaint: RegExp]>> = {
  "a text for a number": ["mesh", { meshd: { replicas: "two" } }, /\/meshd\/replicas.*got string, want integer/],
  "a number out of range": ["mesh", { meshd: { targetCpu: 101 } }, /\/meshd\/targetCpu.*maximum/],
  "a misspelt value": ["mesh", { meshd: { replica: 3 } }, /'replica' not allowed/],
  "a value of another chart": ["mesh", { gateways: [] }, /'gateways' not allowed/],
  "a name in capitals": ["mesh", { revision: "Canary" }, /\/revision.*does not match pattern/],
  "a value without content": ["mesh", { meshd: { resources: null } }, /\/meshd.*missing property 'resources'/],
  "a misspelt value of a gateway": ["mesh-gateways", { gateways: [{ nam: "x" }] }, /'nam' not allowed/],
  "a tag that is the revision": ["mesh-tags", { revision: "canary", tags: ["canary"] }, /tags: expected names/],
  "a revision whose name is a lock's": ["mesh", { revision: "leader" }, /revision: expected a name that no object/],
  "a revision whose name ends as a lock's": ["mesh", { revision: "my-election" }, /revision: expected a name/],
  "a tag of a reserved revision": ["mesh-tags", { revision: "tag-a", tags: ["a"] }, /revision: expected a name/],
  "a fixed server for the proxies of a revision": [
    "mesh",
    { revision: "canary", meshConfig: { defaultConfig: { discoveryAddress: "x:15012" } } },
    /meshConfig\.defaultConfig\.discoveryAddress: expected none/,
  ],
  "a type of service that does not exist": [
    "mesh-gateways",
    { gateways: [{ serviceType: "Ingress" }] },
    /\/gateways\/0\/serviceType/,
  ],
};

for (const [what, [chart, values, complaint]] of Object.entries(REFUSED)) {
  test(`Helm refuses ${what}, and names the value`, async () => {
    await assert.rejects(rendered({ name: what, chart, values: values as ChartCase["values"] }), complaint);
  });
}

test("Helm's linter has no complaint about the charts", async () => {
  for (const chart of ["mesh-definitions", "mesh", "mesh-tags", "mesh-gateways"]) {
    assert.match(
      await runTool("helm", ["lint", "--strict", `${CHARTS}${chart}`]),
      /1 chart\(s\) linted, 0 chart\(s\) failed/,
    );
  }
});
