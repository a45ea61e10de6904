/**
 * Random edits of a world of the Gateway API, as an API delivers them: the derived objects and verdicts are those of a
 * fresh start. Writing a status gives the API's readers another object with the same hash, at any moment.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { DerivationEngine } from "../../lib/config/derive/engine.ts";
import { readFact } from "../../lib/config/facts/read.ts";
import { FactStore } from "../../lib/config/facts/store.ts";
import type { AnyFact, FactKind } from "../../lib/config/facts/types.ts";
import { defaultMeshConfig } from "../../lib/config/mesh/merge.ts";
import { parseObject } from "../../lib/config/object.ts";
import { ConfigStore } from "../../lib/config/store.ts";
import type { ConfigObject, Kind } from "../../lib/config/types.ts";
import { formatFinding } from "../../lib/finding/finding.ts";
import type { ListenerView } from "../../lib/gateway_api/attach/types.ts";
import type { JudgedRoute } from "../../lib/gateway_api/groups/judged.ts";
import { gatewayApiDerivations } from "../../lib/gateway_api/groups/options.ts";
import { GatewayApiVerdicts } from "../../lib/gateway_api/groups/verdicts.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { type Manifest, world, worldTrees } from "./random_gateway_worlds.ts";
import type { World } from "./reference_model.ts";
import { runs } from "../properties.ts";

const RUNS = runs(100);

const SETTINGS = defaultSettings("pilot-discovery", { PILOT_ENABLE_ALPHA_GATEWAY_API: true });
/** Kinds of facts among the manifests. */
const FACTS: readonly string[] = ["Namespace", "Secret"];

/** The key of a manifest in the stores. */
function keyOf({ kind, metadata: { namespace = "", name } }: Manifest): string {
  return `${kind === "Gateway" ? "ApiGateway" : kind}/${namespace}/${name}`;
}

/** The derivations of the Gateway API over stores that an API fills. */
class Derived {
  readonly store = new ConfigStore();
  readonly facts = new FactStore();
  readonly verdicts = new GatewayApiVerdicts();
  readonly #objects = this.store.addSource("api", 0);
  readonly #facts = this.facts.addSource("api", 0);
  readonly #engines: readonly DerivationEngine[];
  readonly #texts = new Map<string, string>();
  #version = 0;

  constructor(trees: readonly Manifest[]) {
    this.take(trees);
    const learned = this.verdicts.learn.bind(this.verdicts);
    const derivations = gatewayApiDerivations({ domain: "cluster.local", isFolder: true, learned }, SETTINGS);
    this.#engines = derivations.map((derivation, index) =>
      new DerivationEngine(derivation, {
        ...{ store: this.store, facts: this.facts, mesh: defaultMeshConfig({ systemNamespace: "mesh-system" }) },
        target: this.store.addSource(derivation.name, 1 + index),
        onFindings: () => {},
      })
    );
  }

  /** Takes the present manifests. @param isRefreshed Chooses manifests, by position, that come with another status. */
  take(trees: readonly Manifest[], isRefreshed: (at: number) => boolean = () => false): void {
    const gone = new Set(this.#texts.keys());
    const objects: ConfigObject[] = [];
    const facts: AnyFact[] = [];
    for (const [at, tree] of trees.entries()) {
      const [key, text] = [keyOf(tree), JSON.stringify(tree)];
      gone.delete(key);
      if (this.#texts.get(key) === text && !isRefreshed(at)) continue;
      this.#texts.set(key, text);
      const version = `${++this.#version}`;
      const metadata = { ...tree.metadata, resourceVersion: version };
      const whole = { ...tree, metadata, status: { conditions: [{ type: "Odd", status: "True", reason: version }] } };
      if (FACTS.includes(tree.kind)) facts.push(factOf(whole));
      else objects.push(objectOf(whole));
    }
    for (const key of gone) this.#texts.delete(key);
    this.#facts.apply({ upserted: facts, removed: [...gone] });
    this.#objects.apply({ upserted: objects, removed: [...gone] });
  }

  /** Everything that was found out, without the identity of objects. */
  state() {
    const kinds: readonly Kind[] = ["Gateway", "VirtualService", "DestinationRule", "ServiceEntry"];
    const objects = kinds.flatMap((kind): readonly ConfigObject[] => this.store.list(kind));
    const gateways = [...this.verdicts.judgedGateways()].map(({ view, routes }) => ({
      ...{ gateway: view.gateway.hash, accepted: view.accepted, programmed: view.programmed },
      ...{ resolvedRefs: view.resolvedRefs, workloads: view.workloads, addressing: view.addressing },
      listeners: view.listeners.map(listenerState),
      sets: view.sets.map(({ set, accepted, programmed, listeners }) => ({
        ...{ set: set.hash, accepted, programmed },
        listeners: listeners.map(listenerState),
      })),
      routes: routes.map(routeState),
    }));
    return {
      objects: objects.map(({ key, meta, spec, origin }) => ({
        ...{ key, meta, spec },
        of: origin.from === "derived" ? origin.of : "",
      })),
      gateways,
      routes: [...this.#texts.keys()].filter((key) => /Route\//.test(key)).sort().map((key) => ({
        ...{ key, verdicts: this.verdicts.route(key).map(routeState), shadowed: this.verdicts.shadowed(key) },
      })),
      findings: this.#engines.flatMap((engine) => engine.findings().map(formatFinding)).sort(),
    };
  }
}

function objectOf(tree: Manifest): ConfigObject {
  const origin = { from: "api", source: "api", uid: keyOf(tree) } as const;
  const { object, findings } = parseObject(tree, origin, { defaultNamespace: "default" });
  assert.ok(object !== undefined, findings.map(formatFinding).join());
  return object;
}

