/** A real API with the objects of `pilot-discovery manifests`: a revision and a tag beside the default revision. */
import assert from "node:assert/strict";
import { keepInjectionWebhook } from "../../../lib/discovery/duties/injection_webhook.ts";
import { injectPod } from "../../../lib/injection/steps/inject.ts";
import { readPod } from "../../../lib/injection/pod.ts";
import { installObjects, type PartName } from "../../../lib/install/parts.ts";
import { withoutComments } from "../../../lib/install/template/resolved.ts";
import { defaultValues, type InstallValues } from "../../../lib/install/values/values.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { readSettings } from "../../../lib/kernel/settings/read.ts";
import { ApiError } from "../../../lib/orch/client/api_error.ts";
import type { ApiClient } from "../../../lib/orch/client/client.ts";
import { writeCertificates } from "../../../lib/pki/certificate.ts";
import { CurrentValue } from "../../../lib/pki/current.ts";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import { withServer } from "../../discovery/running.ts";
import { settingsOf } from "../../injection/support.ts";
import { makeRoot } from "../../pki/support/make.ts";
import { until } from "../../patience.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import type { ObjectDraft, ObjectId, StoredObject } from "../support/server/objects.ts";
import { SYSTEM } from "../support/server/one_right_less.ts";
import { accountClient } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";

const test = apiServerTests();

type Draft = ObjectDraft & ObjectId;
type Labels = Readonly<Record<string, string>>;

const CANARY = { revision: "canary" };
const INJECTION = "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration";
const VALIDATION = { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingWebhookConfiguration" };

function draftsOf(values: Partial<InstallValues>, ...parts: readonly PartName[]): readonly Draft[] {
  const all = parts.length === 0 ? undefined : parts;
  return installObjects(defaultValues(values), all).map(withoutComments) as unknown as readonly Draft[];
}

async function apply({ objects }: ApiServer, drafts: readonly Draft[]): Promise<void> {
  for (const draft of drafts) await objects.apply(draft);
}

/** Deletes what is there, as `kubectl delete --ignore-not-found` does. */
async function remove({ objects }: ApiServer, drafts: readonly Draft[]): Promise<void> {
  for (const draft of drafts) if (await objects.get(draft) !== undefined) await objects.delete(draft);
}

/** The roots in a configuration of the mutating webhook, each once. */
async function rootsOf({ objects }: ApiServer, name: string): Promise<string> {
  const [apiVersion, kind] = INJECTION.split(" ") as [string, string];
  const entries = (await objects.get({ apiVersion, kind, metadata: { name } }))?.["webhooks"] as readonly {
    readonly clientConfig: { readonly caBundle?: string };
  }[];
  return [...new Set(entries.map(({ clientConfig: { caBundle = "" } }) => atob(caBundle)))].join("\n");
}

/** Keeps the roots like a server of the revision, by the account of the revision. */
async function keepingRoots(server: ApiServer, revision: string, root: string) {
  const suffix = revision === "default" ? "" : `-${revision}`;
  const of = { verb: "list", resource: "mutatingwebhookconfigurations", group: "admissionregistration.k8s.io" };
  await server.users.granted(SYSTEM, `meshd${suffix}`, of);
  const account = await accountClient(server, SYSTEM, `meshd${suffix}`);
  const stop = new AbortController();
  const done = keepInjectionWebhook({
    ...{ client: account.client, name: `mesh-sidecar-injector${suffix}`, revision, namespace: SYSTEM },
    ...{ roots: new CurrentValue(root), log: silentLog().scope("orch"), metrics: createMetrics("pilot-discovery") },
  }, stop.signal);
  return {
    client: account.client,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await done;
      account[Symbol.dispose]();
    },
  };
}

