/** The command `check` as a process: exit codes, several inputs for one mesh, forms of output, known findings. */
import assert from "node:assert/strict";
import { pilotDiscovery } from "./offline.ts";

const SHOP = new URL("../../examples/shop", import.meta.url).pathname;
const text = (name: string) => Deno.readTextFileSync(`${SHOP}/${name}.yaml`);
const bad = text("routes").replace("subset: v1 }", "subset: v9 }");
const files = { "mesh/services.yaml": text("services"), "mesh/versions.yaml": text("versions") };

Deno.test("the exit code is 0 for clean input, from folder, files and standard input as one mesh", async () => {
  const ends = await Promise.all([
    pilotDiscovery(["check", SHOP]),
    pilotDiscovery(["check", "mesh", "-"], { files, stdin: text("routes") }),
    pilotDiscovery(["check"], { files: { ...files, "routes.yml": text("routes") } }),
  ]);
  for (const { code, out, err } of ends) {
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, /^6 objects, 0 errors, 0 warnings, \d+\.\d s\n$/);
  }
});

Deno.test("1 for an error, told with its line, its value, what would be right, effect and fix", async () => {
  const { code, out, err } = await pilotDiscovery(["check", "mesh", "-"], { files, stdin: bad });
  assert.deepEqual([code, err], [1, ""]);
  const line = bad.split("\n").findIndex((one) => one.includes("v9")) + 1;
  const [source] = bad.split("\n").slice(line - 1);
  const column = source!.indexOf("v9") + 1;
  const expected = [
    "error MSH0101 (IST0101)  subset does not exist",
    `  stdin:${line}:${column}  VirtualService shop/reviews`,
    `${line} | ${source}`,
    `${" ".repeat(String(line).length)} | ${" ".repeat(column - 1)}^^`,
    "expected v1 or v2 (DestinationRule shop/reviews, mesh/versions.yaml:2)",
  ];
  assert.deepEqual(out.split("\n").slice(0, 5), expected);
  assert.match(out, /\neffect {3}.+\nfix {6}.+\n\n6 objects, 1 error, 0 warnings, \d+\.\d s\n$/);
});

const FILTER = `apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: { name: f, namespace: shop, annotations: { sidecar.istio.io/nonsense: x } }
spec: { configPatches: [] }
`;

Deno.test("an object stays what its author called it", async () => {
  const { out } = await pilotDiscovery(["check", "-"], { stdin: FILTER });
  assert.match(out, /stdin:3:\d+ {2}EnvoyFilter shop\/f\n/);
  assert.doesNotMatch(out, /ProxyFilter/);
});

Deno.test("--fail-on sets the severity that fails the command", async () => {
  const warned = `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: shop, annotations: { sidecar.istio.io/nonsense: x } }
spec: { hosts: [a.example.com], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: DNS }
`;
  const codes = await Promise.all(
    ["error", "warning", "info"].map(async (least) =>
      (await pilotDiscovery(["check", "-", "--fail-on", least], { stdin: warned })).code
    ),
  );
  assert.deepEqual(codes, [0, 1, 1]);
});

Deno.test("JSON and SARIF have the same findings, and the same exit code", async () => {
  const [json, sarif] = await Promise.all(
    ["json", "sarif"].map((form) => pilotDiscovery(["check", "mesh", "-", "-o", form], { files, stdin: bad })),
  );
  assert.deepEqual([json!.code, sarif!.code], [1, 1]);
  const { findings, summary } = JSON.parse(json!.out);
  assert.deepEqual([findings.length, findings[0].name, summary.objects, summary.error], [1, "unknown-subset", 6, 1]);
  const [run] = JSON.parse(sarif!.out).runs;
  assert.equal(run.results[0].locations[0].physicalLocation.artifactLocation.uri, "stdin");
});

Deno.test("a baseline and suppressions make known findings silent", async () => {
  const written = await pilotDiscovery(["check", "mesh", "-", "--write-baseline"], { files, stdin: bad });
  assert.equal(written.code, 0);
  const known = { ...files, "baseline.json": written.out };
  const [again, fixed, suppressed] = await Promise.all([
    pilotDiscovery(["check", "mesh", "-", "--baseline", "baseline.json"], { files: known, stdin: bad }),
    pilotDiscovery(["check", "mesh", "-", "--baseline", "baseline.json"], { files: known, stdin: text("routes") }),
    pilotDiscovery(["check", "mesh", "-", "-S", "IST0101=VirtualService shop/reviews"], { files, stdin: bad }),
  ]);
  assert.deepEqual([again!.code, fixed!.code, suppressed!.code], [0, 0, 0]);
  assert.match(again!.out, /^6 objects, 0 errors, 0 warnings, 1 in the baseline, /);
  assert.match(fixed!.out, /^6 objects, 0 errors, 0 warnings, 1 of the baseline gone, /);
  assert.match(suppressed!.out, /^6 objects, 0 errors, 0 warnings, 1 suppressed, /);
});

Deno.test("2, and lines that say why, when it could not run", async () => {
  const cases: [string[], RegExp][] = [
    [["nowhere", "neither"], /^Error: nowhere: no such file or folder\nneither: no such file or folder\n$/],
    [["--shout"], /^Error: .*unknown flag --shout/],
    [["mesh", "--fail-on", "fatal"], /--fail-on: got "fatal", expected one of error, warning, info/],
    [["mesh", "--suppress", "nonsense"], /^Error: flag --suppress: got "nonsense", expected a code/],
    [["mesh", "--baseline", "none.json"], /^Error: flag --baseline: none\.json: /],
  ];
  await Promise.all(cases.map(async ([args, message]) => {
    const { code, out, err } = await pilotDiscovery(["check", ...args], { files });
    assert.deepEqual({ args, code, out }, { args, code: 2, out: "" });
    assert.match(err, message);
  }));
});

Deno.test("a text that does not parse is reported with the reason, and a hostile name does not reach the terminal", async () => {
  const { code, out } = await pilotDiscovery(["check", "-"], {
    stdin:
      'apiVersion: networking.mesh.io/v1\nkind: Gateway\nmetadata: { name: "a\\u001b[2J" }\n---\na: 1\na: 2\nkind: x\n',
  });
  assert.equal(code, 1);
  assert.match(out, /\nerror MSH1001 {2}text does not parse\n[^]*\ndoes not parse: .*duplicate/);
  assert.ok(!out.includes("\x1b"));
});

Deno.test("colour is for terminals", async () => {
  const { out } = await pilotDiscovery(["check", "-"], { stdin: bad, env: { NO_COLOR: "" } });
  assert.ok(!out.includes("\x1b["));
});
