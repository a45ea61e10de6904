import assert from "node:assert/strict";
import fc from "fast-check";
import { saidOnce } from "../../lib/finding/said_once.ts";
import type { FindingName } from "../../lib/finding/codes.ts";
import { findingKeys } from "../../lib/finding/finding.ts";
import type { ConfigObject } from "../../lib/config/types.ts";
import { concernedProxies } from "../../lib/debug/concern.ts";
import { lostEffects } from "../../lib/debug/lost_effect.ts";
import type { DebugView } from "../../lib/debug/view.ts";
import { parseObject } from "../../lib/config/object.ts";
import { VIRTUAL_HOST } from "../../lib/xds/protocol/types.ts";
import { encodedTables, TYPE_URLS } from "../../lib/offline/proxy_resources.ts";
import { resourcesIn } from "../../lib/simulate/decoded.ts";
import { simulate, type SimulatedRequest } from "../../lib/simulate/mod.ts";
import type { ProxyState } from "../../lib/translate/machine/per_proxy/proxy_state.ts";
import { AnalyzedFolder } from "../analyze/support/analyzed.ts";
import { inFile } from "../config/origins.ts";
import { type Tree, tree } from "../discovery/random_trees.ts";
import { runs } from "../properties.ts";

/** Runs of each property. */
const RUNS = runs(100);

/** Conflicting ports of Gateways: the other Gateways of the random trees are all of plain HTTP. */
const conflicting = fc.record({
  namespace: fc.constantFrom("a", "b"),
  name: fc.constantFrom("one", "two", "three"),
  protocol: fc.constantFrom("TCP", "HTTP"),
  host: fc.constantFrom("*", "x.com", "a/x.com", "./*"),
  age: fc.constantFrom("2023-01-01T00:00:00Z", "2025-01-01T00:00:00Z"),
}).map(({ namespace, name, protocol, host, age }) => ({
  apiVersion: "networking.mesh.io/v1",
  kind: "Gateway",
  metadata: { namespace, name, creationTimestamp: age },
  spec: { selector: { app: "gw" }, servers: [{ port: { number: 80, name: "p", protocol }, hosts: [host] }] },
}));

const trees = fc.array(
  fc.oneof({ weight: 7, arbitrary: tree }, { weight: 1, arbitrary: conflicting as unknown as fc.Arbitrary<Tree> })
    .filter((one) => parseObject(one, inFile("x"), { defaultNamespace: "default" }).object !== undefined),
  { minLength: 2, maxLength: 16, size: "max" },
);

const pods = [["p", "a"], ["q", "b"], ["gw", "b"]].map(([app, namespace]) =>
  `apiVersion: v1
kind: Pod
metadata: { name: ${app}, namespace: ${namespace}, labels: { app: ${app} } }
spec: { containers: [{ name: app, image: x }] }
`
);

const services = ["x.com", "y.com", "z.y.com", "svc.a.svc.cluster.local"].map((host, at) =>
  `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: base-${at}, namespace: a, creationTimestamp: "2020-01-01T00:00:00Z" }
spec:
  hosts: [${host}]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 172.16.0.1, labels: { version: v1 } }, { address: 172.16.0.2, labels: { version: v2 } }]
---
apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: base-${at}, namespace: a, creationTimestamp: "2020-01-01T00:00:00Z" }
spec:
  host: ${host}
  subsets: [{ name: v1, labels: { version: v1 } }, { name: v2, labels: { version: v2 } }]
`
);

/** The surroundings of the random objects: services as destinations, manifests of the proxies' pods, or neither. */
const surroundings = fc.constantFrom([], services, pods, [...services, ...pods]).map((texts) => texts.join("---\n"));

/** Port of the HTTP proxy of sidecars; 0: none. */
const httpPort = fc.constantFrom(0, 15333);

