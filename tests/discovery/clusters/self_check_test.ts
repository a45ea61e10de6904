/** The regular check of remote clusters. */
import assert from "node:assert/strict";
import { SelfCheck } from "../../../lib/discovery/sources/self_check.ts";
import { Rotated } from "./memory_cluster.ts";
import { until } from "../../patience.ts";

Deno.test("differences between a remote cluster's facts and its API are repaired and counted by cluster; a former access is not checked any more", async () => {
  const world = new Rotated();
  const { api, clusters, kernel } = world;
  world.putCart();
  api.start();
  const drift = async () =>
    [...(await kernel.metrics.scrape()).body.matchAll(/^pilot_k8s_drift\{(.*)\} (\d+)$/gm)]
      .map(([, labels, count]) => `${labels} ${count}`).sort();
  try {
    const cluster = await world.rotate(1);
    await until("the endpoint", () => world.endpoints === 1);
    const check = new SelfCheck({ clusters: () => clusters.checked(), kernel });
    await check.check(50);
    assert.deepEqual(await drift(), [], "nothing has drifted");

    cluster.registry.apply([], ["Service/shop/cart"]);
    assert.equal(world.endpoints, 0);
    await check.check(50);
    assert.equal(world.endpoints, 1, "it is repaired");
    assert.match((await drift()).join(), /^cluster="west",type="Service",place="services" \d+$/);

    const [checked] = clusters.checked();
    assert.equal(checked?.isOver?.(), false);
    await world.rotate(2);
    assert.equal(checked?.isOver?.(), true);
    await check.stop();
  } finally {
    await clusters.stop();
    await api.stop();
    await kernel.stopper.stop();
  }
});
