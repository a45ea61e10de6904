/** Staged rollouts at real Envoys: a rejected edit harms the first stage alone, and is taken back. */
import assert from "node:assert/strict";
import { envoyPath, type TestEnvoy, TestMesh } from "./support/mesh.ts";
import { service } from "./support/door.ts";
import { until } from "../patience.ts";

const path = envoyPath();

const ENVOYS = 20;
const CLUSTER = "outbound|80||app.demo.svc.cluster.local";

/** An EnvoyFilter that changes the clusters of gateways, with a plan. */
const merging = (value: object) =>
  JSON.stringify({
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { name: "tuned", namespace: "demo", annotations: { "istio.io/rollout": "5%:0s,50%:0s,100%:0s" } },
    spec: {
      configPatches: [{ applyTo: "CLUSTER", match: { context: "GATEWAY" }, patch: { operation: "MERGE", value } }],
    },
  });

/** Each field alone is valid. Only Envoy compares the two sizes. */
const BAD = { lb_policy: "RING_HASH", ring_hash_lb_config: { minimum_ring_size: 100, maximum_ring_size: 10 } };

interface Shown {
  readonly phase: string;
  readonly stage: number;
  readonly reason: string;
}

Deno.test({
  name:
    "of twenty Envoys one gets an edit that Envoys reject; all twenty go on with the last good version, and get the next",
  ignore: path === undefined,
  fn: async () => {
    const kept = await Deno.makeTempDir();
    try {
      await using mesh = await TestMesh.start({
        files: { "world.yaml": service("app", 1), "filter.json": merging({ connect_timeout: "2s" }) },
        settings: { MESH_ROLLOUT_DIR: `${kept}/rollouts` },
      });
      const envoys: TestEnvoy[] = [];
      for (let at = 0; at < ENVOYS; at++) {
        const identity = {
          type: "router",
          name: `door${at}`,
          namespace: "demo",
          address: "127.0.0.1",
          labels: {},
        } as const;
        envoys.push(await mesh.attach(path!, identity, at % 2 === 0));
      }
      const having = async (seconds: number) => {
        const clusters = await Promise.all(
          envoys.map((envoy) => envoy.admin("config_dump?resource=dynamic_active_clusters")),
        );
        return clusters.filter((page) => clusterOf(page)?.connect_timeout === `${seconds}s`).length;
      };
      const rollouts = () => mesh.page<Shown[]>("rollouts");
      await until("all have the first version", async () => await having(2) === ENVOYS);
      assert.deepEqual(await rollouts(), [], "the first version is settled");

      await mesh.write("filter.json", merging({ connect_timeout: "5s", ...BAD }));
      await until("it is taken back", async () => (await rollouts())[0]?.phase === "taken-back");
      const [stopped] = await rollouts();
      assert.equal(stopped?.stage, 1);
      assert.match(stopped!.reason, /1 of 1 proxies reject it: .*ring/i);
      const live = await mesh.page<{ everywhere: boolean; why: string[] }>("live?object=EnvoyFilter/demo/tuned");
      assert.equal(live.everywhere, false);
      assert.match(live.why.join(), /stopped at stage 1 of 3 \(5%\)/);
      await until("all have the last good version", async () => await having(2) === ENVOYS);
      const rejecting = await Promise.all(envoys.map(async (envoy) => (await envoy.rejected()).length > 0));
      assert.equal(rejecting.filter((one) => one).length, 1, "no other Envoy has ever seen the bad version");

      await mesh.write("filter.json", merging({ connect_timeout: "3s" }));
      await until("all have the corrected version", async () => await having(3) === ENVOYS);
      await until("the rollout is over", async () => (await rollouts()).length === 0);
      const pushes = await mesh.page<{ reasons: Record<string, number> }[]>("pushes");
      assert.ok(pushes.filter(({ reasons }) => "rollout" in reasons).length >= 4);
    } finally {
      await Deno.remove(kept, { recursive: true });
    }
  },
});

/** The cluster of the service in a page of Envoy. */
function clusterOf(page: string | undefined): { readonly connect_timeout: string } | undefined {
  const { configs = [] } = JSON.parse(page ?? "{}") as {
    readonly configs?: readonly { readonly cluster: { readonly name: string; readonly connect_timeout: string } }[];
  };
  return configs.find(({ cluster: { name } }) => name === CLUSTER)?.cluster;
}
