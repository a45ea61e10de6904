/** The mesh's root certificates are in every namespace, and come back; the rights of the manifests are what that takes. */
import assert from "node:assert/strict";
import { FactStore } from "../../../lib/config/facts/store.ts";
import { rootMaps } from "../../../lib/discovery/orch/root_maps.ts";
import { OrchObjects } from "../../../lib/discovery/orch/orchestrator.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import type { ApiClient } from "../../../lib/orch/client/client.ts";
import { DutyRunner } from "../../../lib/orch/leader/duty_runner.ts";
import { CurrentValue } from "../../../lib/pki/current.ts";
import { quickClock } from "../support/scripted_api.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { accountClient, manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import type { RoleRule } from "../support/server/users.ts";

const test = apiServerTests();
const NAME = "mesh-ca-root-cert";
const SYSTEM = "mesh-system";

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

/** Resolves when the config map of a namespace has these roots. */
async function has(server: ApiServer, namespace: string, roots: string): Promise<void> {
  for (let tries = 1;; tries++) {
    const found = await server.objects.get(id(namespace));
    const data = found?.["data"] as Readonly<Record<string, string>> | undefined;
    if (data?.["root-cert.pem"] === roots && found?.metadata.labels?.["mesh.io/config"] === "true") return;
    if (tries === 300) throw new Error(`${namespace}: the config map is ${JSON.stringify(found)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
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

test("the account of the manifests may do it; with one verb less it is refused", async ({ server }) => {
  for (const manifest of manifests("pilot-discovery")) await server.objects.apply(manifest);
  const rules = (kind: "ClusterRole" | "Role") =>
    manifests("pilot-discovery").find((object) => object.kind === kind)?.["rules"] as readonly RoleRule[];
  const ofMaps = (rule: RoleRule) => rule.resources?.includes("configmaps") ?? false;
  const needed = "list watch create patch get update".split(" ");
  for (const [index, without] of [undefined, ...needed].entries()) {
    const account = `keeper-${index}`;
    await server.users.account(SYSTEM, account);
    const subject = { kind: "ServiceAccount", name: account, namespace: SYSTEM } as const;
    const less = (all: readonly RoleRule[]) =>
      all.filter(ofMaps).map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => verb !== without) }))
        .filter(({ verbs }) => verbs.length > 0);
    await server.users.grant(subject, account, less(rules("ClusterRole")));
    await server.users.grant(subject, account, less(rules("Role")), SYSTEM);
    const namespace = await server.namespace();
    const probe = without === "list" ? { verb: "watch" } : { verb: "list" };
    await server.users.granted(SYSTEM, account, { ...probe, resource: "configmaps" });
    using as = await accountClient(server, SYSTEM, account, quickClock(10));
    await using keeper = new Keeper(server.client);
    keeper.roots.set(`of ${account}`);
    const map = { ...id(namespace), data: { "root-cert.pem": "before" } };
    if (!["list", "create"].includes(without ?? "")) await server.objects.create(map);
    await keeper.start(as.client);
    const done = has(server, namespace, `of ${account}`).then(() => "done", () => "not done");
    const refused = as.refused.then((what) => what.split(" ")[0]);
    const methods = { list: "GET", watch: "GET", create: "POST", patch: "PATCH", get: "GET", update: "PUT" };
    const expected = without === undefined ? "done" : methods[without as keyof typeof methods];
    assert.equal(await Promise.race([done, refused]), expected, `without ${without}`);
  }
});
