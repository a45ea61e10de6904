/**
 * Findings are true: random meshes follow each claim. A part without effect is removed, and no proxy notices. An
 * unserved destination is sought in the routes. An open service has no authority. The winner of a place is removed, and
 * the loser gets the place.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { parseAllDocuments } from "yaml";
import { FINDING_NAMES, type FindingName } from "../../lib/finding/codes.ts";
import type { Finding } from "../../lib/finding/finding.ts";
import { parseObject } from "../../lib/config/object.ts";
import { inFile } from "../config/origins.ts";
import { tree } from "../discovery/random_trees.ts";
import { followed } from "./support/followed.ts";
import { proofWorld, type WrittenDocument } from "./support/proof_world.ts";
import { PROOFS } from "./support/proofs.ts";
import { runs, seedOr } from "../properties.ts";

/** Random meshes of each sort. */
const RUNS = runs(4);
const SEED = seedOr(20264);

const isValid = (written: WrittenDocument) =>
  parseObject(written, inFile("x"), { defaultNamespace: "default" }).object !== undefined;
const neighbours = fc.array(tree.map((one) => one as unknown as WrittenDocument).filter(isValid), {
  maxLength: 10,
  size: "max",
});

/** Conflicts outside of the reference's examples: two objects of which one loses a listener, or a subset. */
const CONFLICTS: Readonly<Partial<Record<FindingName, readonly WrittenDocument[]>>> = {
  "listener-conflict": [entry("first", "first.test", "MYSQL", 9306), entry("second", "second.test", "TCP", 9306)],
  "duplicate-subset": [entry("first", "first.test", "HTTP", 80), subsetRule("a", "v1"), subsetRule("b", "v2")],
  "tcp-listener-conflict": [entry("first", "first.test", "TCP", 9306), entry("second", "second.test", "TCP", 9306)],
};

function subsetRule(name: string, version: string): WrittenDocument {
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "DestinationRule",
    metadata: {
      name,
      namespace: "shop",
      creationTimestamp: `2020-01-0${version.length + name.charCodeAt(0) - 96}T00:00:00Z`,
    },
    spec: { host: "first.test", subsets: [{ name: "one", labels: { version } }] },
  };
}

function entry(name: string, host: string, protocol: string, number: number): WrittenDocument {
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name, namespace: "shop", creationTimestamp: `202${name.length % 5}-01-01T00:00:00Z` },
    spec: {
      hosts: [host],
      location: "MESH_INTERNAL",
      resolution: "STATIC",
      ports: [{ number, name: "port", protocol }],
      endpoints: [{ address: `10.3.0.${name.length}`, labels: { app: name } }],
    },
  };
}