/** A folder of the given objects, with a sidecar in two namespaces and a gateway. */
function world(written: readonly Tree[], proxyHttpPort: number, around: string) {
  const folder = new AnalyzedFolder({ proxyHttpPort });
  const objects = written.map((one) => {
    const { kind, metadata: { namespace, name } } = one;
    return [`${kind}.${namespace}.${name}.json`, JSON.stringify(one)];
  });
  folder.write({ ...Object.fromEntries(objects), "around.yaml": around });
  const states = [
    folder.fixture.join({ namespace: "a", address: "10.1.0.1", labels: { app: "p" } }),
    folder.fixture.join({ namespace: "b", address: "10.1.0.2", labels: { app: "q" } }),
    folder.fixture.join({ namespace: "b", address: "10.1.0.3", labels: { app: "gw" }, type: "router" }),
  ];
  return { folder, states };
}

/** The page's view of a world without a wire: each proxy is its own progress. */
function viewOf({ folder, states }: ReturnType<typeof world>): DebugView {
  const streams = states.map((state) => ({
    stream: { view: { id: state.proxy.nodeId, resourceSets: of(state), virtualHosts: hostsOf(state) } },
    progress: { failing: () => false, state },
  }));
  const { pipeline } = folder.fixture;
  const parts = {
    store: folder.store,
    translator: pipeline.translator,
    xds: { streams: () => streams },
    analysis: folder.analysis,
    warnings: () => pipeline.warnings(),
  };
  return parts as unknown as DebugView;
}

function of(state: ProxyState) {
  return (type: string) => state.resourceSets(type);
}

function hostsOf(state: ProxyState) {
  return (name: string) => state.virtualHosts(name);
}

/** Whether a proxy makes `live` call an object in force as written. */
function isCause(key: string, state: ProxyState): boolean {
  const tables = encodedTables(state);
  return [...Object.values(TYPE_URLS), VIRTUAL_HOST].some((typeUrl) => {
    const table = tables(typeUrl);
    return [...table.names()].some((name) => table.get(name)!.causes?.includes(key));
  });
}

function inForceOn(object: ConfigObject, view: DebugView): ProxyState[] {
  if (lostEffects(object.key, view).length > 0) return [];
  const found = concernedProxies(object, view) ?? [];
  return [...found].map((progress) => (progress as unknown as { readonly state: ProxyState }).state);
}

const ADDRESSES = [
  "10.9.0.1",
  "10.9.0.2",
  "10.9.0.3",
  "172.16.0.1",
  "172.16.0.2",
  "172.16.0.3",
  "172.16.0.4",
  "192.0.2.1",
];

/**
 * Host names of requests for a virtual service; for a wildcard, also the hosts of services and gateways under the
 * wildcard.
 */
