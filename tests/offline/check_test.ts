/** Checks of texts: findings and their places, known findings, and the forms of the report. */
import assert from "node:assert/strict";
import type { Finding } from "../../lib/finding/finding.ts";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { checkMesh } from "../../lib/offline/check/check.ts";
import { excerptOf, FileExcerpts, SourceLines } from "../../lib/finding/excerpt.ts";
import { baselineOf, readBaseline, readSuppressions, splitBy, UnreadableKnown } from "../../lib/offline/check/known.ts";
import { sarifLog } from "../../lib/offline/check/sarif.ts";
import { sarifForm } from "./sarif_form.ts";
import { encodedTables } from "../../lib/offline/proxy_resources.ts";
import { proxiesOf } from "../../lib/offline/workloads.ts";
import { resourcesIn } from "../../lib/simulate/decoded.ts";
import { inFile } from "../config/origins.ts";
import { example, meshOf } from "./mesh_of.ts";

const shop = example("shop");

function check(files: Record<string, string>, assumeServices = false) {
  return unpaced(checkMesh(meshOf(files), { assumeServices, textOf: (file) => files[file] }));
}

/** The shop with a route to a missing subset. */
const v9 = { ...shop, "routes.yaml": shop["routes.yaml"]!.replace("subset: v1 }", "subset: v9 }") };

/** Where a finding points: file, line, the marked characters. */
function pointed(found: Finding, files: Record<string, string>): string {
  const { origin } = found.place;
  const file = origin?.from === "file" ? origin.file : "";
  const excerpt = excerptOf(found, new SourceLines(files[file]!));
  return excerpt === undefined
    ? `${file}:${found.place.line}`
    : `${file}:${excerpt.line} ${excerpt.text.substr(excerpt.column - 1, excerpt.length)}`;
}

for (const folder of ["shop", "tour", "first-steps/mesh", "istio-spelling", "ambient"]) {
  Deno.test(`examples/${folder} has no errors`, () => {
    assert.deepEqual(check(example(folder)).findings.filter(({ severity }) => severity === "error"), []);
  });
}

Deno.test("a subset that does not exist is one error, at the value in its line", () => {
  const { findings, objects } = check(v9);
  assert.deepEqual(findings.map((one) => [one.code, one.name, pointed(one, v9)]), [
    [
      "MSH0101",
      "unknown-subset",
      `routes.yaml:${v9["routes.yaml"]!.split("\n").findIndex((text) => text.includes("v9")) + 1} v9`,
    ],
  ]);
  assert.equal(objects, 6);
});

Deno.test("refused objects, objects written twice and manifests are counted; objects of other kinds are passed over", () => {
  const files = {
    ...shop,
    "refused.yaml": shop["routes.yaml"]!.replace("weight: 90", "weight: many").replaceAll(
      "name: reviews",
      "name: other",
    ),
    "twice.yaml": shop["versions.yaml"]!,
    "manifests.yaml": `apiVersion: v1
kind: Service
metadata: { name: front, namespace: shop }
spec: { ports: [{ port: 80 }] }
---
apiVersion: v1
kind: Service
metadata: { name: front, namespace: shop }
spec: { ports: [{ port: many }] }
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: front, namespace: shop }
`,
  };
  const { objects, manifests, passedOver } = check(files);
  assert.deepEqual({ objects, manifests, passedOver }, { objects: 8, manifests: 2, passedOver: 1 });
});

Deno.test("the resources of every proxy are built, however many workloads exist", () => {
  const entry = (at: number) =>
    `apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: w${at}, namespace: shop }
spec: { address: 10.1.${at >> 8}.${at & 255} }`;
  const mesh = meshOf({ ...shop, "more.yaml": Array.from({ length: 300 }, (_, at) => entry(at)).join("\n---\n") });
  const { proxies } = unpaced(checkMesh(mesh, { assumeServices: false, textOf: () => undefined }));
  assert.deepEqual([proxies, mesh.pipeline.translator.counts.proxies], [303, 303]);
});

Deno.test("findings of reading, analysis and proxies form one list by file and line, each finding once", () => {
  const entry = (name: string) =>
    `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: shop }
spec:
  hosts: [${name}.example]
  resolution: STATIC
  ports: [{ number: 9000, name: raw, protocol: TCP }]
  endpoints: [{ address: 10.9.0.1 }]`;
  const files = {
    ...v9,
    "a.yaml": `${entry("first")}\n---\n${entry("second")}`,
    "z.yaml": "kind: VirtualService\nmetadata: {}\n",
  };
  const names = check(files).findings.map(({ name, place: { origin } }) =>
    `${origin?.from === "file" ? origin.file : ""} ${name}`
  );
  assert.ok(names.includes("routes.yaml unknown-subset"), names.join("\n"));
  assert.ok(names.some((name) => name.startsWith("z.yaml")), names.join("\n"));
  assert.ok(names.some((name) => name.includes("listener-conflict")), names.join("\n"));
  assert.deepEqual(names.map((name) => name.split(" ")[0]!), names.map((name) => name.split(" ")[0]!).sort());
});