function factOf(tree: Manifest): AnyFact {
  const origin = { from: "api", source: "api", uid: keyOf(tree) } as const;
  const { fact, findings } = readFact(tree.kind as FactKind, tree, origin, { digestKey: new Uint8Array(32) });
  assert.ok(fact !== undefined, findings.map(formatFinding).join());
  return fact;
}

function nameOf({ owner, spec }: ListenerView): string {
  return `${owner.key}#${spec.name} ${owner.hash}`;
}

function listenerState(one: ListenerView) {
  const { owner: _, ...rest } = one;
  return { name: nameOf(one), ...rest };
}

function routeState({ route, at, resolved, rules, places }: JudgedRoute) {
  return {
    ...{ key: route.key, hash: route.hash, resolved, rules: rules?.rules, refusals: rules?.refusals },
    at: at.map(({ bound, ...rest }) => ({
      ...rest,
      bound: bound.map(({ listener, hostnames }) => [nameOf(listener), hostnames]),
    })),
    places: places.map(({ listener, hostnames }) => [nameOf(listener), hostnames]),
  };
}

/** An object of an experimental kind. */
function experimental(kind: string, namespace: string, name: string, age: number, spec: object): Manifest {
  const creationTimestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, age)).toISOString();
  return {
    apiVersion: "gateway.networking.x-k8s.io/v1alpha1",
    kind,
    metadata: { namespace, name, creationTimestamp },
    spec,
  };
}

const limit = (percent: number, ...names: readonly string[]) => ({
  targetRefs: names.map((name) => ({ group: "", kind: "Service", name })),
  retryConstraint: { budget: { percent } },
});

const external = (hostname: string, port: number) => ({
  ...{ type: "ExternalHostname", port: { port }, externalHostname: { hostname } },
});

/** Experimental objects and a route to some of them, several of them about one service. */
const EXPERIMENTAL: readonly Manifest[] = [
  experimental("XBackendTrafficPolicy", "shop", "young", 2, limit(10, "a", "b")),
  experimental("XBackendTrafficPolicy", "shop", "old", 1, limit(20, "a")),
  experimental("XBackendTrafficPolicy", "shop", "odd", 0, {
    ...limit(30, "b"),
    sessionPersistence: { sessionName: "two words" },
  }),
  experimental("XBackendTrafficPolicy", "pay", "young", 3, limit(40, "a", "missing")),
  experimental("XBackendTrafficPolicy", "shop", "out", 4, {
    targetRefs: [{ group: "gateway.networking.x-k8s.io", kind: "XBackend", name: "out" }],
    retryConstraint: {},
  }),
  experimental("XBackend", "shop", "out", 0, external("out.test", 443)),
  experimental("XBackend", "pay", "out", 0, { ...external("pay.test", 8443), tls: { mode: "ServerOnly" } }),
  {
    ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute", metadata: { namespace: "shop", name: "out" } },
    spec: {
      parentRefs: [{ name: "edge", namespace: "shop" }, { group: "", kind: "Service", name: "a" }],
      rules: [{
        backendRefs: [undefined, "pay"].map((namespace) => ({
          ...{ group: "gateway.networking.x-k8s.io", kind: "XBackend", name: "out", namespace },
        })),
      }],
    },
  },
  {
    ...{
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "ReferenceGrant",
      metadata: { namespace: "pay", name: "out" },
    },
    spec: {
      from: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: "shop" }],
      to: [{ group: "gateway.networking.x-k8s.io", kind: "XBackend" }],
    },
  },
];

/** The part of a world that an edit takes from another world. */
const part = fc.constantFrom<keyof World | "route">(
  ...["route", "route", "route", "gateway", "sets", "routes"] as const,
  ...["grants", "services", "labelled", "secrets"] as const,
);

const edit = fc.record({
  ...{ part, other: world, at: fc.nat(4), isReady: fc.boolean() },
  /** Bits: the manifests with another status in the same change. */
  refreshed: fc.constantFrom(0, 0, 1, 0b1110, 0b101010, 0xffff, 0b11000000),
  /** Nothing else changes. */
  isOnlyRefresh: fc.boolean(),
  /** Bits: the experimental objects that exist after the edit. */
  experimental: fc.nat(2 ** EXPERIMENTAL.length - 1),
});

type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

function edited(one: World, { part, other, at, isReady, isOnlyRefresh }: Edit): World {
  if (isOnlyRefresh) return one;
  if (part === "services") {
    const { "shop/a": _, ...others } = one.services;
    return { ...one, services: isReady ? { ...others, "shop/a": true } : others };
  }
  if (part !== "route") return { ...one, [part]: other[part] };
  const [replacement] = other.routes;
  const routes = one.routes.filter(({ name }) => name !== `r${at}`);
  return { ...one, routes: isReady ? [...routes, { ...replacement!, name: `r${at}` }] : routes };
}

Deno.test("after any edits and written statuses, derived objects and verdicts are those of a fresh start", () => {
  let refreshes = 0;
  fc.assert(
    fc.property(world, fc.array(edit, { minLength: 1, maxLength: 6 }), (first, edits) => {
      let now = first;
      const kept = new Derived(worldTrees(now));
      for (const [at, one] of edits.entries()) {
        now = edited(now, one);
        const others = EXPERIMENTAL.filter((_, index) => (one.experimental >> index) % 2 === 1);
        const trees = [...worldTrees(now), ...others];
        kept.take(trees, (index) => (one.refreshed >> (index % 16)) % 2 === 1);
        if (one.refreshed > 0) refreshes++;
        assert.deepEqual(kept.state(), new Derived(trees).state(), `after edit ${at}`);
      }
    }),
    { numRuns: RUNS },
  );
  assert.ok(refreshes > RUNS / 2);
});
