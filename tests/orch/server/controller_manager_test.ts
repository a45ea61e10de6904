import assert from "node:assert/strict";
import { apiServerTests } from "../support/server/tests.ts";
import { watchConfigMaps } from "../support/config_maps.ts";

const test = apiServerTests({ controllerManager: true });

test("a controller manager acts: each namespace gets the root certificate's config map", async ({ server, namespace }) => {
  const made = Promise.withResolvers<void>();
  const { informer } = watchConfigMaps(server.client, { namespace });
  const stop = informer.subscribe((change) => {
    if (change.upserted.some(({ name }) => name === "kube-root-ca.crt")) made.resolve();
  });
  await made.promise;
  stop();
  await informer.stop();
  const id = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "kube-root-ca.crt" } };
  assert.equal(((await server.objects.get(id))?.["data"] as Record<string, string>)["ca.crt"], server.access.ca);
});
