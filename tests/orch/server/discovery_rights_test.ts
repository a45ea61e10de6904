/** What `manifests/pilot-discovery.yaml` grants is what the server reads: all of it comes, and not with one resource less. */
import assert from "node:assert/strict";
import { FactStore } from "../../../lib/config/facts/store.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import { OrchObjects } from "../../../lib/discovery/orch/orchestrator.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { accountClient, manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import type { RoleRule } from "../support/server/users.ts";

const test = apiServerTests();
const SYSTEM = "mesh-system", ACCOUNT = "meshd";

/** Reads all that the server reads, as an account; resolves with the path that was refused, undefined: none was. */
async function refusedPath(server: ApiServer, account: string): Promise<string | undefined> {
  using as = await accountClient(server, SYSTEM, account);
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const digestKey = crypto.getRandomValues(new Uint8Array(32));
  const store = new ConfigStore();
  const target = {
    objects: (name: string, rank: number) => store.addSource(name, rank),
    facts: new FactStore().addSource("Orch", 0),
    ...{ digestKey, onFindings: () => {} },
  };
  const scope = { namespace: "", kinds: true, services: true };
  const objects = new OrchObjects(as.client, "Orch", scope, target, kernel);
  try {
    return await Promise.race([as.refused, objects.start().then(() => undefined)]);
  } finally {
    await objects.stop();
    await kernel.stopper.stop();
  }
}

/** Makes the definitions of our kinds; the account and what it may do are known to the server when this resolves. */
async function prepare(server: ApiServer): Promise<void> {
  for (const definition of manifests("definitions")) await server.objects.define(definition);
  for (const manifest of manifests("pilot-discovery")) await server.objects.apply(manifest);
  await server.users.granted(SYSTEM, ACCOUNT, { verb: "list", resource: "secrets" });
}

test("with the manifests as they are the server reads everything", async ({ server }) => {
  await prepare(server);
  assert.equal(await refusedPath(server, ACCOUNT), undefined);
});

test("without the right to list one of the resources of our kinds or of facts, its path is refused", async ({ server }) => {
  await prepare(server);
  const role = manifests("pilot-discovery").find(({ kind }) => kind === "ClusterRole")!;
  // Webhooks are read by what keeps them: tests/orch/leader/injection_webhook_test.ts.
  const isRead = ({ apiGroups = [], verbs, resourceNames }: RoleRule) =>
    !apiGroups.every((group) => /istio|admissionregistration/.test(group)) && verbs.includes("list") &&
    resourceNames === undefined;
  const rules = (role["rules"] as readonly RoleRule[]).filter(isRead);
  for (const [index, without] of rules.flatMap(({ resources = [] }) => resources).entries()) {
    const account = `less-${index}`;
    const less = rules.map((rule) => ({ ...rule, resources: rule.resources!.filter((one) => one !== without) }));
    await server.users.account(SYSTEM, account);
    const subject = { kind: "ServiceAccount", name: account, namespace: SYSTEM } as const;
    await server.users.grant(subject, account, less.filter(({ resources }) => resources.length > 0));
    const other = without === "secrets" ? "services" : "secrets";
    await server.users.granted(SYSTEM, account, { verb: "list", resource: other });
    assert.match(await refusedPath(server, account) ?? "", new RegExp(`/${without}$`));
  }
});