Deno.test("if two service ports share a port of a workload, the first one is served, and a finding names the other one", () => {
  const text = (first: string, second: string) =>
    `apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: cart, namespace: shop }
spec: { address: 10.9.0.1, labels: { app: cart } }
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: cart, namespace: shop }
spec:
  hosts: [cart.test]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [${first}, ${second}]
  workloadSelector: { labels: { app: cart } }
`;
  const port = (number: number, protocol: string) =>
    `{ number: ${number}, name: ${protocol.toLowerCase()}, protocol: ${protocol}, targetPort: 9090 }`;
  const found = (file: string) =>
    check({ "cart.yaml": file }).findings.filter(({ name }) => name === "inbound-conflict").map(({ message }) =>
      message
    );
  assert.deepEqual(found(text(port(90, "HTTP"), port(80, "TCP"))), [
    "inbound port 9090: port 90 of cart.test has the port, so port 80 is not served there",
  ]);
  assert.deepEqual(found(text(port(80, "TCP"), port(90, "HTTP"))), [
    "inbound port 9090: port 80 of cart.test has the port, so port 90 is not served there",
  ]);
  const mesh = meshOf({ "cart.yaml": text(port(90, "HTTP"), port(80, "TCP")) });
  const [{ node }] = proxiesOf(mesh).proxies.filter(({ node }) => node.id.startsWith("sidecar~10.9.0.1~")) as [
    ReturnType<typeof proxiesOf>["proxies"][number],
  ];
  const { listeners } = resourcesIn(encodedTables(mesh.join(node)));
  const chains = (listeners.get("virtualInbound")?.filter_chains ?? [])
    .filter(({ filter_chain_match: match }) => match?.destination_port?.value === 9090);
  const ends = new Set(chains.map(({ filters = [] }) => filters.at(-1)?.name));
  assert.deepEqual(ends, new Set(["envoy.filters.network.http_connection_manager"]));
});

Deno.test("hosts of the orchestrator count as existing only on request", () => {
  const files = {
    "a.yaml": `apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: a, namespace: shop }
spec: { hosts: [front.shop.svc.cluster.local], http: [{ route: [{ destination: { host: back.shop.svc.cluster.local } }] }] }`,
  };
  const hosts = (assume: boolean) => check(files, assume).findings.filter(({ name }) => name === "unknown-host").length;
  assert.ok(hosts(false) > 0);
  assert.equal(hosts(true), 0);
});

Deno.test("an excerpt marks the value, else the key, in YAML of both styles and in JSON", () => {
  const marked = (line: string, field: string, value: string) => {
    const found = { place: { objects: [], field, line: 1 }, value } as unknown as Finding;
    const excerpt = excerptOf(found, new SourceLines(line));
    return excerpt && [...line].slice(excerpt.column - 1, excerpt.column - 1 + excerpt.length).join("");
  };
  assert.equal(marked("      subset: v9", "spec.http[0].route[0].destination.subset", '"v9"'), "v9");
  assert.equal(marked("  - { host: v9, subset: v9 }", "spec.x.subset", '"v9"'), "v9");
  assert.equal(marked('  "weight": 12,', "spec.weight", "12"), "12");
  assert.equal(marked("  timeout:", "spec.timeout", '{"a":1}'), "timeout");
  assert.equal(marked("  hosts: [ä, dor]", "spec.hosts[1]", '"dor"'), "dor");
  assert.equal(marked("  something: else", "spec.missing", ""), "something: else");
  assert.equal(marked("  kind: X", "", ""), undefined);
});

Deno.test("excerpts of many findings read and split their file once", () => {
  let [reads, splits] = [0, 0];
  const whole = "a: 1\n  subset: v9\n";
  const split = (by: RegExp) => {
    splits++;
    return whole.split(by);
  };
  const excerpts = new FileExcerpts(() => {
    reads++;
    return { split, toString: () => whole } as unknown as string;
  });
  for (const line of [2, 2, 1, 2]) {
    const place = { objects: [], field: "spec.subset", line, origin: inFile("a.yaml") };
    assert.ok(excerpts.of({ place, value: '"v9"' } as unknown as Finding) !== undefined);
  }
  assert.deepEqual([reads, splits], [1, 1]);
});

