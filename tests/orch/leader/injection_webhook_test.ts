/**
 * Configurations of the mutating webhook get the server's roots: in configurations of the server's revision, in the
 * mesh's entries, in one field.
 */
import assert from "node:assert/strict";
import { type InjectionWebhookParts, keepInjectionWebhook } from "../../../lib/discovery/duties/injection_webhook.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { writeCertificates } from "../../../lib/pki/certificate.ts";
import { CurrentValue } from "../../../lib/pki/current.ts";
import { openLog } from "../../discovery/open_log.ts";
import { makeRoot } from "../../pki/support/make.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { everyRightIsNeeded, type Right, SYSTEM } from "../support/server/one_right_less.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();
const NAMED = "mesh-sidecar-injector";
const KIND = { apiVersion: "admissionregistration.k8s.io/v1", kind: "MutatingWebhookConfiguration" };
const idOf = (name: string) => ({ ...KIND, metadata: { name } });

interface Entry {
  readonly name: string;
  readonly clientConfig: { readonly caBundle?: string };
  readonly failurePolicy: string;
}

const service = (namespace: string) => ({ service: { name: "meshd", namespace, path: "/inject", port: 15017 } });

/** An entry that never calls a webhook: the rule is for a missing resource. */
const entry = (name: string, clientConfig: object = service(SYSTEM)) => ({
  ...{ name, clientConfig, failurePolicy: "Ignore", sideEffects: "None", admissionReviewVersions: ["v1"] },
  rules: [{ operations: ["CREATE"], apiGroups: ["none.mesh.io"], apiVersions: ["*"], resources: ["*"] }],
});

/** Makes a configuration, and removes the configuration when disposed of. */
async function install(
  { objects }: ApiServer,
  name: string,
  labels: Readonly<Record<string, string>>,
  ...webhooks: readonly object[]
): Promise<AsyncDisposable> {
  await objects.create({ ...KIND, metadata: { name, labels }, webhooks });
  return { [Symbol.asyncDispose]: () => objects.delete(idOf(name)) };
}

async function bundlesOf({ objects }: ApiServer, name: string): Promise<string[]> {
  const entries = (await objects.get(idOf(name)))?.["webhooks"] as readonly Entry[];
  return entries.map(({ clientConfig: { caBundle = "" } }) => caBundle);
}

/** Keeps configurations up to date until disposed of. */
function keep(server: ApiServer, roots: CurrentValue<string>, changes: Partial<InjectionWebhookParts> = {}) {
  const stop = new AbortController();
  const metrics = createMetrics("pilot-discovery");
  const { log, lines } = openLog();
  const own = { name: NAMED, revision: "", namespace: SYSTEM, roots, metrics, log: log.scope("orch") };
  const done = keepInjectionWebhook({ client: server.client, ...own, ...changes }, stop.signal);
  const end = async () => {
    stop.abort();
    await done;
  };
  return { metrics, lines, [Symbol.asyncDispose]: end };
}

/** The API accepts certificates alone. */
const [root, next] = [await pemOfRoot(), await pemOfRoot()];

async function pemOfRoot(): Promise<string> {
  return writeCertificates([(await makeRoot()).certificate]);
}

test("both spellings of label and entry get the roots, old and new together, and again after their removal; no other field changes", async ({ server }) => {
  const both = [entry("namespace.sidecar-injector.mesh.io"), entry("namespace.sidecar-injector.istio.io")];
  await using _named = await install(server, NAMED, { "mesh.io/rev": "default" }, ...both);
  await using _tag = await install(server, "mesh-revision-tag-prod", { "istio.io/rev": "default" }, ...both);
  const roots = new CurrentValue("");
  await using kept = keep(server, roots);
  roots.set(root);
  const all = async () => [...await bundlesOf(server, NAMED), ...await bundlesOf(server, "mesh-revision-tag-prod")];
  await until("roots", async () => (await all()).every((one) => one === btoa(root)));
  roots.set(root + next);
  await until("old and new roots", async () => (await all()).every((one) => one === btoa(root + next)));
  // Like an installer that knows nothing of roots.
  await server.objects.patch(idOf(NAMED), { webhooks: both });
  await until("roots again", async () => (await all()).every((one) => one === btoa(root + next)));
  const { webhooks, metadata } = (await server.objects.get(idOf(NAMED)))!;
  assert.deepEqual((webhooks as readonly Entry[]).map(({ failurePolicy }) => failurePolicy), ["Ignore", "Ignore"]);
  assert.deepEqual(metadata.labels, { "mesh.io/rev": "default" });
  assert.match(
    (await kept.metrics.scrape()).body,
    /webhook_patch_attempts_total\{name="mesh-sidecar-injector"\} [3-9]/,
  );
});

