/** A group's derivation repeats only the parts that a change touches, and follows members of other groups. */
import assert from "node:assert/strict";
import type { Derivation, DerivationInput } from "../../../lib/config/derive/derivation.ts";
import { DerivationEngine } from "../../../lib/config/derive/engine.ts";
import { FactStore } from "../../../lib/config/facts/store.ts";
import type { AnyFact } from "../../../lib/config/facts/types.ts";
import { defaultMeshConfig } from "../../../lib/config/mesh/merge.ts";
import { parseObject } from "../../../lib/config/object.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import { type ConfigObject, UNDATED } from "../../../lib/config/types.ts";
import { inFile } from "../origins.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** One rule a location: its connections are the sum of all caps of the entries there, times the namespace's factor. */
function sums(log: string[], learned: Map<string, unknown>): Derivation {
  const capOf = (input: DerivationInput) => Number(input.meta.labels["example.com/cap"] ?? 0);
  return {
    name: "sums",
    from: ["ServiceEntry"],
    derive: () => [],
    shared: {
      groupsOf: (input) => [input.meta.labels["example.com/group"] ?? "none"],
      derive(group, members, read) {
        log.push(group);
        const linked = read.members(`${group}-linked`);
        const parts = [...members, ...linked].map((member) =>
          read.part(member.key, [member], (reader) => {
            log.push(member.key);
            const factor = reader.fact("Namespace", "", member.meta.name)?.meta.annotations["example.com/factor"];
            if (factor === "bad") throw new Error("no number");
            return capOf(member) * Number(factor ?? 1);
          })
        );
        const maxConnections = parts.reduce((sum, part) => sum + part, 0);
        const spec = { host: `${group}.example.com`, trafficPolicy: { connectionPool: { tcp: { maxConnections } } } };
        const { namespace } = members[0]!.meta;
        return { objects: [{ kind: "DestinationRule", meta: { name: group, namespace }, spec }], about: parts };
      },
      learned: (group, about) => void (about === undefined ? learned.delete(group) : learned.set(group, about)),
    },
  };
}

function world() {
  const store = new ConfigStore();
  const facts = new FactStore();
  const folder = store.addSource("folder", 0);
  const api = facts.addSource("api", 0);
  const log: string[] = [];
  const learned = new Map<string, unknown>();
  new DerivationEngine(sums(log, learned), {
    store,
    facts,
    mesh: defaultMeshConfig({ systemNamespace: "mesh-system" }),
    target: store.addSource("sums", 100),
    onFindings: () => {},
  });
  return {
    learned,
    put: (...upserted: readonly ConfigObject[]) => folder.apply({ upserted, removed: [] }),
    remove: (key: string) => folder.apply({ upserted: [], removed: [key] }),
    fact: (fact: AnyFact) => api.apply({ upserted: [fact], removed: [] }),
    derived: () => log.splice(0),
    rules: () =>
      store.list("DestinationRule").map(({ spec }) => [
        spec.host,
        spec.trafficPolicy?.connectionPool?.tcp?.maxConnections,
      ]),
  };
}

function entry(name: string, group: string, cap: string): ConfigObject {
  const labels = { "example.com/group": group, "example.com/cap": cap };
  const spec = {
    hosts: [`${name}.x.com`],
    resolution: "NONE",
    ports: [{ number: 80, name: "http", protocol: "HTTP" }],
  };
  const metadata = { name, namespace: "x", labels, annotations: { "mesh.io/version": cap } };
  const tree = { apiVersion: "networking.mesh.io/v1", kind: "ServiceEntry", metadata, spec };
  const { object } = parseObject(tree, inFile("a.yaml"), { defaultNamespace: "default" });
  assert.ok(object !== undefined);
  return object;
}

const factor = (name: string, value: string): AnyFact => ({
  kind: "Namespace",
  key: `Namespace//${name}`,
  meta: { name, namespace: "", labels: {}, annotations: { "example.com/factor": value }, creationTimestamp: UNDATED },
  spec: {},
  origin: { from: "api", source: "api", uid: name },
  hash: value,
});

test("an edit of one member builds that member's part, and no other part", () => {
  const { put, derived, rules } = world();
  put(entry("a", "g", "1"), entry("b", "g", "2"));
  assert.deepEqual(derived(), ["g", "ServiceEntry/x/a", "ServiceEntry/x/b"]);
  put(entry("b", "g", "5"));
  assert.deepEqual([derived(), rules()], [["g", "ServiceEntry/x/b"], [["g.example.com", 6]]]);
  put(entry("b", "g", "2"));
  assert.deepEqual([derived(), rules()], [["g", "ServiceEntry/x/b"], [["g.example.com", 3]]]);
});

test("a fact that one part read builds that part again", () => {
  const { put, fact, derived, rules } = world();
  put(entry("a", "g", "1"), entry("b", "g", "2"));
  derived();
  fact(factor("a", "10"));
  assert.deepEqual([derived(), rules()], [["g", "ServiceEntry/x/a"], [["g.example.com", 12]]]);
});

test("members of another group that the derivation read are followed, from none to some and back", () => {
  const { put, remove, derived, rules } = world();
  put(entry("a", "g", "1"));
  derived();
  put(entry("c", "g-linked", "7"));
  assert.deepEqual(rules().find(([host]) => host === "g.example.com"), ["g.example.com", 8]);
  assert.deepEqual(derived().filter((one) => one === "ServiceEntry/x/a"), []);
  remove("ServiceEntry/x/c");
  assert.deepEqual(rules(), [["g.example.com", 1]]);
});

test("a part that throws keeps the group's objects, and the group follows again when the part works", () => {
  const { put, fact, rules } = world();
  put(entry("a", "g", "1"));
  fact(factor("a", "bad"));
  assert.deepEqual(rules(), [["g.example.com", 1]]);
  fact(factor("a", "3"));
  assert.deepEqual(rules(), [["g.example.com", 3]]);
});

test("the finding about a group is told after each run, and ends with the group", () => {
  const { put, remove, learned } = world();
  put(entry("a", "g", "1"), entry("b", "g", "2"));
  assert.deepEqual([...learned], [["g", [1, 2]]]);
  remove("ServiceEntry/x/a");
  assert.deepEqual([...learned], [["g", [2]]]);
  remove("ServiceEntry/x/b");
  assert.deepEqual([...learned], []);
});