Deno.test("a baseline recognizes findings that moved, and counts its findings that are gone", () => {
  const { findings } = check(v9);
  const baseline = readBaseline(JSON.stringify(baselineOf(findings)));
  const moved = { ...v9, "routes.yaml": `# one line more\n${v9["routes.yaml"]}` };
  assert.deepEqual(splitBy(baseline, check(moved).findings), { fresh: [], known: check(moved).findings, gone: 0 });
  const other = { ...v9, "routes.yaml": v9["routes.yaml"]!.replace("v9", "v8") };
  const split = splitBy(baseline, check(other).findings);
  assert.deepEqual([split.fresh.map(({ value }) => value), split.gone], [['"v8"'], 1]);
  assert.throws(() => readBaseline("{}"), UnreadableKnown);
  assert.throws(() => readBaseline("not json"), /the file is not JSON/);
});

Deno.test("suppressions take either spelling of a code, and objects by a pattern", () => {
  const [found] = check(v9).findings;
  const suppressed = (...texts: string[]) => readSuppressions(texts)(found!);
  for (
    const text of [
      "MSH0101",
      "ist0101",
      "IST0101=VirtualService/shop/*",
      "MSH0101=VirtualService shop/reviews",
      "MSH0101=vs/shop/*",
      "MSH0101=VIRTUALSERVICES/shop/*",
      "MSH0101=*",
    ]
  ) {
    assert.equal(suppressed(text), true, text);
  }
  for (const text of ["MSH0102", "MSH0101=Gateway/*", "MSH0101=VirtualService/shop/rev"]) {
    assert.equal(suppressed(text), false, text);
  }
  assert.throws(() => readSuppressions(["IST1", "what", "MSH0101="]), /got "IST1", "what", "MSH0101="/);
});

Deno.test("SARIF has the form of version 2.1.0: rules that results refer to, regions, relative URIs", () => {
  const files = Object.fromEntries(Object.entries(v9).map(([name, text]) => [`my mesh/${name}`, text]));
  const { findings } = check(files);
  const located = findings.map((found) => {
    const { origin } = found.place;
    return {
      found,
      excerpt: excerptOf(found, origin?.from === "file" ? new SourceLines(files[origin.file]!) : undefined),
    };
  });
  const log = sarifForm.parse(JSON.parse(JSON.stringify(sarifLog(located, "0.1.0"))));
  const [run] = log.runs;
  const [result] = run!.results;
  assert.equal(run!.tool.driver.rules[result!.ruleIndex]!.id, result!.ruleId);
  const { artifactLocation, region } = result!.locations[0]!.physicalLocation!;
  assert.equal(artifactLocation.uri, "my%20mesh/routes.yaml");
  assert.equal(region!.endColumn! - region!.startColumn!, "v9".length);
  assert.deepEqual(sarifForm.parse(JSON.parse(JSON.stringify(sarifLog([], "0.1.0")))).runs[0]!.results, []);
});

Deno.test("SARIF of every code with an example has that form, and its results refer to the rules of their codes", () => {
  const root = new URL("../testdata/findings/", import.meta.url);
  // Each example is a separate mesh: together one mistake may hide another.
  const located = [...Deno.readDirSync(root)].flatMap(({ name }) => {
    const files = { "triggers.yaml": Deno.readTextFileSync(new URL(`${name}/triggers.yaml`, root)) };
    return check(files).findings.map((found) => ({
      found,
      excerpt: excerptOf(found, new SourceLines(files["triggers.yaml"])),
    }));
  });
  const [run] = sarifForm.parse(JSON.parse(JSON.stringify(sarifLog(located, "0.1.0")))).runs;
  assert.ok(run!.tool.driver.rules.length > 50, `${run!.tool.driver.rules.length} rules`);
  for (const { ruleId, ruleIndex, locations } of run!.results) {
    assert.equal(run!.tool.driver.rules[ruleIndex]!.id, ruleId);
    for (const { physicalLocation, logicalLocations = [] } of locations) {
      assert.ok(physicalLocation !== undefined || logicalLocations.length > 0, ruleId);
      const { startColumn = 1, endColumn = startColumn } = physicalLocation?.region ?? {};
      assert.ok(endColumn >= startColumn, ruleId);
    }
  }
});

Deno.test("the line of a finding about a secret is not shown", () => {
  const files = {
    "a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: { name: a }\ndata: { password: hunter2! }\n",
    "b.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {\ndata: { password: hunter2: x }\n",
  };
  const { findings } = check(files);
  assert.equal(findings.length, 2);
  for (const found of findings) {
    const { origin } = found.place;
    assert.ok(origin?.from === "file" && found.place.line > 0);
    assert.equal(excerptOf(found, new SourceLines(files[origin.file as keyof typeof files])), undefined);
  }
});
