/** A real API says who may list secrets; the account of the manifests may ask. */
import assert from "node:assert/strict";
import { SecretRights } from "../../../lib/discovery/credentials/secret_rights.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import type { ApiClient } from "../../../lib/orch/client/client.ts";
import { accountClient, manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();
const SYSTEM = "mesh-system";

test("an account that may list secrets of its namespace is allowed, another is not, and asking takes the right to ask", async ({ server, namespace }) => {
  const { users, objects } = server;
  for (const manifest of manifests("pilot-discovery")) await objects.apply(manifest);
  await users.granted(SYSTEM, "meshd", {
    ...{ verb: "create", resource: "subjectaccessreviews", group: "authorization.k8s.io" },
  });
  for (const name of ["gateway", "cart"]) await users.account(namespace, name);
  const rule = { apiGroups: [""], resources: ["secrets"], verbs: ["list"] };
  await users.grant({ kind: "ServiceAccount", name: "gateway", namespace }, "reads-secrets", [rule], namespace);
  await users.granted(namespace, "gateway", { verb: "list", resource: "secrets" });
  const answers = async (client: ApiClient, name: string) => {
    const stop = new AbortController();
    const rights = new SecretRights(client, silentLog().scope("authorization"), stop.signal);
    const right = () => rights.of(namespace, name, () => {});
    await until(`the right of ${name}`, () => right() !== "unknown");
    stop.abort();
    return right();
  };
  using as = await accountClient(server, SYSTEM, "meshd");
  assert.equal(await answers(as.client, "gateway"), "allowed");
  assert.equal(await answers(as.client, "cart"), "denied");
  await users.account(SYSTEM, "without");
  using without = await accountClient(server, SYSTEM, "without");
  const stop = new AbortController();
  const rights = new SecretRights(without.client, silentLog().scope("authorization"), stop.signal);
  assert.equal(rights.of(namespace, "gateway", () => {}), "unknown");
  assert.match(await without.refused, /POST .*subjectaccessreviews/);
  assert.equal(rights.of(namespace, "gateway", () => {}), "unknown", "what is not known is not served");
  stop.abort();
});
