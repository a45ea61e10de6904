/** What `manifests/remote-reader.yaml` grants is what a server needs of a remote cluster, verb by verb. */
import assert from "node:assert/strict";
import { TokenReviews } from "../../../lib/authenticators/token_reviews.ts";
import { ClusterConnection } from "../../../lib/discovery/clusters/connection.ts";
import { SecretRights } from "../../../lib/discovery/credentials/secret_rights.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { until } from "../../e2e/support/mesh.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { kubeconfigOf } from "../support/server/kubeconfig.ts";
import { manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import type { RoleRule } from "../support/server/users.ts";

const test = apiServerTests();
const SYSTEM = "mesh-system";

/** Reads a cluster as an account. @returns what is wrong after a while; undefined: all was read */
async function troubleOf(
  server: ApiServer,
  account: string,
  run = async (_: ClusterConnection, _hasRead: () => boolean) => {},
) {
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const text = kubeconfigOf(server.users.byToken(await server.users.token(SYSTEM, account)));
  const options = {
    qps: 0,
    burst: 1,
    allowed: [],
    namespace: "",
    digestKey: new Uint8Array(32),
    onFindings: () => {},
    entries: true,
  };
  const connection = new ClusterConnection("west", { name: "test", text }, [], options, kernel);
  try {
    let hasRead = false;
    void connection.start().then((done) => hasRead = done);
    await until("all, or a trouble", () => hasRead || connection.trouble !== undefined);
    await run(connection, () => hasRead);
    return { trouble: connection.trouble, hasRead: () => hasRead, connection };
  } finally {
    await connection.stop();
    await kernel.stopper.stop();
  }
}

test("with the manifest as it is everything is read and asked; with one resource less its path is refused, and without secrets services come all the same", async ({ server, namespace }) => {
  const { users, objects } = server;
  for (const manifest of manifests("remote-reader")) await objects.apply(manifest);
  const asks = { verb: "create", resource: "subjectaccessreviews", group: "authorization.k8s.io" };
  await users.granted(SYSTEM, "mesh-reader", asks);
  await users.account(namespace, "cart");
  const token = await users.token(namespace, "cart", ["mesh-ca"]);
  const { trouble } = await troubleOf(server, "mesh-reader", async ({ client }) => {
    const review = await new TokenReviews(client, () => true).review(token, ["mesh-ca"], undefined);
    assert.equal(review.username, `system:serviceaccount:${namespace}:cart`);
    const stop = new AbortController();
    const rights = new SecretRights(client, silentLog().scope("authorization"), stop.signal);
    await until("the right", () => rights.of(namespace, "cart", () => {}) === "denied");
    stop.abort();
  });
  assert.equal(trouble, undefined);

  const role = manifests("remote-reader").find(({ kind }) => kind === "ClusterRole")!;
  const rules = (role["rules"] as readonly RoleRule[]).filter(({ apiGroups, verbs }) =>
    verbs.includes("list") && apiGroups!.every((group) => ["", "discovery.k8s.io"].includes(group))
  );
  for (const [index, without] of rules.flatMap(({ resources = [] }) => resources).entries()) {
    const account = `less-${index}`;
    const less = rules.map((rule) => ({ ...rule, resources: rule.resources!.filter((one) => one !== without) }));
    await users.account(SYSTEM, account);
    const subject = { kind: "ServiceAccount", name: account, namespace: SYSTEM } as const;
    await users.grant(subject, account, less.filter(({ resources }) => resources.length > 0));
    const last = less.flatMap(({ resources, apiGroups }) => resources.map((resource) => [resource, apiGroups![0]!]));
    const [resource, group] = last.at(-1)!;
    await users.granted(SYSTEM, account, {
      verb: "list",
      resource: resource!,
      ...group === "" ? {} : { group: group! },
    });
    const isCredential = ["secrets", "configmaps"].includes(without);
    const { trouble, hasRead } = await troubleOf(server, account, async (connection, hasRead) => {
      await until("the trouble", () => connection.trouble !== undefined);
      if (isCredential) await until("the services", hasRead);
    });
    assert.match(trouble ?? "", new RegExp(`/${without}\\?`), without);
    assert.equal(hasRead(), isCredential, without);
  }
});
