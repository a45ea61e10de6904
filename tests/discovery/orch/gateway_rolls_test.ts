/** New pods of many Gateways for a shared reason come one after the other; a Gateway's own change does not wait. */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { Rolls } from "../../../lib/discovery/gateways/rolls.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import type { ApiJson } from "../../../lib/orch/client/answer.ts";
import { until } from "../../patience.ts";
import { page } from "../running.ts";
import { becomes, gateway, GATEWAYS, isDeployed, map, MAPS, newApi, PATHS, serving } from "./deployed.ts";
import type { MemoryApi } from "./memory_api.ts";
import { openLog } from "./with_orch.ts";

/** A clock that a test moves. */
function handClock() {
  let now = 0;
  const timers = new Map<object, { readonly at: number; readonly fire: () => void }>();
  return {
    monotonic: () => now,
    after: (ms: number, fire: () => void) => {
      const timer = {};
      timers.set(timer, { at: now + ms, fire });
      return () => void timers.delete(timer);
    },
    pass: (ms: number) => {
      const end = now + ms;
      for (;;) {
        const [next] = [...timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next[0]);
        now = next[1].at;
        next[1].fire();
      }
      now = end;
    },
  };
}

const available: ApiJson = {
  metadata: { generation: 2 },
  spec: { replicas: 1 },
  status: { observedGeneration: 2, replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
};
const rolling: ApiJson = { ...available, metadata: { generation: 3 } };

function started(pause: number) {
  const clock = handClock();
  const turns: string[] = [];
  const deployments = new Map<string, ApiJson>();
  const rolls = new Rolls({
    ...{ clock, pause, log: silentLog().scope("orch"), roll: (gateway) => void turns.push(gateway) },
    deployment: (gateway) => deployments.get(gateway),
  });
  return { clock, turns, deployments, rolls };
}

Deno.test("the first Gateway waits for the pause, the next one for another pause and for the pods of the first", () => {
  const { clock, turns, deployments, rolls } = started(100);
  assert.deepEqual([rolls.mayRoll("a"), rolls.mayRoll("b"), rolls.mayRoll("c")], [false, false, false]);
  clock.pass(99);
  assert.deepEqual(turns, []);
  clock.pass(1);
  assert.deepEqual(turns, ["a"]);
  assert.deepEqual([rolls.mayRoll("b"), rolls.mayRoll("a")], [false, true]);
  deployments.set("a", rolling);
  rolls.began("a", true);
  clock.pass(1000);
  assert.deepEqual([turns, rolls.waiting], [["a"], ["b", "c"]]);
  deployments.set("a", available);
  rolls.look();
  assert.deepEqual(turns, ["a", "b"]);
  rolls.began("b", true);
  clock.pass(99);
  assert.deepEqual(turns, ["a", "b"]);
  clock.pass(1);
  assert.deepEqual(turns, ["a", "b", "c"]);
});

Deno.test("pods that were not available before are not waited for, and neither is a Gateway that is gone", () => {
  const { clock, turns, deployments, rolls } = started(100);
  for (const one of ["a", "b", "c", "d"]) rolls.mayRoll(one);
  clock.pass(100);
  deployments.set("a", rolling);
  rolls.began("a", false);
  clock.pass(100);
  assert.deepEqual(turns, ["a", "b"]);
  rolls.leave("b");
  assert.deepEqual(turns, ["a", "b", "c"]);
  rolls.began("c", true);
  clock.pass(100);
  assert.deepEqual([turns, rolls.waiting], [["a", "b", "c", "d"], ["d"]]);
});

Deno.test("without a pause nothing waits", () => {
  assert.equal(started(0).rolls.mayRoll("a"), true);
});

/** A Deployment's pods. */
const template = (api: MemoryApi, name: string) =>
  (api.get(PATHS.deployment, `${name}-mesh`, "shop")?.["spec"] as { template?: unknown })?.template;

const pods = (api: MemoryApi, name: string) => JSON.stringify(template(api, name));

const ready = (api: MemoryApi, name: string) => {
  const { metadata } = api.get(PATHS.deployment, `${name}-mesh`, "shop")!;
  const status = { replicas: 1, updatedReplicas: 1, availableReplicas: 1, observedGeneration: metadata["generation"] };
  api.edit(PATHS.deployment, `${name}-mesh`, "shop", { status });
};

/** Resolves when the server knows the pods of a Gateway to be available: a later event of the Deployment was heard. */
const knownReady = async (api: MemoryApi, name: string) => {
  ready(api, name);
  const annotations = { "gateway.mesh.io/own-inputs": "edited" };
  api.edit(PATHS.deployment, `${name}-mesh`, "shop", { metadata: { annotations } });
  const isEdited = () => JSON.stringify(api.get(PATHS.deployment, `${name}-mesh`, "shop")).includes('"edited"');
  await becomes(api, "the annotation as it was", () => !isEdited());
};

/** A row of the page. */
interface Row {
  readonly gateway: string;
  readonly state: string;
  readonly turn: number;
}

/** The injector's configuration with a tag of images. */
const release = (tag: string) =>
  map(
    "mesh-sidecar-injector",
    { config: "policy: enabled", values: JSON.stringify({ global: { tag } }) },
    "mesh-system",
  );

Deno.test("another image reaches the Gateways one by one, at MESH_GATEWAY_ROLL_PAUSE; the log and a page name them before", async () => {
  const api = newApi();
  api.put(MAPS, release("v1"));
  for (const name of ["a", "b"]) api.put(GATEWAYS, gateway({}, { name }));
  const { log, line } = openLog();
  await serving(api, async ({ ports }) => {
    await becomes(api, "the deployments", () => isDeployed(api, "a-mesh") && isDeployed(api, "b-mesh"));
    for (const name of ["a", "b"]) await knownReady(api, name);
    api.put(MAPS, release("v2"));
    assert.match(await line(/will get new pods, one after the other/), /shop\/a.*shop\/b|shop\/b.*shop\/a/);
    const isNew = (name: string) => pods(api, name).includes("proxy:v2");
    await becomes(api, "the first roll", () => isNew("a") || isNew("b"));
    const [first, second] = isNew("a") ? ["a", "b"] as const : ["b", "a"] as const;
    await line(/wait until the pods of the last one are available/);
    assert.equal(isNew(second), false);
    await until("the states", async () => {
      const rows = JSON.parse((await page(ports.http!, "/debug/deploymentz")).body) as readonly Row[];
      const states = rows.map(({ gateway, state, turn }) => `${gateway} ${state} ${turn}`).sort();
      return isDeepStrictEqual(states, [`shop/${first} applied 0`, `shop/${second} waiting 1`].sort());
    });
    ready(api, first);
    await becomes(api, "the second roll", () => isNew(second));
  }, { log, settings: { MESH_GATEWAY_ROLL_PAUSE: 20 } });
});

Deno.test("a Gateway whose new pods the API refuses does not keep the others from their turn", async () => {
  const api = newApi();
  api.put(MAPS, release("v1"));
  for (const name of ["a", "b", "c"]) api.put(GATEWAYS, gateway({}, { name }));
  await serving(api, async () => {
    const all = ["a", "b", "c"];
    await becomes(api, "the deployments", () => all.every((name) => isDeployed(api, `${name}-mesh`)));
    api.refusals.set("PATCH /apis/apps/v1/namespaces/shop/deployments/a-mesh", 422);
    api.put(MAPS, release("v2"));
    const isNew = (name: string) => pods(api, name).includes("proxy:v2");
    await becomes(api, "the other rolls", () => isNew("b") && isNew("c"));
    assert.equal(isNew("a"), false);
    api.refusals.clear();
    await becomes(api, "the refused roll", () => isNew("a"));
  }, { settings: { MESH_GATEWAY_ROLL_PAUSE: 20 } });
});

Deno.test("a Gateway's own change and an edit by hand do not wait, and a Gateway's change takes the shared one along", async () => {
  const api = newApi();
  api.put(MAPS, release("v1"));
  for (const name of ["a", "b"]) api.put(GATEWAYS, gateway({}, { name }));
  await serving(api, async ({ ports }) => {
    await becomes(api, "the deployments", () => isDeployed(api, "a-mesh") && isDeployed(api, "b-mesh"));
    const before = template(api, "a");
    api.edit(PATHS.deployment, "a-mesh", "shop", {
      spec: { template: { metadata: { annotations: { "prometheus.io/port": "1" } } } },
    });
    await becomes(api, "the field as it was", () => isDeepStrictEqual(template(api, "a"), before));
    api.put(MAPS, release("v2"));
    const waiting = async () => {
      const rows = JSON.parse((await page(ports.http!, "/debug/deploymentz")).body) as readonly Row[];
      return rows.filter(({ state }) => state === "waiting").length;
    };
    await until("both wait", async () => await waiting() === 2);
    api.edit(GATEWAYS, "b", "shop", { metadata: { annotations: { "sidecar.mesh.io/logLevel": "debug" } } });
    await becomes(api, "the change", () => pods(api, "b").includes("debug"));
    assert.ok(pods(api, "b").includes("proxy:v2"));
    assert.deepEqual(template(api, "a"), before);
    await until("one waits", async () => await waiting() === 1);
  }, { settings: { MESH_GATEWAY_ROLL_PAUSE: 3_600_000 } });
});
