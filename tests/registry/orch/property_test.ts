import assert from "node:assert/strict";
import fc from "fast-check";
import type { AnyFact } from "../../../lib/config/facts/types.ts";
import { REGISTRY_KINDS } from "../../../lib/registry/orch/options.ts";
import { workloadEntry } from "../objects.ts";
import { ServiceEntryRegistry } from "../../../lib/registry/service_entry/registry.ts";
import { OPTIONS, RecordingSink } from "../objects.ts";
import { at, cluster, object, pod, service, slice } from "./cluster.ts";
import { runs } from "../../properties.ts";

const NAMES = ["a", "b", "c"];
const ADDRESSES = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
const name = fc.constantFrom(...NAMES);
const address = fc.constantFrom(...ADDRESSES);
const labels = fc.constantFrom({ app: "a" }, { app: "b" }, { app: "a", "istio.io/draining": "yes" });

const anyService = fc.record({
  name,
  kind: fc.constantFrom("plain", "headless", "alias"),
  app: name,
  sticky: fc.boolean(),
  targetPort: fc.constantFrom(8080, "web"),
}).map(({ name, kind, app, sticky, targetPort }) =>
  service(name, {
    selector: { app },
    ports: [{ name: "http", port: 80, targetPort }],
    ...(kind === "headless" ? { clusterIP: "None", clusterIPs: ["None"] } : {}),
    ...(kind === "alias" ? { type: "ExternalName", externalName: "example.com" } : {}),
  }, sticky ? { labels: { "mesh.io/persistent-session": "cookie" } } : {})
);

const endpoint = fc.record({
  address,
  pod: fc.option(name, { nil: undefined }),
  nodeName: fc.constantFrom("n1", "n2"),
  conditions: fc.constantFrom({}, { ready: false }, { ready: false, serving: true, terminating: true }),
}).map(({ address, pod, ...rest }) => at(address, pod, rest));

const anyList = fc.record({ name, of: name, endpoints: fc.array(endpoint, { maxLength: 3 }) })
  .map(({ name, of, endpoints }) => slice(`${name}-slice`, of, endpoints));

const anyEndpoints = fc.record({ name, address }).map(({ name, address }) =>
  object("Endpoints", name, { subsets: [{ addresses: [{ ip: address }], ports: [{ name: "http", port: 8080 }] }] })
);

const anyPod = fc.record({
  name,
  address,
  labels,
  nodeName: fc.constantFrom("n1", "n2"),
  phase: fc.constantFrom("Running", "Running", "Succeeded"),
  named: fc.boolean(),
}).map(({ name, address, labels, nodeName, phase, named }) =>
  pod(name, address, labels, {
    spec: { nodeName, containers: named ? [{ name: "x", ports: [{ name: "web", containerPort: 9090 }] }] : [] },
    status: { phase },
  })
);

const anyNode = fc.record({ name: fc.constantFrom("n1", "n2"), zone: name, address }).map(({ name, zone, address }) =>
  object("Node", name, {
    metadata: { labels: { "topology.kubernetes.io/zone": zone } },
    status: { addresses: [{ type: "ExternalIP", address }] },
  })
);

const anyGateway = fc.record({ name, balanced: fc.boolean(), zone: name, network: name }).map(
  ({ name, balanced, zone, network }) =>
    service(name, {
      type: balanced ? "LoadBalancer" : "NodePort",
      externalIPs: balanced ? ["192.0.2.1"] : [],
      ports: [{ name: "tls", port: 15443, nodePort: 30443 }],
    }, {
      labels: { "topology.mesh.io/network": network },
      annotations: { "traffic.mesh.io/nodeSelector": JSON.stringify({ "topology.kubernetes.io/zone": zone }) },
    }),
);

const anyNamespace = fc.record({
  name: fc.constantFrom("shop", "mesh-system"),
  network: fc.constantFrom("", "home"),
  near: fc.boolean(),
}).map(({ name, network, near }) =>
  object("Namespace", name, {
    metadata: {
      labels: { "topology.mesh.io/network": network },
      annotations: near ? { "networking.mesh.io/traffic-distribution": "PreferClose" } : {},
    },
  })
);

const anyExport = name.map((name) => object("ServiceExport", name));
const anyImport = fc.record({ name, ips: fc.constantFrom([], ["241.0.0.1"], ["241.0.0.2", "none"]) })
  .map(({ name, ips }) => object("ServiceImport", name, { spec: { ips } }));

