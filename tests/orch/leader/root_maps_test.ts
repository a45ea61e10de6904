/**
 * The mesh's root certificates are in every namespace, and come back; the work needs exactly the rights of the
 * manifests.
 */
import assert from "node:assert/strict";
import { FactStore } from "../../../lib/config/facts/store.ts";
import { rootMaps } from "../../../lib/discovery/duties/root_maps.ts";
import { OrchObjects } from "../../../lib/discovery/sources/orchestrator.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import type { ApiClient } from "../../../lib/orch/client/client.ts";
import { DutyRunner } from "../../../lib/orch/leader/duty_runner.ts";
import { CurrentValue } from "../../../lib/pki/current.ts";
import { quickClock } from "../support/scripted_api.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { everyRightIsNeeded, type Right, SYSTEM } from "../support/server/one_right_less.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();
const NAME = "mesh-ca-root-cert";

/** The duty, done by one server. */
class Keeper {
  readonly roots = new CurrentValue("");
  readonly facts = new FactStore();
  readonly left = new Set<string>();
  readonly #kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  readonly #objects: OrchObjects;
  #changed = () => {};
  runner: DutyRunner | undefined;

  /** @param admin Reads the namespaces. */
  constructor(admin: ApiClient) {
    const store = new ConfigStore();
    this.#objects = new OrchObjects(admin, "Orch", { namespace: "", kinds: false, services: false }, {
      objects: (name, rank) => store.addSource(name, rank),
      facts: this.facts.addSource("Orch", 0),
      ...{ digestKey: crypto.getRandomValues(new Uint8Array(32)), onFindings: () => {} },
    }, this.#kernel);
  }

  async start(client: ApiClient): Promise<void> {
    await this.#objects.start();
    const log = silentLog().scope("orch");
    const namespaces = {
      has: (name: string) => !this.left.has(name),
      onChange: (listener: () => void) => {
        this.#changed = listener;
        return () => {};
      },
    };
    const { facts, roots } = this;
    const duty = rootMaps({ client, facts, namespaces, roots, name: NAME, log, metrics: this.#kernel.metrics });
    const options = { namespace: SYSTEM, elect: true, identity: crypto.randomUUID(), key: "", log };
    this.runner = new DutyRunner(client, [duty], options);
  }

  /** Leaves a namespace out, or takes it in. */
  choose(namespace: string, chosen: boolean): void {
    if (chosen) this.left.delete(namespace);
    else this.left.add(namespace);
    this.#changed();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.runner?.stop();
    await this.#objects.stop();
    await this.#kernel.stopper.stop();
  }
}

const id = (namespace: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: NAME } });

/** The roots in the config map of a namespace; undefined: there is none with our label. */
async function rootsIn(server: ApiServer, namespace: string): Promise<string | undefined> {
  const found = await server.objects.get(id(namespace));
  if (found?.metadata.labels?.["mesh.io/config"] !== "true") return undefined;
  return (found["data"] as Readonly<Record<string, string>> | undefined)?.["root-cert.pem"];
}

/** Resolves when the config map of a namespace has the given roots. */
async function has(server: ApiServer, namespace: string, roots: string): Promise<void> {
  await until(`${namespace}: ${roots}`, async () => await rootsIn(server, namespace) === roots);
}

test("roots are in all namespaces that are chosen, come back when they are edited or removed, and follow", async ({ server, namespace }) => {
  await server.objects.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: SYSTEM } });
  const left = await server.namespace();
  await using keeper = new Keeper(server.client);
  keeper.roots.set("one");
  keeper.choose(left, false);
  await keeper.start(server.client);
  for (const each of [namespace, "default", "kube-system", SYSTEM]) await has(server, each, "one");
  await server.objects.patch(id(namespace), { data: { "root-cert.pem": "forged", other: "stays" } });
  await has(server, namespace, "one");
  assert.deepEqual((await server.objects.get(id(namespace)))?.["data"], { "root-cert.pem": "one", other: "stays" });
  await server.objects.patch(id(namespace), { metadata: { labels: null } });
  await has(server, namespace, "one");
  await server.objects.delete(id(namespace));
  await has(server, namespace, "one");
  keeper.roots.set("two");
  await has(server, namespace, "two");
  await has(server, await server.namespace(), "two");
  for (const each of [left, "kube-public", "kube-node-lease"]) {
    assert.equal(await server.objects.get(id(each)), undefined, each);
  }
  keeper.choose(left, true);
  await has(server, left, "two");
});

test("another server goes on when the first leaves; the first writes nothing after that", async ({ server, namespace }) => {
  await server.objects.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: SYSTEM } });
  await using first = new Keeper(server.client);
  await using second = new Keeper(server.client);
  first.roots.set("first");
  second.roots.set("second");
  await first.start(server.client);
  await has(server, namespace, "first");
  await second.start(server.client);
  assert.equal(second.runner?.states()[0]?.leads, false);
  await first.runner?.stop();
  await has(server, namespace, "second");
  first.roots.set("late");
  await server.objects.delete(id(namespace));
  await has(server, namespace, "second");
});

/** The manifests of a server in its own cluster, and in a cluster that the server leads. */
for (const files of [["pilot-discovery"], ["remote-reader", "remote-leader"]]) {
  test(`the account of ${files.join(" and ")} may do it; with one verb less it is refused`, async ({ server }) => {
    const LOCK = "mesh-namespace-controller-election";
    const needs = ({ resource, name, role }: Right) =>
      resource === "configmaps" && (role === "ClusterRole" || name === LOCK);
    await everyRightIsNeeded(server, files, needs, async (as) => {
      const namespace = await server.namespace();
      await using keeper = new Keeper(server.client);
      keeper.roots.set(`of ${as.account}`);
      const map = { ...id(namespace), data: { "root-cert.pem": "before" } };
      if (!["list", "create"].includes(as.without?.verb ?? "")) await server.objects.create(map);
      await keeper.start(as.client);
      await as.until("the roots", async () => await rootsIn(server, namespace) === `of ${as.account}`);
      if (as.without?.verb === "watch") await as.refused;
    }, quickClock(10));
  });
}
