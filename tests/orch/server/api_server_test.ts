import assert from "node:assert/strict";
import { ApiError } from "../../../lib/orch/client/api_error.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { clientOf } from "../support/server/users.ts";
import { watchConfigMaps } from "../support/config_maps.ts";

const test = apiServerTests();

/** A refusal with a status, whose text has some words. */
function refused(status: number, words: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof ApiError && error.status === status && words.test(error.message);
}

const configMap = (namespace: string, name: string, v: string) => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", data: { v } },
  metadata: { namespace, name },
});

test("objects are made, merged, applied, listed and removed", async ({ server: { objects }, namespace }) => {
  const draft = configMap(namespace, "one", "1");
  const made = await objects.create(draft);
  assert.deepEqual(made["data"], { v: "1" });
  assert.deepEqual((await objects.patch(draft, { data: { w: "2" } }))["data"], { v: "1", w: "2" });
  const applied = await objects.apply({ ...draft, data: { v: "3" } });
  assert.deepEqual(applied["data"], { v: "3", w: "2" });
  assert.equal(applied.metadata.uid, made.metadata.uid);
  assert.deepEqual((await objects.list(draft, namespace)).map(({ metadata }) => metadata.name), ["one"]);
  await objects.delete(draft);
  assert.equal(await objects.get(draft), undefined);
});

test("a watch tells of each change", async ({ server: { client, objects }, namespace }) => {
  const { informer, becomes } = watchConfigMaps(client, { namespace });
  try {
    await becomes(() => []);
    const { metadata: { uid } } = await objects.create(configMap(namespace, "a", "1"));
    await becomes(() => [`${namespace}/a ${uid} 1`]);
    await objects.patch(configMap(namespace, "a", ""), { data: { v: "2" } });
    await becomes(() => [`${namespace}/a ${uid} 2`]);
    await objects.delete(configMap(namespace, "a", ""));
    await becomes(() => []);
  } finally {
    await informer.stop();
  }
});

test("a definition's schema and its CEL rules refuse, with the field named", async ({ server: { objects }, namespace }) => {
  const schema = {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: { low: { type: "integer" }, high: { type: "integer" } },
        "x-kubernetes-validations": [{ rule: "self.low <= self.high", message: "low must not be above high" }],
      },
    },
  };
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } };
  await objects.define({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "ranges.test.mesh.io" },
    spec: {
      ...{ group: "test.mesh.io", scope: "Namespaced", versions: [version] },
      names: { plural: "ranges", kind: "Range" },
    },
  });
  const range = (name: string, low: unknown, high: unknown) => ({
    ...{ apiVersion: "test.mesh.io/v1", kind: "Range", metadata: { namespace, name }, spec: { low, high } },
  });
  await objects.create(range("good", 1, 2));
  await assert.rejects(objects.create(range("swapped", 2, 1)), refused(422, /spec: .*low must not be above high/));
  await assert.rejects(objects.create(range("text", "x", 1)), refused(422, /spec\.low/));
});

test("a user may do exactly what is granted, in the granted namespaces", async ({ server, namespace }) => {
  const access = await server.users.byCertificate("reader", ["people"]);
  const client = clientOf(access);
  const path = (of: string) => `/api/v1/namespaces/${of}/configmaps`;
  await assert.rejects(client.json({ path: path(namespace) }), refused(403, /User "reader" cannot list/));
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }];
  await server.users.grant({ kind: "Group", name: "people" }, "read", rules, namespace);
  await server.users.allowed(access, namespace, { verb: "list", resource: "configmaps" });
  assert.equal((await client.json({ path: path(namespace) }))["kind"], "ConfigMapList");
  await assert.rejects(client.json({ path: path("default") }), refused(403, /cannot list/));
  const body = configMap(namespace, "a", "1");
  await assert.rejects(client.json({ method: "POST", path: path(namespace), body }), refused(403, /cannot create/));
});

test("a token of a service account is reviewed by its audience", async ({ server, namespace }) => {
  await server.users.account(namespace, "app");
  const token = await server.users.token(namespace, "app", ["mesh-ca"]);
  const review = async (...audiences: string[]) => {
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token, audiences } };
    const path = "/apis/authentication.k8s.io/v1/tokenreviews";
    return (await server.client.json({ method: "POST", path, body }))["status"] as {
      readonly authenticated?: boolean;
      readonly user?: { readonly username: string };
    };
  };
  const { authenticated, user } = await review("mesh-ca");
  assert.equal(authenticated, true);
  assert.equal(user?.username, `system:serviceaccount:${namespace}:app`);
  assert.notEqual((await review("another")).authenticated, true);
});
