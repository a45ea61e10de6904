import assert from "node:assert/strict";
import { page, withServer } from "../running.ts";
import { until } from "../../patience.ts";

const world = (timeout: string, plan: string) => `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: cart, namespace: shop }
spec:
  hosts: [cart.shop]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.1 }]
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: cart, namespace: shop, annotations: { mesh.io/rollout: "${plan}" } }
spec:
  hosts: [cart.shop]
  http: [{ timeout: ${timeout}, route: [{ destination: { host: cart.shop } }] }]
`;

interface Shown {
  readonly object: string;
  readonly phase: string;
  readonly stage: number;
  readonly stages: readonly { readonly percent: number; readonly soak: string }[];
}

async function rollouts(port: number): Promise<Shown[]> {
  return JSON.parse((await page(port, "/debug/rollouts")).body);
}

Deno.test("a server keeps its rollouts in MESH_ROLLOUT_DIR, with the soak time of MESH_ROLLOUT_SOAK, and a restart goes on", async () => {
  const kept = await Deno.makeTempDir();
  const settings = { MESH_ROLLOUT_DIR: `${kept}/rollouts`, MESH_ROLLOUT_SOAK: 60_000, PILOT_DEBOUNCE_AFTER: 10 };
  try {
    await withServer({ "a.yaml": world("1s", "10%,100%") }, async ({ ports }, folder) => {
      assert.deepEqual(await rollouts(ports.http), [], "what is there at the first start counts as settled");
      await Deno.writeTextFile(`${folder}/a.yaml`, world("2s", "10%,100%"));
      await until("the rollout begins", async () => (await rollouts(ports.http)).length === 1);
      const [shown] = await rollouts(ports.http);
      assert.deepEqual([shown?.object, shown?.phase, shown?.stage], ["VirtualService/shop/cart", "spreading", 1]);
      assert.deepEqual(shown?.stages, [{ percent: 10, soak: "1m" }, { percent: 100, soak: "1m" }]);
      await until(
        "it is kept",
        async () => (await Deno.readTextFile(`${kept}/rollouts/rollouts.json`)).includes("spreading"),
      );
      const live = JSON.parse((await page(ports.http, "/debug/live?object=VirtualService/shop/cart")).body);
      assert.equal(live.everywhere, false);
      assert.match(live.why.join(), /the rollout is at stage 1 of 2 \(10%\)/);
    }, { settings });
    await withServer({ "a.yaml": world("2s", "10%,100%") }, async ({ ports }) => {
      assert.deepEqual((await rollouts(ports.http)).map(({ phase, stage }) => [phase, stage]), [["spreading", 1]]);
    }, { settings });
    await Deno.writeTextFile(`${kept}/rollouts/rollouts.json`, "{}");
    await assert.rejects(
      () => withServer({ "a.yaml": world("2s", "10%,100%") }, () => Promise.resolve(), { settings }),
      /MESH_ROLLOUT_DIR.*expected a folder whose rollouts can be read/,
    );
  } finally {
    await Deno.remove(kept, { recursive: true });
  }
});

Deno.test("MESH_ROLLOUT_DEFAULTS stages edits of objects without a plan, and its mistakes are named at the start", async () => {
  const kept = await Deno.makeTempDir();
  const settings = {
    ...{ MESH_ROLLOUT_DIR: kept, MESH_ROLLOUT_SOAK: 60_000, PILOT_DEBOUNCE_AFTER: 10 },
    MESH_ROLLOUT_DEFAULTS: "shop/VirtualService=10%,100%",
  };
  const plain = (timeout: string) => world(timeout, "").replace(/annotations: \{[^}]*\} /, "");
  try {
    await withServer({ "a.yaml": plain("1s") }, async ({ ports }, folder) => {
      await Deno.writeTextFile(`${folder}/a.yaml`, plain("2s"));
      await until("the rollout begins", async () => (await rollouts(ports.http)).length === 1);
    }, { settings });
    for (
      const [changed, expected] of [
        [{ MESH_ROLLOUT_DEFAULTS: "Gateway=10%,100%" }, /MESH_ROLLOUT_DEFAULTS.*"Gateway=10%,100%", expected KIND/],
        [{ MESH_ROLLOUT_DIR: "" }, /MESH_ROLLOUT_DEFAULTS.*expected a folder in MESH_ROLLOUT_DIR/],
      ] as const
    ) {
      const changes = { settings: { ...settings, ...changed } };
      await assert.rejects(() => withServer({}, () => Promise.resolve(), changes), expected);
    }
  } finally {
    await Deno.remove(kept, { recursive: true });
  }
});

Deno.test("without a folder for the state nothing is staged, and a finding says so", async () => {
  await withServer({ "a.yaml": world("1s", "10%,100%") }, async ({ ports }, folder) => {
    await Deno.writeTextFile(`${folder}/a.yaml`, world("2s", "10%,100%"));
    await until(
      "the finding",
      async () => (await page(ports.http, "/debug/warningz")).body.includes("rollout-without-effect"),
    );
    assert.deepEqual(await rollouts(ports.http), []);
  }, { settings: { MESH_ROLLOUT_DIR: "", PILOT_DEBOUNCE_AFTER: 10 } });
});
