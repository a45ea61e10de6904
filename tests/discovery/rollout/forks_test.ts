import assert from "node:assert/strict";
import fc from "fast-check";
import type { AnyConfigObject } from "../../../lib/config/types.ts";
import type { StageFacts } from "../../../lib/rollout/machine.ts";
import { isStagedKind } from "../../../lib/rollout/stageable.ts";
import { StagedObjects } from "../../../lib/rollout/staged_objects.ts";
import { contents, Fixture } from "../fixture.ts";
import { manySteps, play, SETTINGS, type Step } from "../random_steps.ts";
import { FarCluster } from "../random_transport.ts";
import { runs } from "../../properties.ts";

/** Runs of each property. */
const RUNS = runs(25);

const ALL_LIVE: StageFacts = { total: 1, chosen: 1, live: 1, failing: 0, refused: 0, words: [], errors: "" };

/** The steps, with a plan on some objects of staged kinds. */
function withPlans(steps: readonly Step[], chances: readonly boolean[]): Step[] {
  return steps.map((one, at) => {
    if (one.do !== "put" || !isStagedKind(one.tree.kind) || !chances[at % chances.length]) return one;
    const { metadata } = one.tree;
    const annotations = { ...(metadata as { annotations?: object }).annotations, "mesh.io/rollout": "30%:0s,100%:0s" };
    return { ...one, tree: { ...one.tree, metadata: { ...metadata, annotations } } } as Step;
  });
}

/** The objects of a proxy: its candidates, and the settled versions of other objects. */
function objectsOf(proxy: string, fixture: Fixture, staged: StagedObjects): AnyConfigObject[] {
  const objects = new Map(fixture.objects);
  for (const { key, settled, proxies } of staged.rollouts()) {
    if (proxies.has(proxy)) continue;
    if (settled === undefined) objects.delete(key);
    else objects.set(key, settled);
  }
  return [...objects.values()];
}

/** Chooses proxies for the rollouts, and makes steps of some. */
function drive(fixture: Fixture, staged: StagedObjects, isStepped: (at: number) => boolean): void {
  const proxies = new Set([...fixture.pipeline.translator.proxies()].map(({ proxy }) => proxy.nodeId));
  for (const [at, { key, object }] of staged.rollouts().entries()) {
    if (isStepped(at)) staged.step(key, ALL_LIVE);
    staged.choose(key, proxies);
    fixture.pipeline.rolloutsChanged([object]);
  }
}

Deno.test("each proxy has the resources of a mesh with its candidates and the settled versions of other objects", async () => {
  let forks = 0;
  let settled = 0;
  await fc.assert(
    fc.asyncProperty(
      manySteps,
      fc.array(fc.boolean(), { minLength: 5, maxLength: 9 }),
      fc.array(fc.boolean(), { minLength: 7, maxLength: 11 }),
      async (steps, planned, stepped) => {
        const staged = new StagedObjects({ now: () => 0, soakMs: 0, domain: "cluster.local" });
        staged.seal();
        let turn = 0;
        const { fixture, joined, networks, farStates } = play(withPlans(steps, planned), true, SETTINGS, undefined, {
          staged,
          beforePush: (world) => {
            const before = staged.rollouts().length;
            drive(world, staged, (at) => stepped[(turn + at) % stepped.length]!);
            turn++;
            if (before > 0) settled++;
          },
        });
        drive(fixture, staged, () => false);
        fixture.pipeline.flush();
        const fresh = new Map<string, Fixture>();
        for (const { node, state } of joined) {
          const objects = objectsOf(state.proxy.nodeId, fixture, staged);
          const world = objects.map(({ hash }) => hash).sort().join();
          if (state.proxy.properties.candidates !== undefined) forks++;
          const other = fresh.getOrInsertComputed(world, () => {
            const made = new Fixture({ cache: true, settings: SETTINGS, mesh: fixture.pipeline.mesh, networks });
            const cluster = farStates.size > 0 ? new FarCluster(made) : undefined;
            for (const far of farStates.values()) cluster?.set(far);
            for (const [place, keys] of fixture.tokenKeys) made.tokenKeys.set(place, keys);
            made.setNamespaces(fixture.namespaces);
            made.setWaypointAddresses(fixture.waypointAddresses);
            made.pipeline.configChanged([], objects);
            made.pipeline.flush();
            return made;
          });
          assert.deepEqual(contents(state), contents(other.join(node)));
        }
        await new Promise((resolve) => setTimeout(resolve, 0));
      },
    ),
    { numRuns: RUNS },
  );
  assert.ok(forks > RUNS / 4, `${forks} proxies had candidates`);
  assert.ok(settled > RUNS / 4, `${settled} pushes had rollouts`);
});