test("another revision, another control plane of the same revision, and entries that do not inject stay as they are", async ({ server }) => {
  const own = entry("rev.namespace.sidecar-injector.mesh.io");
  const foreign = entry("namespace.sidecar-injector.istio.io", service("istio-system"));
  const external = entry("object.sidecar-injector.istio.io", { url: "https://istiod.example.com/inject" });
  await using _other = await install(server, "mesh-sidecar-injector-canary", { "mesh.io/rev": "canary" }, own);
  await using _peers = await install(
    server,
    "istio-sidecar-injector",
    { "istio.io/rev": "default" },
    foreign,
    external,
  );
  await using _plain = await install(server, "without-label", {}, own);
  await using _last = await install(server, NAMED, {}, entry("other.mesh.io"), own);
  await using _ = keep(server, new CurrentValue(root));
  await until("the named one", async () => (await bundlesOf(server, NAMED))[1] === btoa(root));
  assert.equal((await bundlesOf(server, NAMED))[0], "");
  for (const name of ["mesh-sidecar-injector-canary", "istio-sidecar-injector", "without-label"]) {
    assert.deepEqual((await bundlesOf(server, name)).filter((one) => one !== ""), [], name);
  }
});

test("a server of a revision keeps its own configurations; the named one of another revision is counted", async ({ server }) => {
  const own = entry("rev.namespace.sidecar-injector.mesh.io");
  await using _canary = await install(server, "mesh-sidecar-injector-canary", { "mesh.io/rev": "canary" }, own);
  await using _default = await install(server, NAMED, { "mesh.io/rev": "default" }, own);
  await using kept = keep(server, new CurrentValue(root), { revision: "canary" });
  await until("its roots", async () => (await bundlesOf(server, "mesh-sidecar-injector-canary"))[0] === btoa(root));
  await until(
    "the count",
    async () => /failures_total\{[^}]*reason="wrong_revision"/.test((await kept.metrics.scrape()).body),
  );
  assert.deepEqual(await bundlesOf(server, NAMED), [""]);
});

test("an entry that is deleted while it is patched stays deleted, and the others get the roots", async ({ server }) => {
  const [first, second] = [entry("namespace.sidecar-injector.mesh.io"), entry("object.sidecar-injector.mesh.io")];
  await using _ = await install(server, NAMED, { "mesh.io/rev": "default" }, first, second);
  const roots = new CurrentValue("");
  const access = server.client;
  let removed = false;
  const client = new Proxy(access, {
    get: (target, key) => {
      const value = Reflect.get(target, key, target) as unknown;
      if (key !== "tell") return typeof value === "function" ? value.bind(target) : value;
      return async (request: Parameters<typeof access.tell>[0]) => {
        if (!removed) {
          removed = true;
          await server.objects.patch(idOf(NAMED), { webhooks: [second] });
        }
        return await target.tell(request);
      };
    },
  });
  await using kept = keep(server, roots, { client });
  roots.set(root);
  await until("the roots", async () => (await bundlesOf(server, NAMED))[0] === btoa(root));
  const entries = (await server.objects.get(idOf(NAMED)))?.["webhooks"] as readonly Entry[];
  assert.deepEqual(entries.map(({ name }) => name), [second.name]);
  assert.match((await kept.metrics.scrape()).body, /failures_total\{[^}]*reason="webhook_update_failure"\} 1/);
  assert.match((await kept.metrics.scrape()).body, /retries_total\{name="mesh-sidecar-injector"\} 1/);
});

for (const file of ["pilot-discovery", "remote-leader"]) {
  test(`the account of ${file} may do it; with one verb less it is refused`, async ({ server }) => {
    const TAG = "mesh-revision-tag-default";
    const needs = ({ resource }: Right) => resource === "mutatingwebhookconfigurations";
    await everyRightIsNeeded(server, [file], needs, async (as) => {
      const own = [{ "mesh.io/rev": "default" }, entry("sidecar-injector.mesh.io")] as const;
      await using _named = await install(server, NAMED, ...own);
      await using _tag = await install(server, TAG, ...own);
      await using _kept = keep(server, new CurrentValue(root), { client: as.client });
      const all = async () => [...await bundlesOf(server, NAMED), ...await bundlesOf(server, TAG)];
      await as.until("roots", async () => (await all()).every((one) => one === btoa(root)));
      if (as.without?.verb === "watch") await as.refused;
    });
  });
}
