/** Random changes in remote clusters: what tunnels get in the end equals what a server gives that reads all at once. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ADDRESS_TYPE_URL } from "../../../lib/ambient/encode.ts";
import type { Fact } from "../../../lib/config/facts/types.ts";
import type { ChangeSet } from "../../../lib/config/store.ts";
import type { ConfigObject } from "../../../lib/config/types.ts";
import { TunnelResources } from "../../../lib/discovery/ambient/tunnels.ts";
import { ResourceTable } from "../../../lib/resource/set.ts";
import { FIRST, VARIANTS } from "../../ambient/networks/variants.ts";
import { NETWORK_SETTINGS } from "../../ambient/networks/world.ts";
import type { WorldObject } from "../../ambient/support/world.ts";
import { runs } from "../../properties.ts";

const REMOTE = ["north", "west"] as const;

/** A server without changes of the own cluster. */
function server(): TunnelResources {
  const resources = new TunnelResources(NETWORK_SETTINGS, {
    mesh: { rootNamespace: "mesh-system", trustDomain: "cluster.local", trustDomainAliases: [] },
    table: new ResourceTable(),
    changed() {},
    failed: (error) => assert.fail(String(error)),
  });
  const own = FIRST.filter(({ cluster }) => cluster === "Kubernetes").map(({ object }) => object);
  const list = (kind: string) => own.filter((object) => object.kind === kind) as (Fact | ConfigObject)[];
  resources.follow({ list, subscribe: () => () => {} }, [...new Set(own.map(({ kind }) => kind))]);
  return resources;
}

const NOTHING = { added: [], updated: [], refreshed: [], removed: [], hidden: { before: [], after: [] } };

function changeOf(now: readonly WorldObject[], old: ReadonlyMap<string, WorldObject>): ChangeSet<Fact | ConfigObject> {
  const objects = now as readonly (Fact | ConfigObject)[];
  const before = (key: string) => old.get(key) as Fact | ConfigObject | undefined;
  return {
    ...NOTHING,
    added: objects.filter(({ key }) => !old.has(key)),
    updated: objects.filter(({ key }) => old.has(key)).map((one) => ({ old: before(one.key)!, new: one })),
  };
}

function addresses(resources: TunnelResources): string[] {
  assert.ok(resources.revision >= 0);
  const [set] = resources.sets(ADDRESS_TYPE_URL)!;
  return [...set!].map(({ name, version }) => `${name} ${version}`).sort();
}

const step = fc.record({
  cluster: fc.constantFrom(...REMOTE),
  variant: fc.integer({ min: 0, max: VARIANTS.length - 1 }),
  what: fc.constantFrom("put", "put", "put", "put", "remove", "gone"),
  looks: fc.boolean(),
});

Deno.test("remote clusters that change, go and come back leave nothing behind, and nothing is missing", () => {
  let split = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: "max" }), (steps) => {
      const resources = server();
      const objects = new Map(REMOTE.map((cluster) => [cluster as string, new Map<string, WorldObject>()]));
      const put = (cluster: string, object: WorldObject) => {
        const of = objects.get(cluster)!;
        resources.remoteChanged(cluster, changeOf([object], of));
        of.set(object.key, object);
      };
      for (const { cluster, object } of FIRST) if (cluster !== "Kubernetes") put(cluster, object);
      for (const { cluster, variant, what, looks } of steps) {
        const object = VARIANTS[variant]!;
        const of = objects.get(cluster)!;
        if (what === "put") put(cluster, object);
        else if (what === "gone") {
          of.clear();
          resources.remoteGone(cluster);
        } else if (of.delete(object.key)) {
          resources.remoteChanged(cluster, { ...NOTHING, removed: [object as Fact | ConfigObject] });
        }
        if (looks) addresses(resources);
      }
      const fresh = server();
      for (const [cluster, of] of objects) fresh.remoteChanged(cluster, changeOf([...of.values()], new Map()));
      const expected = addresses(fresh);
      assert.deepEqual(addresses(resources), expected);
      split += expected.filter((name) => name.includes("SplitHorizon")).length;
      resources.stop();
      fresh.stop();
    }),
    { numRuns: runs(150) },
  );
  assert.ok(split > 10, `${split} workloads stood for another network`);
});
