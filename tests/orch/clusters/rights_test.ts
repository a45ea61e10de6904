/** What `manifests/remote-reader.yaml` grants is what a server needs of a remote cluster, verb by verb. */
import assert from "node:assert/strict";
import { TokenReviews } from "../../../lib/authenticators/token_reviews.ts";
import { ClusterConnection } from "../../../lib/discovery/clusters/connection.ts";
import { SecretRights } from "../../../lib/discovery/credentials/secret_rights.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { kubeconfigOf } from "../support/server/kubeconfig.ts";
import { accountsWithOneRightLess, type Right, SYSTEM } from "../support/server/one_right_less.ts";
import { manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();

/** Reads a cluster as an account. @returns the trouble after a while; undefined: everything was read */
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

  const reads = ({ group, verb }: Right) => verb === "list" && ["", "discovery.k8s.io"].includes(group);
  for await (const { account, without } of accountsWithOneRightLess(server, ["remote-reader"], reads)) {
    if (without === undefined) continue;
    const { resource } = without;
    const isCredential = ["secrets", "configmaps"].includes(resource);
    const { trouble, hasRead } = await troubleOf(server, account, async (connection, hasRead) => {
      await until("the trouble", () => connection.trouble !== undefined);
      if (isCredential) await until("the services", hasRead);
    });
    assert.match(trouble ?? "", new RegExp(`/${resource}\\?`), resource);
    assert.equal(hasRead(), isCredential, resource);
  }
});
