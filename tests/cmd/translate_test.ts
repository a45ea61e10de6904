/** The command `translate` as a process: output and exit codes. */
import assert from "node:assert/strict";
// @ts-types="npm:@types/js-yaml@4.0.9"
import { load } from "js-yaml";
import { pilotDiscovery } from "./offline.ts";

const SHOP = new URL("../../examples/shop", import.meta.url).pathname;
const shop = Object.fromEntries(
  ["services", "routes", "versions"].map((
    name,
  ) => [`mesh/${name}.yaml`, Deno.readTextFileSync(`${SHOP}/${name}.yaml`)]),
);

Deno.test("resources are the same as YAML and as JSON, from a folder and from standard input", async () => {
  const [yaml, json] = await Promise.all([
    pilotDiscovery(["translate", "mesh", "--node", "shop/cart", "--type", "cds,eds"], { files: shop }),
    pilotDiscovery(["translate", "-", "--node", "cart.shop", "--type=eds,cds", "-o", "json"], {
      stdin: Object.values(shop).join("\n---\n"),
    }),
  ]);
  assert.deepEqual([yaml.code, yaml.err, json.code, json.err], [0, "", 0, ""]);
  const resources = load(yaml.out) as { clusters: { name: string }[] };
  assert.deepEqual(Object.keys(resources), ["clusters", "endpoints"]);
  assert.deepEqual(JSON.parse(json.out), resources);
  assert.ok(resources.clusters.some(({ name }) => name === "outbound|80|v2|reviews.shop.svc.cluster.local"));
});

Deno.test("mistakes in the files are reported on standard error, and the rest is translated", async () => {
  const files = {
    ...shop,
    "mesh/bad.yaml": shop["mesh/routes.yaml"]!.replace("name: reviews,", "name: other,").replace("90", "many"),
  };
  const { code, out, err } = await pilotDiscovery(["translate", "mesh", "--node", "shop/cart"], { files });
  assert.equal(code, 0);
  assert.match(
    err,
    /^error: mesh\/bad\.yaml:\d+ VirtualService shop\/other: spec\.http\[1\]\.route\[0\]\.weight: "many", expected/,
  );
  assert.ok(out.includes("outbound|80|v1|reviews"));
});

Deno.test("the command ends with 2 and one line with the reason if it cannot run", async () => {
  const cases: [string[], RegExp][] = [
    [["nowhere", "--node", "a/b"], /^Error: nowhere: no such file or folder\n$/],
    [["mesh", "--node", "shop/crat"], /^Error: flag --node: no workload shop\/crat; did you mean shop\/cart\?\n$/],
    [["mesh"], /^Error: flag --node: got "", expected namespace\/name/],
    [
      ["mesh", "--node", "shop/cart", "--output", "xml"],
      /^Error: .* flag -o, --output: got "xml", expected one of json, yaml, bootstrap\n$|--output/,
    ],
    [
      ["mesh", "--node", "shop/cart", "--metadata", "[1]"],
      /^Error: flag --metadata: got "\[1\]", expected a JSON object\n$/,
    ],
    [
      ["mesh", "--node", "shop/cart", "--meshConfig", "no.yaml"],
      /^Error: flag --meshConfig: no\.yaml: no such file\n$/,
    ],
  ];
  await Promise.all(cases.map(async ([args, message]) => {
    const { code, out, err } = await pilotDiscovery(["translate", ...args], { files: shop });
    assert.deepEqual({ args, code, out }, { args, code: 2, out: "" });
    assert.match(err, message);
  }));
});
