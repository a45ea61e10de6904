/** Clusters with shared services, in any order of their reports. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { AnyFact } from "../../../lib/config/facts/types.ts";
import { Aggregate } from "../../../lib/registry/aggregate.ts";
import { EndpointIndex } from "../../../lib/registry/endpoint_index.ts";
import { OrchRegistry } from "../../../lib/registry/orch/registry.ts";
import type { Service, ServiceKey } from "../../../lib/registry/types.ts";
import { at, object, ORCH_OPTIONS, service, slice } from "./cluster.ts";
import { runs } from "../../properties.ts";

const CLUSTERS = ["east", "west", "north"] as const;
type Cluster = (typeof CLUSTERS)[number];

const NAMES = ["a", "b"] as const;
const clusterKey = (name: string): ServiceKey => `shop/${name}.shop.svc.cluster.local`;
const setKey = (name: string): ServiceKey => `shop/${name}.shop.svc.clusterset.local`;
const KEYS = NAMES.flatMap((name) => [clusterKey(name), setKey(name)]);

/** A cluster's objects, by key. */
type Objects = ReadonlyMap<string, AnyFact>;

/** Three clusters with a common aggregate, and the knowledge of a reader of its changes alone. */
function world(clusterLocal: boolean) {
  const index = new EndpointIndex();
  const aggregate = new Aggregate(index);
  const registries = Object.fromEntries(CLUSTERS.map((clusterId) => {
    const registry = new OrchRegistry({ ...ORCH_OPTIONS, clusterId, shared: { host: true, clusterLocal } });
    void registry.start(aggregate.sink(registry));
    return [clusterId, registry];
  })) as Record<Cluster, OrchRegistry>;
  const known = new Map<ServiceKey, Service | undefined>();
  return {
    registries,
    leave: (cluster: Cluster) => aggregate.removeSource(registries[cluster]),
    read: () => {
      for (const key of aggregate.drain().services) known.set(key, aggregate.service(key));
    },
    services: () => KEYS.map((key) => known.get(key)),
    endpoints: (key: ServiceKey) =>
      index.endpoints(key).map(({ clusterId, address, ownClusterOnly = false }) => ({
        clusterId,
        address,
        ownClusterOnly,
      }))
        .sort((a, b) => (a.clusterId < b.clusterId ? -1 : 1)),
  };
}

/** The endpoints under a name by the specification: each endpoint is for all clusters, or for its own cluster alone. */
function expectedEndpoints(all: ReadonlyMap<Cluster, Objects>, name: string, isOpen: (objects: Objects) => boolean) {
  return [...all].toSorted(([a], [b]) => (a < b ? -1 : 1)).flatMap(([clusterId, objects]) =>
    objects.has(`Service/shop/${name}`) && objects.has(`EndpointSlice/shop/${name}-1`)
      ? [{ clusterId, address: `10.${CLUSTERS.indexOf(clusterId)}.0.1`, ownClusterOnly: !isOpen(objects) }]
      : []
  );
}

const name = fc.constantFrom(...NAMES);
const cluster = fc.constantFrom(...CLUSTERS);
const what = fc.constantFrom("Service", "EndpointSlice", "ServiceExport", "ServiceImport");

const event = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: fc.constant("put"), cluster, name, what, variant: fc.nat(2) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("remove"), cluster, name, what, variant: fc.constant(0) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("leave"), cluster, name, what, variant: fc.constant(0) }) },
);

function madeOf(what: string, name: string, cluster: Cluster, variant: number): AnyFact {
  const number = CLUSTERS.indexOf(cluster);
  if (what === "Service") return service(name, { ports: [{ name: "http", port: 80 + variant, targetPort: 8080 }] });
  if (what === "EndpointSlice") return slice(`${name}-1`, name, [at(`10.${number}.0.1`)]);
  if (what === "ServiceExport") return object("ServiceExport", name);
  const ips = [[], [`24${number}.0.0.1`], [`24${number}.0.0.1`, "2001:db8::1"]][variant]!;
  return object("ServiceImport", name, { spec: { type: "ClusterSetIP", ips } });
}

Deno.test("in any order of events of three clusters, each name has the endpoints that its exports allow, and a reader of the changes knows what one knows who begins now", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), fc.boolean(), (events, clusterLocal) => {
      const all = new Map<Cluster, Map<string, AnyFact>>(CLUSTERS.map((cluster) => [cluster, new Map()]));
      const one = world(clusterLocal);
      for (const { do: does, cluster, name, what, variant } of events) {
        const objects = all.get(cluster);
        if (objects === undefined) continue;
        const fact = madeOf(what, name, cluster, variant);
        if (does === "put") {
          objects.set(fact.key, fact);
          one.registries[cluster].apply([fact], []);
        } else if (does === "leave") {
          all.delete(cluster);
          one.leave(cluster);
        } else if (objects.delete(fact.key)) one.registries[cluster].apply([], [fact.key]);
        one.read();
      }
      const fresh = world(clusterLocal);
      for (const cluster of CLUSTERS) {
        const objects = all.get(cluster);
        if (objects === undefined) fresh.leave(cluster);
        else fresh.registries[cluster].apply([...objects.values()], []);
      }
      fresh.read();
      assert.deepEqual(one.services(), fresh.services());
      for (const name of NAMES) {
        const isExported = (objects: Objects) => objects.has(`ServiceExport/shop/${name}`);
        const atHome = (objects: Objects) => !clusterLocal && isExported(objects);
        assert.deepEqual(one.endpoints(clusterKey(name)), expectedEndpoints(all, name, atHome));
        assert.deepEqual(one.endpoints(setKey(name)), expectedEndpoints(all, name, isExported));
      }
    }),
    { numRuns: runs(500) },
  );
});
