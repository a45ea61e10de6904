/** In random worlds, a sidecar that asks for what it calls sends every request where a sidecar with everything sends it. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { OnDemandResources } from "../../lib/discovery/proxies/on_demand_resources.ts";
import { clustersNamedBy } from "../../lib/translate/encode/named_clusters.ts";
import type { EncodedResource } from "../../lib/resource/encoded.ts";
import { InternedNames } from "../../lib/resource/names.ts";
import { resourcesFrom } from "../../lib/simulate/decoded.ts";
import { chooseVirtualHost } from "../../lib/simulate/virtual_host.ts";
import type { ProxyState } from "../../lib/translate/machine/per_proxy/proxy_state.ts";
import { CLUSTER, EXTENSION_CONFIG, LISTENER, ROUTE } from "../../lib/xds/protocol/types.ts";
import type { TestNode } from "./fixture.ts";
import { manySteps, play } from "./random_steps.ts";
import { runs } from "../properties.ts";

const RUNS = runs(25);

const of = (state: ProxyState, type: string): EncodedResource[] =>
  (state.resourceSets(type) ?? []).flatMap((set) => [...set]);

/** Hosts of requests: each domain, a host under each wildcard, with and without a port, and a host of nobody. */
function hostsFor(domains: Iterable<string>): string[] {
  const names = [...domains].map((domain) => domain.replace(/^\*/, "some").replace(/\*$/, "some"));
  return [...new Set([...names, "nobody.invalid"].flatMap((name) => [name, `${name}:80`, name.toUpperCase()]))];
}

/** The routes for a host, as text, and the encoded virtual host. Names and domains of virtual hosts differ. */
function answer(shell: EncodedResource, hosts: readonly EncodedResource[], host: string) {
  const resources = resourcesFrom([shell, ...hosts]);
  const chosen = chooseVirtualHost(resources, resources.routes.get(shell.name)!, host);
  // A virtual host without routes refuses a request as no virtual host does.
  if (chosen === undefined || (chosen.virtualHost.routes ?? []).length === 0) return undefined;
  const { name: _, domains: __, ...rest } = chosen.virtualHost;
  return JSON.stringify(rest).replaceAll(UNLIMITED, "");
}

/** The limit that a request without a route has is lifted by each route. */
const UNLIMITED = ',"max_stream_duration":{"max_stream_duration":{}}';

/** Routes in front of which a request of a sidecar that asks would be cut. */
function limited(resources: readonly EncodedResource[]): string[] {
  const { virtualHosts, routes } = resourcesFrom(resources);
  const inside = [...routes.keys()].flatMap((name) => routes.get(name)?.virtual_hosts ?? []);
  const all = [...inside, ...[...virtualHosts.keys()].flatMap((name) => virtualHosts.get(name) ?? [])];
  return all.flatMap(({ name, routes = [] }) =>
    routes.flatMap(({ route }) =>
      route !== undefined && route.max_stream_duration?.max_stream_duration === undefined ? [`${name}`] : []
    )
  );
}

function compare({ route, whole, asking, asked }: {
  readonly route: EncodedResource;
  readonly whole: ProxyState;
  readonly asking: ProxyState;
  readonly asked: OnDemandResources;
}): void {
  const names = new InternedNames();
  const all = whole.virtualHosts(route.name).flatMap((set) => [...set]);
  const shell = of(asking, ROUTE).find(({ name }) => name === route.name);
  assert.ok(shell, `route configuration ${route.name}`);
  const existing = new Set(of(asking, CLUSTER).map(({ name }) => name));
  const decoded = resourcesFrom(all).virtualHosts;
  const domains = [...decoded.keys()].flatMap((name) => decoded.get(name)?.domains ?? []);
  for (const host of hostsFor(domains)) {
    const question = `${route.name}/${host.toLowerCase()}`;
    const canAsk = asking.askedHosts(route.name)?.canAsk === true;
    if (canAsk) asked.wantHosts(names.of([question]));
    const sets = asked.virtualHosts(route.name);
    const held = sets.flatMap((set) => [...set]);
    assert.deepEqual(limited([shell, ...held]), []);
    const inherited = answer(route, all, host);
    assert.equal(answer(shell, held, host), inherited, `${route.name}: ${host}`);
    if (canAsk) assert.ok(sets.some((set) => set.withAlias(question).length > 0), `an answer to ${question}`);
    for (const virtualHost of held) {
      const named = clustersNamedBy(virtualHost).filter((name) => existing.has(name));
      // A sidecar that has a route configuration whole asks for the cluster of a request.
      if (!canAsk && named.length > 0) asked.wantClusters(names.of([named[0]!]));
      const clusters = asked.clusters(asking.resourceSets(CLUSTER)!);
      for (const name of named) assert.ok(clusters.some((set) => set.has(name)), `${name} of ${virtualHost.name}`);
    }
  }
}

Deno.test("in random worlds both modes choose the same routes for every host, and the clusters of the routes are there", async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(manySteps, async (steps) => {
      const { fixture, joined } = play(steps, true);
      for (const { node, state } of joined) {
        if (node.type !== undefined && node.type !== "sidecar" || node.delta === false) continue;
        const metadata: NonNullable<TestNode["metadata"]> = { ...node.metadata, ON_DEMAND: { stringValue: "true" } };
        const asking = fixture.join({ ...node, metadata });
        if (!asking.proxy.properties.onDemand) continue;
        const asked = new OnDemandResources(asking);
        for (const route of of(state, ROUTE)) {
          compare({ route, whole: state, asking, asked });
          compared++;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 0));
    }),
    { numRuns: RUNS },
  );
  assert.ok(compared > RUNS, `${compared} route configurations were compared`);
});

Deno.test("a sidecar that has asked for nothing has no cluster of a host that only virtual hosts name", async () => {
  await fc.assert(
    fc.asyncProperty(manySteps, async (steps) => {
      const { fixture } = play(steps, true);
      const metadata: NonNullable<TestNode["metadata"]> = { ON_DEMAND: { stringValue: "true" } };
      const asking = fixture.join({ namespace: "a", address: "10.7.7.7", metadata });
      const asked = new OnDemandResources(asking);
      for (const { name } of of(asking, ROUTE)) asked.virtualHosts(name);
      const elsewhere = (asking.resourceSets(CLUSTER) ?? []).filter((set) => set !== asking.hostClusters);
      const naming = [LISTENER, ROUTE, EXTENSION_CONFIG].flatMap((type) => of(asking, type));
      const named = new Set([...naming, ...elsewhere.flatMap((set) => [...set])].flatMap(clustersNamedBy));
      for (const set of asked.clusters(asking.resourceSets(CLUSTER)!)) {
        if (elsewhere.includes(set)) continue;
        for (const { name } of set) assert.ok(named.has(name), name);
      }
      await new Promise((resolve) => setTimeout(resolve, 0));
    }),
    { numRuns: RUNS },
  );
});