function namesFor({ spec }: ConfigObject<"VirtualService">, { folder }: ReturnType<typeof world>): string[] {
  const served = [
    ...folder.store.list("ServiceEntry").flatMap((entry) => entry.spec.hosts ?? []),
    ...folder.store.list("Gateway").flatMap((gateway) =>
      (gateway.spec.servers ?? []).flatMap(({ hosts = [] }) => hosts)
    ),
  ].map((host) => host.replace(/^.*\//, ""));
  return (spec.hosts ?? []).flatMap((written) => {
    if (!written.startsWith("*")) return [written];
    const under = served.map((host) => host.replace("*", "any")).filter((host) => host.endsWith(written.slice(1)));
    return [written.replace("*", "any"), ...new Set(under)];
  });
}

/** Requests that may meet rules for the given hosts, to any service. */
function* requestsFor(hosts: readonly string[], isRouter: boolean): Iterable<SimulatedRequest> {
  for (const host of hosts) {
    const proxied = { direction: "direct", destination: { ip: "127.0.0.1", port: 15333 }, protocol: "http" } as const;
    for (const h of ["x", "y"]) yield { ...proxied, host, headers: { h } };
    for (const ip of isRouter ? ["10.1.0.3"] : ADDRESSES) {
      for (const port of [80, 443, 9090]) {
        const to = { direction: isRouter ? "direct" : "outbound", destination: { ip, port } } as const;
        for (const h of ["x", "y"]) {
          yield { ...to, protocol: "http", host, headers: { h } };
          yield { ...to, protocol: "http", host: `${host}:${port}`, headers: { h } };
        }
        yield { ...to, protocol: "tcp" };
        yield { ...to, protocol: "tls", sni: host, host, headers: { h: "x" } };
      }
    }
  }
}

Deno.test("a route that live calls in force is found by the simulator with a request, on each proxy that it concerns", () => {
  let routes = 0;
  fc.assert(
    fc.property(trees, httpPort, surroundings, (written, port, around) => {
      const made = world(written, port, around);
      const view = viewOf(made);
      for (const object of made.folder.store.list("VirtualService")) {
        for (const state of inForceOn(object, view)) {
          // The stand-in of a plugin may deny before a route is chosen.
          const resources = { ...resourcesIn(encodedTables(state)), extensions: new Map() };
          const isRouter = state.proxy.properties.type === "router";
          const isMet = [...requestsFor(namesFor(object, made), isRouter)].some((request) => {
            const { steps } = simulate(resources, request);
            return steps.some((step) => "causes" in step && step.causes?.includes(object.key));
          });
          assert.ok(isMet, `${object.key} on ${state.proxy.nodeId}: ${JSON.stringify(object.spec)}`);
          routes++;
        }
      }
    }),
    { numRuns: RUNS },
  );
  assert.ok(routes > 0, "some routes are in force");
});

Deno.test("an object that live calls in force has caused a resource of each proxy that it concerns, or is its Sidecar", () => {
  fc.assert(
    fc.property(trees, httpPort, surroundings, (written, port, around) => {
      const made = world(written, port, around);
      const view = viewOf(made);
      for (const object of made.folder.fixture.pipeline.objects()) {
        for (const state of inForceOn(object, view)) {
          if (object.kind === "Sidecar") assert.equal(state.proxyClass.scope.sidecar?.key, object.key);
          else if (object.kind !== "WorkloadEntry") {
            assert.ok(isCause(object.key, state), object.key);
          }
        }
      }
    }),
    { numRuns: RUNS },
  );
});

/** Errors by which nothing of an object acts on some proxies. */
const ACTS_NOWHERE: Readonly<Partial<Record<FindingName, (state: ProxyState) => boolean>>> = {
  "unseen-route": ({ proxy }) => proxy.properties.type === "sidecar",
  "several-default-sidecars": () => true,
};

const SEED_WITH_ALL = 3;

/** Asserts that errors by which objects act nowhere are true. @returns the errors in the worlds of the seed */
function checkNowhere(seed?: number): Set<string> {
  const met = new Set<string>();
  fc.assert(
    fc.property(trees, httpPort, surroundings, (written, port, around) => {
      const made = world(written, port, around);
      const view = viewOf(made);
      for (const object of made.folder.fixture.pipeline.objects()) {
        for (const { name } of lostEffects(object.key, view)) {
          for (const state of made.states.filter((one) => ACTS_NOWHERE[name]?.(one))) {
            met.add(name);
            if (object.kind === "Sidecar") assert.notEqual(state.proxyClass.scope.sidecar?.key, object.key, name);
            else assert.ok(!isCause(object.key, state), object.key);
          }
        }
      }
    }),
    { numRuns: RUNS, ...(seed !== undefined && { seed }) },
  );
  return met;
}

Deno.test("an object that a finding reports as without effect is on no proxy", () => {
  checkNowhere();
  // Some seeds miss a rare error; these worlds have all errors, so that each is put to the test.
  assert.deepEqual(checkNowhere(SEED_WITH_ALL), new Set(Object.keys(ACTS_NOWHERE)), "each is met");
});

Deno.test("check and live agree: an object of an error is not in force as written, and an object that is not has an error", () => {
  fc.assert(
    fc.property(trees, httpPort, surroundings, (written, port, around) => {
      const made = world(written, port, around);
      const view = viewOf(made);
      const { pipeline } = made.folder.fixture;
      const said = saidOnce([...made.folder.analysis.findings(), ...pipeline.warnings()]);
      const errors = said.filter(({ severity }) => severity === "error").map((one) => findingKeys(one)[0]);
      for (const { key } of pipeline.objects()) {
        assert.equal(lostEffects(key, view).length, errors.filter((one) => one === key).length, key);
      }
    }),
    { numRuns: RUNS },
  );
});
