import assert from "node:assert/strict";
import fc from "fast-check";
import type { ConfigObject } from "../../lib/config/types.ts";
import { concernedProxies } from "../../lib/debug/concern.ts";
import { lostEffects } from "../../lib/debug/lost_effect.ts";
import type { DebugView } from "../../lib/debug/view.ts";
import { parseObject } from "../../lib/config/object.ts";
import { encodedResources } from "../../lib/offline/proxy_resources.ts";
import { resourcesFrom, simulate, type SimulatedRequest } from "../../lib/simulate/mod.ts";
import type { ProxyState } from "../../lib/translate/per_proxy/proxy_state.ts";
import { AnalyzedFolder } from "../analyze/support/analyzed.ts";
import { inFile } from "../config/origins.ts";
import { type Tree, tree } from "../discovery/random_trees.ts";

/** Runs of each property; `MESH_PROPERTY_RUNS=10000` is the long form. */
const RUNS = Number(Deno.env.get("MESH_PROPERTY_RUNS") ?? 100);

const trees = fc.array(
  tree.filter((one) => parseObject(one, inFile("x"), { defaultNamespace: "default" }).object !== undefined),
  { minLength: 4, maxLength: 16, size: "max" },
);

/** Port of the HTTP proxy of sidecars; 0: they have none. */
const httpPort = fc.constantFrom(0, 15333);

/** A folder of these objects, with a sidecar in two namespaces and a gateway. */
function world(written: readonly Tree[], proxyHttpPort: number) {
  const folder = new AnalyzedFolder({ proxyHttpPort });
  folder.write(Object.fromEntries(written.map((one) => {
    const { kind, metadata: { namespace, name } } = one;
    return [`${kind}.${namespace}.${name}.json`, JSON.stringify(one)];
  })));
  const states = [
    folder.fixture.join({ namespace: "a", address: "10.1.0.1", labels: { app: "p" } }),
    folder.fixture.join({ namespace: "b", address: "10.1.0.2", labels: { app: "q" } }),
    folder.fixture.join({ namespace: "b", address: "10.1.0.3", labels: { app: "gw" }, type: "router" }),
  ];
  return { folder, states };
}

/** What the page looks at, of a world without a wire: each proxy is its own progress. */
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

/** The proxies on which `live` would call an object in force as it is written; empty: it would not. */
function inForceOn(object: ConfigObject, view: DebugView): ProxyState[] {
  if (lostEffects(object.key, view).length > 0) return [];
  const found = concernedProxies(object, view) ?? [];
  return [...found].map((progress) => (progress as unknown as { readonly state: ProxyState }).state);
}

const ADDRESSES = ["10.9.0.1", "10.9.0.2", "172.16.0.1", "172.16.0.2", "172.16.0.3", "172.16.0.4", "192.0.2.1"];

/** Names that requests use for the hosts of a virtual service: of a wildcard also those of services and gateways under it. */
function namesFor({ spec }: ConfigObject<"VirtualService">, { folder }: ReturnType<typeof world>): string[] {
  const served = [
    ...folder.store.list("ServiceEntry").flatMap((entry) => entry.spec.hosts ?? []),
    ...folder.store.list("Gateway").flatMap((gateway) =>
      (gateway.spec.servers ?? []).flatMap(({ hosts = [] }) => hosts)
    ),
  ].map((host) => host.replace(/^.*\//, ""));
  return (spec.hosts ?? []).flatMap((written) => {
    if (!written.startsWith("*")) return [written];
    const under = served.filter((host) => host.endsWith(written.slice(1)) && !host.startsWith("*"));
    return [written.replace("*", "any"), ...new Set(under)];
  });
}

/** Requests that may meet rules for these hosts, to any service. */
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
    fc.property(trees, httpPort, (written, port) => {
      const made = world(written, port);
      const view = viewOf(made);
      for (const object of made.folder.store.list("VirtualService")) {
        for (const state of inForceOn(object, view)) {
          const resources = resourcesFrom(encodedResources(state));
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
    fc.property(trees, httpPort, (written, port) => {
      const made = world(written, port);
      const view = viewOf(made);
      for (const object of made.folder.fixture.pipeline.objects()) {
        for (const state of inForceOn(object, view)) {
          if (object.kind === "Sidecar") assert.equal(state.proxyClass.scope.sidecar?.key, object.key);
          else if (object.kind !== "WorkloadEntry") {
            assert.ok(encodedResources(state).some(({ causes }) => causes.includes(object.key)), object.key);
          }
        }
      }
    }),
    { numRuns: RUNS },
  );
});
