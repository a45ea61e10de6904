/** A real API server asks the validating webhook before it stores objects. */
import assert from "node:assert/strict";
import { ApiError } from "../../../lib/orch/client/api_error.ts";
import { withServer } from "../../discovery/running.ts";
import { defineKinds } from "../support/feeds.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { PATIENCE } from "../../patience.ts";

const test = apiServerTests();

/** A route whose weights sum to 0: the definitions cannot refuse it. */
const virtualService = (namespace: string, weight: number, labels = {}) => ({
  apiVersion: "networking.mesh.io/v1",
  kind: "VirtualService",
  metadata: { name: "cart", namespace, labels },
  spec: {
    hosts: ["cart"],
    http: [{ route: [{ destination: { host: "a" }, weight }, { destination: { host: "b" }, weight: 0 }] }],
  },
});

test("the API refuses a bad object with the causes, accepts a good object, and accepts labels of an object that is older than the rules", async ({ server, namespace }) => {
  const { objects } = server;
  await defineKinds(server);
  await objects.create(virtualService(namespace, 0));
  const kept = await Deno.makeTempDir();
  await withServer({}, async ({ ports }) => {
    const root = await Deno.readTextFile(`${kept}/authority.pem`);
    const caBundle = btoa(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----\n/.exec(root)![0]);
    const name = `validation.${namespace}.mesh.io`;
    const webhooks = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name },
      webhooks: [{
        ...{ name, sideEffects: "None", admissionReviewVersions: ["v1"], failurePolicy: "Fail" },
        clientConfig: { url: `https://localhost:${ports.webhooks}/validate`, caBundle },
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        rules: [{
          ...{ operations: ["CREATE", "UPDATE"], apiGroups: ["networking.mesh.io"] },
          ...{ apiVersions: ["*"], resources: ["*"] },
        }],
      }],
    };
    await objects.create(webhooks);
    try {
      const other = { ...virtualService(namespace, 0), metadata: { name: "other", namespace } };
      const refusal = await untilRefused(() => objects.create(other));
      assert.equal(refusal.status, 422);
      assert.match(refusal.message, /denied the request: spec\.http\[0\]/);
      await objects.create({ ...virtualService(namespace, 100), metadata: { name: "good", namespace } });
      await objects.apply(virtualService(namespace, 0, { team: "shop" }));
      assert.equal((await objects.get(virtualService(namespace, 0)))?.metadata.labels?.["team"], "shop");
    } finally {
      await objects.delete(webhooks);
    }
  }, {
    options: { secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] }, webhooks: "127.0.0.1:0" },
    settings: { MESHD_CUSTOM_HOST: "localhost", MESH_SELF_SIGNED_CA_DIR: kept },
  });
  await Deno.remove(kept, { recursive: true });
});

/** The API learns of a webhook by a watch, so the first attempts may still pass. Each attempt has another name. */
async function untilRefused(attempt: () => Promise<unknown>): Promise<ApiError> {
  for (const end = Date.now() + PATIENCE; Date.now() < end;) {
    try {
      await attempt();
    } catch (error) {
      if (error instanceof ApiError && error.status === 422) return error;
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the API refused nothing in time");
}