/** Whether an account may change a webhook configuration. */
async function mayPatch(client: ApiClient, name: string): Promise<boolean> {
  const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${name}?dryRun=All`;
  try {
    await client.tell({ method: "PATCH", path, type: "application/merge-patch+json", body: { metadata: {} } });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return false;
    throw error;
  }
}

test("each revision keeps its own webhooks by its own account; a tag that is moved is kept by the other; a removed revision leaves all else", async ({ server }) => {
  const [ofDefault, ofCanary] = [await rootText(), await rootText()];
  const tagged = (values: Partial<InstallValues>) => draftsOf({ ...values, tags: ["prod"] }, "tags");
  const installed = draftsOf({}, "base", "rights", "server", "validation", "injection");
  const canary = draftsOf(CANARY);
  try {
    await apply(server, [...installed, ...canary, ...tagged(CANARY)]);
    await using theDefault = await keepingRoots(server, "default", ofDefault);
    await using theCanary = await keepingRoots(server, "canary", ofCanary);
    const become = (name: string, root: string) =>
      until(`roots of ${name}`, async () => await rootsOf(server, name) === root);
    await become("mesh-sidecar-injector", ofDefault);
    await become("mesh-sidecar-injector-canary", ofCanary);
    await become("mesh-revision-tag-prod", ofCanary);
    assert.equal(await mayPatch(theCanary.client, "mesh-sidecar-injector"), false);
    assert.equal(await mayPatch(theDefault.client, "mesh-sidecar-injector-canary"), false);

    await apply(server, tagged({}));
    await become("mesh-revision-tag-prod", ofDefault);
    await until("no right to the tag", async () => !await mayPatch(theCanary.client, "mesh-revision-tag-prod"));
    await apply(server, tagged(CANARY));
    await become("mesh-revision-tag-prod", ofCanary);
    await apply(server, tagged({}));
    await become("mesh-revision-tag-prod", ofDefault);

    const validating = async () => (await server.objects.list(VALIDATION)).map(({ metadata }) => metadata.name);
    assert.deepEqual(await validating(), ["mesh-mesh-system"]);
    await remove(server, canary);
    for (const draft of canary) assert.equal(await server.objects.get(draft), undefined, draft.kind);
    for (const draft of [...installed, ...tagged({})]) assert.ok(await server.objects.get(draft), draft.kind);
    assert.deepEqual(await validating(), ["mesh-mesh-system"]);
    assert.equal(await rootsOf(server, "mesh-sidecar-injector"), ofDefault);
  } finally {
    await remove(server, [...canary, ...tagged({}), ...draftsOf({}, "validation", "injection")]);
  }
});

async function rootText(): Promise<string> {
  return writeCertificates([(await makeRoot()).certificate]);
}

/** Runs a server with the variables of its Deployment, and with webhooks over TLS. */
async function running(
  { kubeconfig }: ApiServer,
  values: Partial<InstallValues> & { readonly namespace: string },
  run: (server: DiscoveryServer) => Promise<void>,
): Promise<void> {
  const env = Object.fromEntries(
    variablesOf(values).flatMap(({ name, value }) => value === undefined ? [] : [[name, value]]),
  );
  const folder = await Deno.makeTempDir();
  const place = { from: "files", files: [kubeconfig], by: "test" } as const;
  const orch = { place, qps: 80, burst: 160, allowed: [], namespace: "", kinds: false, services: true };
  try {
    await withServer({}, async (discovery, _, kernel) => {
      await kernel.readiness.whenReady;
      await run(discovery);
    }, {
      options: {
        ...{ configDir: undefined, orch, systemNamespace: values.namespace },
        ...{ secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] }, webhooks: "127.0.0.1:0" },
      },
      settings: {
        ...readSettings("pilot-discovery", env),
        ...{ MESHD_CUSTOM_HOST: "localhost", ROOT_CA_DIR: `${folder}/none`, MESH_SELF_SIGNED_CA_DIR: `${folder}/self` },
      },
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

interface Container {
  readonly name: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

function containersOf(pod: unknown): readonly Container[] {
  const { containers, initContainers = [] } = (pod as { readonly spec: Readonly<Record<string, readonly Container[]>> })
    .spec;
  return [...containers!, ...initContainers];
}

function deploymentOf(drafts: readonly Draft[]): { readonly metadata: object; readonly spec: object } {
  const { spec } = drafts.find(({ kind }) => kind === "Deployment")!;
  return (spec as { readonly template: { readonly metadata: object; readonly spec: object } }).template;
}

function variablesOf(values: Partial<InstallValues>) {
  return containersOf(deploymentOf(draftsOf(values, "server")))[0]!.env!;
}

/** The injection of a revision, asked at an address in place of a service. */
function injectionAt(values: Partial<InstallValues>, { ports }: DiscoveryServer): readonly Draft[] {
  const clientConfig = { url: `https://localhost:${ports.webhooks}/inject` };
  return draftsOf(values, "injection").map((draft) => ({
    ...draft,
    webhooks: (draft["webhooks"] as readonly object[]).map((entry) => ({ ...entry, clientConfig })),
  }));
}

function create({ client }: ApiServer, namespace: string, pod: object, query = ""): Promise<StoredObject> {
  const body = { apiVersion: "v1", kind: "Pod", ...pod };
  const path = `/api/v1/namespaces/${namespace}/pods${query}`;
  return client.json({ method: "POST", path, body }) as Promise<unknown> as Promise<StoredObject>;
}