const anyObject = fc.oneof(
  ...[anyService, anyGateway, anyList, anyEndpoints, anyPod, anyNode, anyNamespace],
  ...[anyExport, anyImport],
);
const vm = workloadEntry("vm", { address: "10.0.9.1", labels: { app: "a" } }, { namespace: "shop" });

type Event =
  | { readonly do: "change"; readonly objects: readonly AnyFact[]; readonly picks: readonly number[] }
  | { readonly do: "again" }
  | { readonly do: "machine"; readonly there: boolean };

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant("change" as const),
      objects: fc.array(anyObject, { maxLength: 4 }),
      picks: fc.array(fc.nat(), { maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "again" as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("machine" as const), there: fc.boolean() }) },
);

/** A registry beside a machine, which the registry's services may select. */
function started() {
  const { registry, sink } = cluster([], { shared: { host: true, clusterLocal: false } });
  const entries = new ServiceEntryRegistry(OPTIONS);
  const machines = new RecordingSink();
  void entries.start({
    services: () => {},
    endpoints: () => {},
    workloads: (upserted, removed) => {
      machines.workloads(upserted, removed);
      registry.onWorkloads(entries, upserted, removed);
    },
    networks: () => {},
  });
  return { registry, sink, entries };
}

/** The state of a sink in a fixed order. */
function stateOf({ state: { services, endpoints, workloads, networks } }: RecordingSink) {
  const byKey = <T>(map: ReadonlyMap<string, T>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
  return [byKey(services), byKey(endpoints).map(([key, shards]) => [key, [...shards]]), byKey(workloads), networks];
}

Deno.test("any order of events ends in the state that a registry reports which has only the last objects", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      const now = new Map<string, AnyFact>();
      const { registry, sink, entries } = started();
      let machine = false;
      for (const one of events) {
        if (one.do === "machine") {
          machine = one.there;
          entries.apply(one.there ? [vm] : [], one.there ? [] : [vm.key]);
        } else if (one.do === "again") registry.again();
        else {
          // A store reports the last of two versions in one change, and no object as both new and gone.
          const objects = new Map(one.objects.map((object) => [object.key, object]));
          const [keys, { size }] = [[...now.keys()], now];
          const picked = new Set(size === 0 ? [] : one.picks.map((pick) => keys[pick % size]!));
          const removed = [...picked].filter((key) => !objects.has(key));
          for (const key of removed) now.delete(key);
          for (const object of objects.values()) now.set(object.key, object);
          registry.apply([...objects.values()], removed);
        }
      }
      const fresh = started();
      if (machine) fresh.entries.apply([vm], []);
      fresh.registry.apply([...now.values()], []);
      assert.deepEqual(stateOf(sink), stateOf(fresh.sink));
      assert.deepEqual(registry.counts.waiting, fresh.registry.counts.waiting);
      registry.again();
      assert.deepEqual(stateOf(sink), stateOf(fresh.sink));
      assert.equal(registry.check([...now.values()], []), 0, "nothing has drifted");
      assert.deepEqual(stateOf(sink), stateOf(fresh.sink));
    }),
    { numRuns: runs(400) },
  );
});

Deno.test("a check repairs and counts drifted objects, and finds nothing the second time", () => {
  const objects = fc.array(anyObject, { maxLength: 12 });
  fc.assert(
    fc.property(objects, objects, fc.array(fc.nat(), { maxLength: 4 }), (all, extra, lost) => {
      const { registry, sink } = started();
      const now = new Map(all.map((object) => [object.key, object]));
      registry.apply([...now.values()], []);
      // Drift: other versions, superfluous objects, and missing objects.
      registry.apply([...new Map(extra.map((object) => [object.key, object])).values()], []);
      const missing = [...now.keys()].filter((_, i) => lost.includes(i));
      registry.apply([], missing);
      const had = new Set(REGISTRY_KINDS.flatMap((kind) => [...registry.keys(kind)]));
      const superfluous = [...had].filter((key) => !now.has(key));
      const isDrifted = extra.length > 0 || missing.length > 0;
      assert.equal(registry.check([...now.values()], superfluous) > 0, isDrifted);
      const fresh = started();
      fresh.registry.apply([...now.values()], []);
      assert.deepEqual(stateOf(sink), stateOf(fresh.sink));
      assert.equal(registry.check([...now.values()], []), 0);
    }),
    { numRuns: runs(400) },
  );
});
