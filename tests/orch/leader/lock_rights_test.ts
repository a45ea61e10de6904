/** The locks of the duties are the locks of the manifests, and each verb on each lock is needed. */
import assert from "node:assert/strict";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { DutyRunner } from "../../../lib/orch/leader/duty_runner.ts";
import { LOCK_RESOURCES, lockForm, type LockName, LOCKS } from "../../../lib/orch/leader/locks.ts";
import { page, withServer } from "../../discovery/running.ts";
import { quickClock } from "../support/scripted_api.ts";
import { everyRightIsNeeded, type Right, rightsOf, SYSTEM } from "../support/server/one_right_less.ts";
import { apiServerTests } from "../support/server/tests.ts";

const test = apiServerTests();
const isLock = (name: string): name is LockName =>
  name in LOCKS || /^mesh-(gateway-(deployment|status-leader)|rollout-leader)-/.test(name);

/** The locks in a manifest. */
function locksOf(manifest: string): readonly LockName[] {
  const names = rightsOf(manifest).map(({ name = "" }) => name).filter(isLock);
  return [...new Set(names)].sort();
}

for (const manifest of ["pilot-discovery", "remote-leader"]) {
  for (const name of locksOf(manifest)) {
    test(`${manifest}: ${name} is read, made and given back by the rights of the manifest; with one verb less it is refused`, async ({ server }) => {
      const { group, version, plural, kind } = LOCK_RESOURCES[lockForm(name)];
      const apiVersion = group === "" ? version : `${group}/${version}`;
      const id = { apiVersion, kind, metadata: { namespace: SYSTEM, name } };
      const needs = (right: Right) =>
        right.resource === plural && (right.name === name || (right.name === undefined && right.verb === "create"));
      await everyRightIsNeeded(server, [manifest], needs, async (as) => {
        const log = silentLog().scope("orch");
        const led = Promise.withResolvers<void>();
        const duty = {
          ...{ lock: name, about: "test" },
          run: (signal: AbortSignal) => {
            led.resolve();
            return new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
          },
        };
        const options = { namespace: SYSTEM, elect: true, identity: as.account, key: "", log };
        const runner = new DutyRunner(as.client, [duty], options);
        await Promise.race([led.promise, as.refused]);
        await runner.stop();
        // Each account makes the lock anew.
        if (await server.objects.get(id) !== undefined) await server.objects.delete(id);
      }, quickClock(8));
    });
  }
}

test("a server with all duties competes for the locks of the manifest, and for no other lock", async ({ server, namespace }) => {
  const place = { from: "files", files: [server.kubeconfig], by: "test" } as const;
  const orch = { place, qps: 0, burst: 1, allowed: [], namespace: "", kinds: true, services: true };
  const kept = await Deno.makeTempDir();
  const asked = new Set<string>();
  for (const ENABLE_CLUSTER_TRUST_BUNDLE_API of [false, true]) {
    await withServer({}, async ({ ports }) => {
      const locks: { lock: string }[] = JSON.parse((await page(ports.http, "/debug/leaderz")).body);
      for (const { lock } of locks) asked.add(lock);
    }, {
      options: {
        ...{ configDir: undefined, orch, systemNamespace: namespace },
        ...{ secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] }, webhooks: "127.0.0.1:0" },
      },
      settings: {
        ...{ ENABLE_CLUSTER_TRUST_BUNDLE_API, PILOT_ENABLE_ANALYSIS: true },
        ...{ PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS: true, ENABLE_MCS_AUTO_EXPORT: true, MESH_SELF_SIGNED_CA_DIR: kept },
      },
    });
  }
  await Deno.remove(kept, { recursive: true });
  assert.deepEqual([...asked].sort(), locksOf("pilot-discovery"));
});