/** The trigger of a finding: its example of the reference, or the conflict above. */
function examples(name: FindingName): readonly WrittenDocument[] {
  const written = CONFLICTS[name];
  if (written !== undefined) return written;
  const file = new URL(`../testdata/findings/${name}/triggers.yaml`, import.meta.url);
  try {
    return parseAllDocuments(Deno.readTextFileSync(file)).map((one) => one.toJS() as WrittenDocument)
      .filter((one) => typeof one === "object" && one !== null);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function* worldsOf(name: FindingName) {
  const example = examples(name);
  for (const [at, others] of fc.sample(neighbours, { numRuns: RUNS, seed: SEED }).entries()) {
    const byKey = new Map<string, WrittenDocument>();
    // The example alone is a world, too.
    for (const one of [...example, ...at === 0 ? [] : others]) {
      const { namespace, name } = one["metadata"] as Record<string, string>;
      byKey.set(`${one["kind"]}/${namespace}/${name}`, one);
    }
    yield proofWorld([...byKey.values()]);
  }
}

const FOLLOWED = FINDING_NAMES.filter((name) => PROOFS[name].by !== "test");

for (const name of FOLLOWED) {
  Deno.test(`${name} is true (proof by ${PROOFS[name].by})`, () => {
    let count = 0;
    for (const world of worldsOf(name)) {
      const found = world.findings.filter((one: Finding) => one.name === name).slice(0, 4);
      for (const one of found) {
        const verdict = followed(PROOFS[name], one, world);
        if (verdict === "not mechanical") continue;
        count++;
        assert.equal(verdict, undefined, `${one.message}\n${JSON.stringify(world.documents)}`);
      }
    }
    assert.ok(count > 0, `no finding ${name} was followed`);
  });
}

Deno.test("selects-nothing is true of labels that only a Gateway's unknown workloads have", () => {
  const labels = { app: "gw" };
  const of = (apiVersion: string, kind: string, spec: object) => ({
    ...{ apiVersion, kind, metadata: { name: kind.toLowerCase(), namespace: "shop" }, spec },
  });
  const template = { metadata: { labels: { app: "cart" } }, spec: { containers: [{ name: "main", image: "main" }] } };
  const value = {
    name: "lua",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
      inline_code: "x",
    },
  };
  const world = proofWorld([
    of("apps/v1", "Deployment", { selector: { matchLabels: { app: "cart" } }, template }),
    of("networking.mesh.io/v1", "Gateway", {
      selector: labels,
      servers: [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["first.test"] }],
    }),
    of("networking.mesh.io/v1alpha3", "ProxyFilter", {
      workloadSelector: { labels },
      configPatches: [{ applyTo: "EXTENSION_CONFIG", patch: { operation: "ADD", value } }],
    }),
  ]);
  const ofFilter = world.findings.filter(({ name, place }) =>
    name === "selects-nothing" && place.objects[0]?.kind === "ProxyFilter"
  );
  assert.deepEqual(ofFilter.map((one) => followed(PROOFS["selects-nothing"], one, world)), [undefined]);
});

Deno.test("unknown-import is true of a Sidecar's only import, without which the Sidecar still imports nothing", () => {
  const world = proofWorld([
    entry("first", "first.test", "HTTP", 80),
    {
      ...{ apiVersion: "networking.mesh.io/v1", kind: "Sidecar", metadata: { name: "default", namespace: "shop" } },
      spec: { egress: [{ hosts: ["gone/gone.test"] }] },
    },
  ]);
  const verdicts = world.findings.filter(({ name }) => name === "unknown-import")
    .map((one) => followed(PROOFS["unknown-import"], one, world));
  assert.deepEqual(verdicts, [undefined]);
});

Deno.test("selects-nothing is true of a Telemetry with metrics, without which a mesh stops exchanging headers", () => {
  const world = proofWorld([...examples("selects-nothing"), {
    ...{ apiVersion: "telemetry.mesh.io/v1", kind: "Telemetry", metadata: { name: "measuring", namespace: "shop" } },
    spec: {
      targetRefs: [{ group: "networking.mesh.io", kind: "ServiceEntry", name: "one" }],
      metrics: [{ providers: [{ name: "gone" }] }],
    },
  }]);
  const verdicts = world.findings
    .filter(({ name, place }) => name === "selects-nothing" && place.objects[0]?.kind === "Telemetry")
    .map((one) => followed(PROOFS["selects-nothing"], one, world));
  assert.deepEqual(verdicts, [undefined]);
});

Deno.test("policy-without-workload is true of a namespace of which no text names a workload", () => {
  const world = proofWorld([...examples("policy-without-workload"), {
    ...{
      apiVersion: "security.mesh.io/v1",
      kind: "AuthorizationPolicy",
      metadata: { name: "empty", namespace: "empty" },
    },
    spec: {},
  }]);
  const verdicts = world.findings
    .filter(({ name, place }) => name === "policy-without-workload" && place.objects[0]?.name === "empty")
    .map((one) => followed(PROOFS["policy-without-workload"], one, world));
  assert.deepEqual(verdicts, [undefined]);
});

Deno.test("each finding has a proof, and the tests named as proofs exist", () => {
  assert.deepEqual(Object.keys(PROOFS).sort(), [...FINDING_NAMES].sort());
  for (const [name, proof] of Object.entries(PROOFS)) {
    if (proof.by !== "test") continue;
    const text = Deno.readTextFileSync(new URL(`../../${proof.file}`, import.meta.url));
    const names = text.split("\n").filter((line) => /\btest\(|\bname: /.test(line));
    assert.ok(names.some((one) => one.includes(proof.name)), `${name}: no test of ${proof.file} has the name`);
  }
});
