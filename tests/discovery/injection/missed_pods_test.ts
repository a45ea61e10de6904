/**
 * Pods that should have a proxy and have none are found as pods, namespaces and the configuration change, and no
 * others.
 */
import assert from "node:assert/strict";
import { readFact } from "../../../lib/config/facts/read.ts";
import { FactStore } from "../../../lib/config/facts/store.ts";
import type { FactKind } from "../../../lib/config/facts/types.ts";
import { MissedPods } from "../../../lib/discovery/injector/missed_pods.ts";
import { readInjectionConfig } from "../../../lib/injection/config.ts";
import type { InjectionConfig } from "../../../lib/injection/types.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { openLog } from "../open_log.ts";

const API = { from: "api", source: "c1", uid: "u" } as const;

function fact(kind: FactKind, tree: object) {
  const { fact, findings } = readFact(kind, tree, API, { digestKey: new Uint8Array(32) });
  assert.deepEqual(findings, []);
  return fact!;
}

const namespace = (labels: object) => fact("Namespace", { metadata: { name: "shop", labels } });

/** A running pod with one container. */
const pod = (name: string, metadata: object = {}, spec: object = {}, phase = "Running") =>
  fact("Pod", {
    metadata: { name, namespace: "shop", ...metadata },
    spec: { nodeName: "n1", containers: [{ name: "app", image: "a" }], ...spec },
    status: { phase },
  });

function configOf(tree: object): InjectionConfig {
  const read = readInjectionConfig(tree);
  assert.ok("config" in read);
  return read.config;
}

function started(revision = "") {
  const facts = new FactStore();
  const source = facts.addSource("c1", 0);
  const clock = createFakeClock();
  const { log, lines } = openLog();
  let config: InjectionConfig | undefined = configOf({});
  const scope = { revision, namespace: "mesh-system" };
  const missed = new MissedPods({ facts, scope, config: () => config, log: log.scope("default"), clock });
  return {
    ...{ missed, clock, lines },
    names: () => [...missed.all()].map(({ pod }) => pod),
    add: (...upserted: ReturnType<typeof fact>[]) => source.apply({ upserted, removed: [] }),
    remove: (...removed: string[]) => source.apply({ upserted: [], removed }),
    configure: (tree: object | undefined) => {
      config = tree && configOf(tree);
      missed.lookAgain();
    },
  };
}

Deno.test("running pods of a labelled namespace are found if they have no proxy and no injection status, and did not opt out", () => {
  const { add, names } = started();
  const status = (key: string) => ({ annotations: { [key]: "{}" } });
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "cart-1", uid: "7", controller: true };
  add(
    namespace({ "istio-injection": "enabled" }),
    pod("plain", { ownerReferences: [owner] }),
    pod("proxied", {}, { containers: [{ name: "app" }, { name: "mesh-proxy" }] }),
    pod("istio", {}, { containers: [{ name: "app" }, { name: "istio-proxy" }] }),
    pod("native", {}, { initContainers: [{ name: "mesh-proxy", restartPolicy: "Always" }] }),
    pod("without-a-proxy-by-template", status("sidecar.istio.io/status")),
    pod("opted-out", { labels: { "sidecar.mesh.io/inject": "false" } }),
    pod("opted-out-by-annotation", { annotations: { "sidecar.istio.io/inject": "no" } }),
    pod("of-the-node", {}, { hostNetwork: true }),
    pod("done", {}, {}, "Succeeded"),
    pod("leaving", { deletionTimestamp: "2026-01-01T00:00:00Z" }),
  );
  assert.deepEqual(names(), ["plain"]);
});

Deno.test("labels of the namespace, the configuration and removals count at once; without a configuration nothing is reported", () => {
  const { add, remove, names, configure } = started();
  add(namespace({}), pod("a"), pod("b", { labels: { app: "b" } }));
  assert.deepEqual(names(), []);
  add(namespace({ "mesh.io/rev": "default" }));
  assert.deepEqual(names(), ["a", "b"]);
  configure({ neverInjectSelector: [{ matchLabels: { app: "b" } }] });
  assert.deepEqual(names(), ["a"]);
  configure(undefined);
  assert.deepEqual(names(), []);
  configure({});
  remove("Pod/shop/a");
  assert.deepEqual(names(), ["b"]);
  add(namespace({ "mesh.io/rev": "canary" }));
  assert.deepEqual(names(), []);
});

Deno.test("a server finds the pods of its own revision", () => {
  const { add, names } = started("canary");
  add(namespace({ "mesh.io/rev": "canary" }), pod("a"));
  assert.deepEqual(names(), ["a"]);
  add(namespace({ "mesh-injection": "enabled" }));
  assert.deepEqual(names(), [], "those are of the default revision");
});

Deno.test("a namespace has one line for all its pods, one more when there are more, and one at the end", async () => {
  const { add, remove, clock, lines, missed } = started();
  const said = () => lines.map(({ msg, pods }) => [String(msg).slice(0, 4), pods]);
  add(namespace({ "mesh-injection": "enabled" }), ...Array.from({ length: 50 }, (_, i) => pod(`p${i}`)));
  await clock.advance(5_000);
  assert.deepEqual(said(), [["pods", 50]]);
  assert.deepEqual([lines[0]!["namespace"], lines[0]!["first"]], ["shop", "p0"]);
  remove("Pod/shop/p1");
  await clock.advance(5_000);
  assert.equal(said().length, 1, "fewer are no news");
  add(pod("p1"), pod("p50"));
  await clock.advance(5_000);
  assert.deepEqual(said().at(-1), ["pods", 51]);
  add(namespace({}));
  await clock.advance(5_000);
  assert.equal(said().at(-1)![0], "all ");
  add(namespace({ "mesh-injection": "enabled" }));
  missed.stop();
  assert.equal(clock.pending(), 0);
});