/** Where the proxy of a new pod finds the server: its own address, and that of the authority. */
async function serversOf(server: ApiServer, ofNamespace: Labels): Promise<string> {
  const namespace = await server.namespace(ofNamespace);
  const spec = { serviceAccountName: "default", containers: [{ name: "app", image: "cart:1" }] };
  let found = "";
  await until(`a pod with a proxy in ${JSON.stringify(ofNamespace)}`, async () => {
    try {
      const pod = await create(server, namespace, { metadata: { generateName: "cart-" }, spec }, "?dryRun=All");
      const env = containersOf(pod).find(({ name }) => name === "mesh-proxy")?.env ?? [];
      const valueOf = (key: string) => env.find(({ name }) => name === key)?.value ?? "";
      found = `${valueOf("CA_ADDR")} ${/"discoveryAddress":"([^"]*)"/.exec(valueOf("PROXY_CONFIG"))?.[1]}`;
      return env.length > 0;
    } catch (error) {
      // The API lacks the roots so far.
      if (error instanceof ApiError && error.status === 500) return false;
      throw error;
    }
  });
  return found;
}

test("a revision that does not answer refuses its own pods alone; when it answers, its pods get its own server", async ({ server, namespace }) => {
  const [stable, canary] = [{ namespace }, { namespace, ...CANARY }];
  const addresses = (service: string) => Array(2).fill(`${service}.${namespace}.svc:15012`).join(" ");
  const own = draftsOf(canary, "server").filter(({ kind }) => kind === "ConfigMap");
  const injection = draftsOf(canary, "injection");
  try {
    await running(server, stable, async (discovery) => {
      await apply(server, [...injectionAt(stable, discovery), ...injection]);
      assert.equal(await serversOf(server, { "mesh-injection": "enabled" }), addresses("meshd"));
      const of = await server.namespace({ "mesh.io/rev": "canary" });
      const pod = { metadata: { name: "cart" }, spec: { containers: [{ name: "app", image: "cart:1" }] } };
      let refusal = "";
      // The API learns of a webhook by a watch.
      await until("the API asks the webhook of the revision", async () => {
        refusal = await create(server, of, pod, "?dryRun=All").then(() => "created", (error) => String(error));
        return refusal !== "created";
      });
      assert.match(refusal, /failed calling webhook "rev\.namespace\.sidecar-injector\.mesh\.io".*meshd-canary/s);
      for (const labels of [{ "mesh-injection": "enabled" }, { "mesh.io/rev": "default" }]) {
        assert.equal(await serversOf(server, labels), addresses("meshd"));
      }

      await apply(server, own);
      await running(server, canary, async (second) => {
        await remove(server, injection);
        await apply(server, injectionAt(canary, second));
        assert.equal(await serversOf(server, { "mesh.io/rev": "canary" }), addresses("meshd-canary"));
        assert.equal(await serversOf(server, { "mesh-injection": "enabled" }), addresses("meshd"));
      });
    });
  } finally {
    await remove(server, [...injection, ...draftsOf(stable, "injection")]);
  }
});

test("namespaces at the level restricted admit the server's pods and a gateway's pods, and the server's have a high priority", async ({ server }) => {
  const values = { podSecurity: "restricted", gateways: [{}] };
  const gateways = draftsOf(values, "gateways");
  await apply(server, [...draftsOf(values, "base", "rights"), ...gateways]);
  const meshd = { ...deploymentOf(draftsOf(values, "server")) };
  const named = ({ metadata, spec }: { readonly metadata: object; readonly spec: object }, name: string) => ({
    metadata: { ...metadata, name },
    spec,
  });
  const dryRun = (namespace: string, pod: object) => create(server, namespace, pod, "?dryRun=All");
  let priority: unknown;
  await until("the priority class is known", async () => {
    try {
      priority = ((await dryRun(SYSTEM, named(meshd, "meshd")))["spec"] as { readonly priority: number }).priority;
      return true;
    } catch (error) {
      if (/no PriorityClass/.test(String(error))) return false;
      throw error;
    }
  });
  assert.equal(priority, 1_000_000_000);
  const read = readPod(deploymentOf(gateways));
  assert.ok("pod" in read);
  const injected = injectPod({ pod: read.pod, namespace: "mesh-ingress" }, settingsOf({}));
  assert.ok(injected.kind === "injected");
  await dryRun("mesh-ingress", named(injected.pod, "gateway"));
  for (const namespace of [SYSTEM, "mesh-ingress"]) {
    const bare = { metadata: { name: "bare" }, spec: { containers: [{ name: "a", image: "a" }] } };
    await assert.rejects(dryRun(namespace, bare), /violates PodSecurity "restricted/);
  }
  await remove(server, draftsOf({}, "validation", "injection"));
  await server.objects.patch({ apiVersion: "v1", kind: "Namespace", metadata: { name: SYSTEM } }, {
    metadata: { labels: { "pod-security.kubernetes.io/enforce": null } },
  });
});
