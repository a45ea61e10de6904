/** Derived objects follow their source and every object that they read, and nothing else is derived again. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Derivation } from "../../../lib/config/derive/derivation.ts";
import { DerivationEngine } from "../../../lib/config/derive/engine.ts";
import { FactStore } from "../../../lib/config/facts/store.ts";
import type { AnyFact } from "../../../lib/config/facts/types.ts";
import { type Finding, formatFinding } from "../../../lib/finding/finding.ts";
import { defaultMeshConfig } from "../../../lib/config/mesh/merge.ts";
import { parseObject } from "../../../lib/config/object.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import { type ConfigObject, UNDATED } from "../../../lib/config/types.ts";
import { inFile } from "../origins.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const LABEL = "example.com/cap";

/** A rule for each host of a labelled entry, with the connections allowed by the namespace's annotation. */
function caps(log: string[]): Derivation {
  return {
    name: "caps",
    from: ["ServiceEntry"],
    derive(input, read) {
      log.push(input.key);
      if (input.kind !== "ServiceEntry") return [];
      const cap = input.meta.labels[LABEL];
      if (cap === undefined) return [];
      const { namespace } = input.meta;
      const limit = read.fact("Namespace", "", namespace)?.meta.annotations["example.com/limit"];
      // A user's rule for the host takes precedence.
      const rules = read.objects("DestinationRule", namespace);
      return input.spec.hosts.filter((host) => !rules.some((rule) => rule.spec.host === host)).map((host) => {
        if (host === "bad.example.com") throw new Error("no cap for this one");
        const maxConnections = Number(limit ?? cap);
        const spec = { host, trafficPolicy: { connectionPool: { tcp: { maxConnections } } } };
        return { kind: "DestinationRule", meta: { name: `cap-${host}`, namespace }, spec };
      });
    },
  };
}

class World {
  readonly store = new ConfigStore();
  readonly facts = new FactStore();
  readonly folder = this.store.addSource("folder", 0);
  readonly api = this.facts.addSource("api", 0);
  readonly log: string[] = [];
  readonly findings: string[] = [];
  readonly engine: DerivationEngine;

  constructor(make: (world: World) => void = () => {}) {
    make(this);
    this.engine = new DerivationEngine(caps(this.log), {
      store: this.store,
      facts: this.facts,
      mesh: defaultMeshConfig({ systemNamespace: "mesh-system" }),
      target: this.store.addSource("caps", 100),
      onFindings: ({ appeared, resolved }) => {
        const text = (mark: string) => (found: Finding) => `${mark}${found.name}`;
        this.findings.push(...appeared.map(text("+")), ...resolved.map(text("-")));
      },
    });
  }

  put(...objects: readonly ConfigObject[]): void {
    this.folder.apply({ upserted: objects, removed: [] });
  }

  fact(...facts: readonly AnyFact[]): void {
    this.api.apply({ upserted: facts, removed: [] });
  }

  /** Host, connections and origin of each rule in force. */
  rules(): unknown[][] {
    return this.store.list("DestinationRule").map(({ spec, origin }) => [
      spec.host,
      spec.trafficPolicy?.connectionPool?.tcp?.maxConnections,
      origin.from,
    ]);
  }

  /** Derivations since the last call. */
  derived(): string[] {
    return this.log.splice(0);
  }
}

function object(kind: string, name: string, spec: object, labels: Record<string, string> = {}, line = 1): ConfigObject {
  const tree = { apiVersion: "networking.mesh.io/v1", kind, metadata: { name, namespace: "x", labels }, spec };
  const { object, findings } = parseObject(tree, inFile("a.yaml", line), { defaultNamespace: "default" });
  assert.ok(object !== undefined, findings.map(formatFinding).join());
  return object;
}

const entry = (name: string, hosts: readonly string[], cap?: string, line = 1) =>
  object("ServiceEntry", name, { hosts, resolution: "NONE", ports: [{ number: 80, name: "http", protocol: "HTTP" }] }, {
    ...(cap === undefined ? {} : { [LABEL]: cap }),
  }, line);

const rule = (name: string, host: string) => object("DestinationRule", name, { host });

const namespace = (limit: string): AnyFact => ({
  kind: "Namespace",
  key: "Namespace//x",
  meta: {
    name: "x",
    namespace: "",
    labels: {},
    annotations: { "example.com/limit": limit },
    creationTimestamp: UNDATED,
  },
  spec: {},
  origin: { from: "api", source: "api", uid: "1" },
  hash: limit,
});

test("a derived object has its input's origin, comes with its input, follows the input and goes with it", () => {
  const world = new World();
  world.put(entry("a", ["a.example.com"], "5"), entry("b", ["b.example.com"]));
  assert.deepEqual(world.rules(), [["a.example.com", 5, "derived"]]);
  const [made] = world.store.list("DestinationRule");
  assert.deepEqual(made?.origin, {
    from: "derived",
    source: "caps",
    of: "ServiceEntry/x/a",
    parent: inFile("a.yaml"),
  });
  world.put(entry("a", ["a.example.com"], "6"));
  assert.deepEqual(world.rules(), [["a.example.com", 6, "derived"]]);
  world.put(entry("a", ["a.example.com"], "6", 9));
  const moved = world.store.list("DestinationRule")[0]?.origin;
  assert.ok(moved?.from === "derived" && moved.parent.from === "file" && moved.parent.line === 9, "also when it moves");
  world.folder.apply({ upserted: [], removed: ["ServiceEntry/x/a"] });
  assert.deepEqual(world.rules(), []);
});

