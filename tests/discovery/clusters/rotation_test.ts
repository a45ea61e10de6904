/** A remote cluster whose access is rotated a thousand times leaves nothing behind. */
import assert from "node:assert/strict";
import { keptBytes } from "../../xds/support/memory.ts";
import { Rotated } from "./memory_cluster.ts";
import { until } from "../../patience.ts";

const ROTATIONS = 1000;
const WARM = 100;
/** Number of watched kinds. */
const WATCHES = 7;

Deno.test("1,000 rotations and removals leave no timer, watch or memory behind, and each connection has the services", async () => {
  const world = new Rotated();
  const { api, clusters, clock, fixture, kernel } = world;
  world.putCart();
  api.start();
  const round = async (number: number) => {
    if (number % 10 === 0) {
      clusters.take([]);
      assert.equal(world.endpoints, 0);
    }
    await world.rotate(number);
    assert.equal(world.endpoints, 1);
    if (number % 100 === 0) fixture.pipeline.flush();
  };
  /** Counts when the last connection has its watches, and the connections before have ended. */
  const count = async () => {
    await until("the watches of one connection", () => api.watching === WATCHES);
    // A watch has a timer for its silence.
    await until("the timers of one connection", () => clock.waiting <= WATCHES);
    api.asked.length = 0;
    return await keptBytes();
  };
  for (let number = 1; number <= WARM; number++) await round(number);
  const before = await count();
  for (let number = WARM + 1; number <= ROTATIONS; number++) await round(number);
  const grown = await count() - before;
  // A connection with its objects is some 50 kB. Code compiled meanwhile is up to 1 MB in all.
  assert(grown / (ROTATIONS - WARM) < 5000, `${grown} bytes`);
  await clusters.stop();
  assert.equal(world.endpoints, 0);
  await until("the end of all watches and timers", () => api.watching === 0 && clock.waiting === 0);
  await kernel.stopper.stop();
  fixture.pipeline.stop();
  await api.stop();
});
