/** Random networks, gateways, services and clusters: what is kept up to date equals what a new server makes. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { tunnelAddresses } from "../../../lib/simulate/tunnel/addresses.ts";
import { tunnelRoute } from "../../../lib/simulate/tunnel/outbound.ts";
import type { WorldObject } from "../support/world.ts";
import { CLUSTERS, FIRST, VARIANTS } from "./variants.ts";
import { NetworkWorld } from "./world.ts";
import { runs } from "../../properties.ts";

/** A change of an object of a cluster, or the end of a remote cluster. */
const change = fc.record({
  cluster: fc.constantFrom(...CLUSTERS),
  variant: fc.integer({ min: 0, max: VARIANTS.length - 1 }),
  what: fc.constantFrom("put", "put", "put", "put", "remove", "leave"),
  looks: fc.boolean(),
});

const versionsOf = (world: NetworkWorld) => world.resources().map(({ name, version }) => `${name} ${version}`);

/** A world after changes, and a new world of the same objects. */
function bothWorlds(changes: readonly (typeof change extends fc.Arbitrary<infer T> ? T : never)[]) {
  const world = new NetworkWorld();
  const objects = new Map(CLUSTERS.map((cluster) => [cluster as string, new Map<string, WorldObject>()]));
  for (const { cluster, object } of FIRST) {
    objects.get(cluster)!.set(object.key, object);
    world.put([object], cluster);
  }
  for (const { cluster, variant, what, looks } of changes) {
    const object = VARIANTS[variant]!;
    const of = objects.get(cluster)!;
    if (what === "leave" && cluster !== "Kubernetes") {
      of.clear();
      world.clusters.drop(cluster);
    } else if (what === "put") {
      of.set(object.key, object);
      world.put([object], cluster);
    } else {
      of.delete(object.key);
      world.clusters.remove(object.key, cluster);
    }
    if (looks) world.resources();
  }
  const fresh = new NetworkWorld();
  // Another order of clusters.
  for (const [cluster, of] of [...objects].reverse()) fresh.put([...of.values()], cluster);
  return { world, fresh };
}

Deno.test("after random changes in several clusters, resources equal those of a new server", () => {
  const seen = { split: 0, gateways: 0, most: 0 };
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40, size: "max" }), (changes) => {
      const { world, fresh } = bothWorlds(changes);
      const expected = versionsOf(fresh);
      assert.deepEqual(versionsOf(world), expected);
      seen.split += expected.filter((name) => name.includes("SplitHorizon")).length;
      seen.gateways += expected.filter((name) => name.startsWith("NetworkGateway")).length;
      seen.most = Math.max(seen.most, expected.length);
    }),
    { numRuns: runs(250) },
  );
  assert.ok(seen.split > 20 && seen.gateways > 50 && seen.most > 5, JSON.stringify(seen));
});

Deno.test("no way leads into another network but by a known gateway of that network", () => {
  const seen = { gateway: 0, refused: 0, direct: 0 };
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40, size: "max" }), (changes) => {
      const sent = bothWorlds(changes).world.messages();
      const addresses = tunnelAddresses(sent);
      const own = sent.flatMap(({ workload }) => workload ?? []);
      const clients = own.filter(({ cluster_id, tunnel_protocol, network_gateway }) =>
        cluster_id === "Kubernetes" && tunnel_protocol === 1 && network_gateway === undefined
      );
      const gateways = own.filter(({ uid = "" }) => uid.startsWith("NetworkGateway/"));
      for (const client of clients) {
        for (const ip of ["10.96.0.0", "10.96.0.1", "10.97.0.0", "10.97.0.1", "240.0.0.1"]) {
          const route = tunnelRoute(client, { ip, port: 80 }, addresses);
          if (route.to === "refused") seen.refused++;
          if (route.to !== "hops") continue;
          for (const { workload, transport, dialled } of route.hops) {
            const isFar = (workload.network ?? "") !== (client.network ?? "");
            assert.equal(transport === "gateway", isFar);
            if (!isFar) {
              seen.direct++;
              continue;
            }
            seen.gateway++;
            assert.ok(
              gateways.some(({ uid, network }) =>
                network === workload.network && uid === `NetworkGateway/${network}/${dialled.ip}/${dialled.port}`
              ),
              `${dialled.ip} is no gateway into ${workload.network}`,
            );
          }
        }
      }
    }),
    { numRuns: runs(250) },
  );
  assert.ok(seen.gateway > 10 && seen.refused > 10 && seen.direct > 10, JSON.stringify(seen));
});