test("objects that exist before the engine are derived at once", () => {
  const world = new World(({ folder }) => {
    folder.apply({ upserted: [entry("a", ["a.example.com"], "5")], removed: [] });
  });
  assert.deepEqual(world.rules(), [["a.example.com", 5, "derived"]]);
});

test("a change repeats only the derivations that read the changed object", () => {
  const world = new World();
  world.put(entry("a", ["a.example.com"], "5"), entry("b", ["b.example.com"]));
  world.derived();
  world.fact(namespace("7"));
  assert.deepEqual([world.derived(), world.rules()], [["ServiceEntry/x/a"], [["a.example.com", 7, "derived"]]]);
  world.put(rule("mine", "a.example.com"));
  assert.deepEqual([world.derived(), world.rules()], [["ServiceEntry/x/a"], [["a.example.com", undefined, "file"]]]);
  world.put(entry("b", ["b2.example.com"]));
  assert.deepEqual(world.derived(), ["ServiceEntry/x/b"]);
  world.put(object("Gateway", "g", {
    selector: { a: "b" },
    servers: [{ port: { number: 80, name: "a", protocol: "HTTP" }, hosts: ["*"] }],
  }));
  assert.deepEqual(world.derived(), []);
  world.folder.apply({ upserted: [], removed: ["DestinationRule/x/mine"] });
  assert.deepEqual([world.derived(), world.rules()], [["ServiceEntry/x/a"], [["a.example.com", 7, "derived"]]]);
});

test("a derivation that throws affects only its input, whose objects stay; the finding ends when the derivation works again", () => {
  const world = new World();
  world.put(entry("a", ["a.example.com"], "5"), entry("c", ["c.example.com"], "1"));
  world.put(entry("a", ["bad.example.com"], "5"), entry("c", ["c.example.com"], "2"));
  assert.deepEqual(world.rules(), [["a.example.com", 5, "derived"], ["c.example.com", 2, "derived"]]);
  assert.deepEqual(world.engine.findings().map(formatFinding), [
    "a.yaml ServiceEntry x/a: error: caps failed, its earlier objects stay in force: no cap for this one",
  ]);
  world.put(entry("a", ["a2.example.com"], "5"));
  assert.deepEqual(world.rules(), [["a2.example.com", 5, "derived"], ["c.example.com", 2, "derived"]]);
  assert.deepEqual([world.engine.findings(), world.findings], [[], ["+derivation-failed", "-derivation-failed"]]);
});

test("a wrong derived object is refused with its origin; an object that two inputs make belongs to the first input", () => {
  const world = new World();
  world.put(entry("a", ["a.example.com"], "-5"));
  assert.deepEqual(world.rules(), []);
  assert.match(
    world.engine.findings().map(formatFinding).join(),
    /^derived from ServiceEntry\/x\/a \(a\.yaml:1\) DestinationRule x\/cap-a\.example\.com: error: .*maxConnections/,
  );
  world.put(entry("a", ["same.example.com"], "2"), entry("b", ["same.example.com"], "1"));
  assert.deepEqual(world.rules(), [["same.example.com", 2, "derived"]]);
  assert.deepEqual(world.engine.findings().map(({ name }) => name), ["duplicate-object"]);
  world.folder.apply({ upserted: [], removed: ["ServiceEntry/x/a"] });
  assert.deepEqual([world.rules(), world.engine.findings()], [[["same.example.com", 1, "derived"]], []]);
});

const HOSTS = ["a.example.com", "b.example.com", "c.example.com"];
const step = fc.oneof(
  fc.record({
    put: fc.constantFrom("e1", "e2", "e3"),
    hosts: fc.subarray(HOSTS, { minLength: 1 }),
    cap: fc.option(fc.constantFrom("1", "2"), { nil: undefined }),
  }),
  fc.record({ remove: fc.constantFrom("ServiceEntry/x/e1", "ServiceEntry/x/e2", "DestinationRule/x/r") }),
  fc.record({ rule: fc.constantFrom(...HOSTS) }),
  fc.record({ limit: fc.constantFrom("7", "8") }),
  fc.constant({ unfact: true }),
);

test("after any changes the derived objects equal a fresh derivation", () => {
  fc.assert(fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
    const world = new World();
    for (const one of steps) {
      if ("put" in one) world.put(entry(one.put, one.hosts, one.cap));
      else if ("remove" in one) world.folder.apply({ upserted: [], removed: [one.remove] });
      else if ("rule" in one) world.put(rule("r", one.rule));
      else if ("limit" in one) world.fact(namespace(one.limit));
      else world.api.apply({ upserted: [], removed: ["Namespace//x"] });
      const fresh = new World(({ folder, api }) => {
        const written = (["ServiceEntry", "DestinationRule"] as const).flatMap((kind) =>
          world.store.list(kind).filter(({ origin }) => origin.from === "file") as readonly ConfigObject[]
        );
        folder.apply({ upserted: written, removed: [] });
        api.apply({ upserted: world.facts.list("Namespace"), removed: [] });
      });
      assert.deepEqual(world.store.list("DestinationRule"), fresh.store.list("DestinationRule"));
      const findings = (of: World) => of.engine.findings().map(formatFinding).sort();
      assert.deepEqual(findings(world), findings(fresh));
    }
  }));
});
