/** Settings of what a server writes into the API: names of objects, elections, queues. */
import assert from "node:assert/strict";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import type { Kernel } from "../../../lib/kernel/kernel.ts";
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import { withServer } from "../../discovery/running.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();

const LOCK = "mesh-namespace-controller-election";

const map = (namespace: string, name: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace, name },
});

/** Runs a server with an authority, whose locks are in a namespace. */
async function serve(
  { kubeconfig }: ApiServer,
  namespace: string,
  settings: Partial<SettingsOf<"pilot-discovery">>,
  run: (server: DiscoveryServer, kernel: Kernel) => Promise<void>,
): Promise<void> {
  const place = { from: "files", files: [kubeconfig], by: "test" } as const;
  const orch = { place, qps: 80, burst: 160, allowed: [], namespace: "", kinds: false, services: false };
  const options = {
    ...{ configDir: undefined, orch, systemNamespace: namespace },
    ...{ secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] }, webhooks: "127.0.0.1:0" },
  };
  const folder = await Deno.makeTempDir();
  const places = { ROOT_CA_DIR: `${folder}/none`, MESH_SELF_SIGNED_CA_DIR: `${folder}/self` };
  const changes = { options, settings: { ...settings, ...places } };
  await withServer({}, (running, _, kernel) => run(running, kernel), changes);
  await Deno.remove(folder, { recursive: true });
}

/** Resolves when a config map of roots is there. */
async function rooted({ objects }: ApiServer, namespace: string, name: string): Promise<void> {
  const roots = async () => (await objects.get(map(namespace, name)))?.["data"] as Record<string, string> | undefined;
  await until(`roots in ${name}`, async () => (await roots())?.["root-cert.pem"]?.startsWith("-----BEGIN") ?? false);
}

test("PILOT_CA_CERT_CONFIGMAP names the config map, POD_NAME the holder of the lock", async ({ server, namespace }) => {
  const settings = { PILOT_CA_CERT_CONFIGMAP: "roots-of-the-test", POD_NAME: "meshd-7" };
  await serve(server, namespace, settings, async () => {
    await rooted(server, namespace, "roots-of-the-test");
    assert.equal(await server.objects.get(map(namespace, "mesh-ca-root-cert")), undefined);
    const lock = await server.objects.get(map(namespace, LOCK));
    assert.match(JSON.stringify(lock?.metadata.annotations), /holderIdentity\W+meshd-7_/);
  });
});

test("without ENABLE_LEADER_ELECTION a server does its duties and takes no lock", async ({ server, namespace }) => {
  await serve(server, namespace, { ENABLE_LEADER_ELECTION: false }, async () => {
    await rooted(server, namespace, "mesh-ca-root-cert");
    assert.equal(await server.objects.get(map(namespace, LOCK)), undefined);
  });
});

test("queues of duties are measured with MESH_ENABLE_CONTROLLER_QUEUE_METRICS alone", async ({ server, namespace }) => {
  for (const wanted of [true, false]) {
    const name = `roots-${wanted}`;
    const settings = { MESH_ENABLE_CONTROLLER_QUEUE_METRICS: wanted, PILOT_CA_CERT_CONFIGMAP: name };
    await serve(server, namespace, settings, async (_, { metrics }) => {
      await rooted(server, namespace, name);
      const page = (await metrics.scrape()).body.toString();
      assert.equal(/pilot_worker_queue_latency_count\{queueID="root certificates"\} [1-9]/.test(page), wanted);
    });
  }
});

test("VALIDATION_WEBHOOK_CONFIG_NAME names the configuration that gets the roots", async ({ server, namespace }) => {
  const configuration = (name: string) => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: `${name}-${namespace}` },
    webhooks: [{
      ...{ name: "validation.mesh.io", sideEffects: "None", admissionReviewVersions: ["v1"], failurePolicy: "Fail" },
      clientConfig: { url: "https://localhost:1/validate" },
      rules: [{ operations: ["CREATE"], apiGroups: ["none.mesh.io"], apiVersions: ["*"], resources: ["*"] }],
    }],
  });
  for (const name of ["chosen", "other"]) await server.objects.create(configuration(name));
  const bundle = async (name: string) => {
    const webhooks = (await server.objects.get(configuration(name)))?.["webhooks"];
    return (webhooks as readonly { clientConfig: { caBundle?: string } }[])[0]!.clientConfig.caBundle ?? "";
  };
  const settings = { VALIDATION_WEBHOOK_CONFIG_NAME: `chosen-${namespace}` };
  await serve(server, namespace, settings, () => until("its roots", async () => await bundle("chosen") !== ""));
  assert.equal(await bundle("other"), "");
  for (const name of ["chosen", "other"]) await server.objects.delete(configuration(name));
});

test("INJECTION_WEBHOOK_CONFIG_NAME names a configuration without a revision that gets the roots; empty: none does", async ({ server, namespace }) => {
  const configuration = (name: string) => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: `${name}-${namespace}` },
    webhooks: [{
      ...{ name: "sidecar-injector.mesh.io", sideEffects: "None", admissionReviewVersions: ["v1"] },
      ...{ failurePolicy: "Fail", clientConfig: { url: "https://localhost:1/inject" } },
      rules: [{ operations: ["CREATE"], apiGroups: ["none.mesh.io"], apiVersions: ["*"], resources: ["*"] }],
    }],
  });
  const bundle = async (name: string) => {
    const webhooks = (await server.objects.get(configuration(name)))?.["webhooks"];
    return (webhooks as readonly { clientConfig: { caBundle?: string } }[])[0]!.clientConfig.caBundle ?? "";
  };
  for (const name of ["named", "unnamed"]) await server.objects.create(configuration(name));
  await serve(server, namespace, { INJECTION_WEBHOOK_CONFIG_NAME: "" }, async () => {
    const settings = { INJECTION_WEBHOOK_CONFIG_NAME: `named-${namespace}` };
    // The first server began earlier: when the second server has written its roots, the first would have written, too.
    await serve(server, namespace, settings, () => until("its roots", async () => await bundle("named") !== ""));
  });
  assert.equal(await bundle("unnamed"), "");
  for (const name of ["named", "unnamed"]) await server.objects.delete(configuration(name));
});
