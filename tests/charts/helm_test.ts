/** Helm on a real API, beside a server that keeps the roots in the webhooks. */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { keepInjectionWebhook } from "../../lib/discovery/duties/injection_webhook.ts";
import { validationWebhook } from "../../lib/discovery/duties/validation_webhook.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { createMetrics } from "../../lib/kernel/metrics/registry.ts";
import { writeCertificates } from "../../lib/pki/certificate.ts";
import { CurrentValue } from "../../lib/pki/current.ts";
import { until } from "../patience.ts";
import { makeRoot } from "../pki/support/make.ts";
import { runTool, toolsFor } from "./support/tools.ts";
import type { ApiServer } from "../orch/support/server/api_server.ts";
import type { ObjectDraft, ObjectId, StoredObject } from "../orch/support/server/objects.ts";
import { accountClient } from "../orch/support/server/rights.ts";
import { apiServerTests } from "../orch/support/server/tests.ts";

const test = apiServerTests({}, toolsFor("helm"));
const CHARTS = new URL("../../charts/", import.meta.url).pathname;
const SYSTEM = "mesh-system";
const ADMISSION = "admissionregistration.k8s.io/v1";
const INJECTOR = "mesh-sidecar-injector";

interface Webhook {
  readonly clientConfig: { readonly caBundle?: string; readonly service: { readonly name: string } };
  readonly failurePolicy: string;
}

/** Without reading the API's descriptions, which takes seconds. The API refuses what is wrong. */
const UNCHECKED = "--disable-openapi-validation";

/** Helm with the releases of a namespace. */
class Releases implements AsyncDisposable {
  readonly #server: ApiServer;
  readonly #namespace: string;
  readonly #installed = new Set<string>();

  constructor(server: ApiServer, namespace = SYSTEM) {
    this.#server = server;
    this.#namespace = namespace;
  }

  async helm(...args: readonly string[]): Promise<string> {
    // Helm asks slowly unless told otherwise.
    const asking = ["--kubeconfig", this.#server.kubeconfig, "--qps", "1000", "--burst-limit", "1000"];
    return await runTool("helm", [...args, "--namespace", this.#namespace, ...asking]);
  }

  async install(release: string, chart: string, ...args: readonly string[]): Promise<void> {
    await this.helm("install", release, chartPath(chart), "--create-namespace", UNCHECKED, ...args);
    this.#installed.add(release);
  }

  async upgrade(release: string, chart: string, ...args: readonly string[]): Promise<void> {
    await this.helm("upgrade", release, chartPath(chart), UNCHECKED, ...args);
  }

  async uninstall(release: string): Promise<void> {
    await this.helm("uninstall", release);
    this.#installed.delete(release);
  }

  /** The objects of a release, as Helm keeps them. */
  async objects(release: string): Promise<readonly (ObjectDraft & ObjectId)[]> {
    const documents = parseAllDocuments(await this.helm("get", "manifest", release));
    return documents.map((document) => document.toJS()).filter((object) => object !== null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const release of this.#installed) await this.uninstall(release);
  }
}

/** A chart of the tree, or the folder of another chart. */
function chartPath(chart: string): string {
  return chart.startsWith("/") ? chart : `${CHARTS}${chart}`;
}

function configuration(sort: "Validating" | "Mutating", name: string): ObjectId {
  return { apiVersion: ADMISSION, kind: `${sort}WebhookConfiguration`, metadata: { name } };
}

function deployment(name: string, namespace = SYSTEM): ObjectId {
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace } };
}

async function stored({ objects }: ApiServer, id: ObjectId): Promise<StoredObject> {
  const found = await objects.get(id);
  assert.ok(found, `${id.kind} ${id.metadata.name}`);
  return found;
}

async function webhooksOf(server: ApiServer, id: ObjectId): Promise<readonly Webhook[]> {
  return (await stored(server, id))["webhooks"] as readonly Webhook[];
}

async function replicasOf(server: ApiServer, name = "meshd"): Promise<unknown> {
  return ((await stored(server, deployment(name)))["spec"] as { readonly replicas: number }).replicas;
}

/** Does what a server of a revision does to webhooks, with the rights of the server's account, until disposed of. */
async function serverOf(server: ApiServer, root: string, account: string, revision: string): Promise<AsyncDisposable> {
  const { client, [Symbol.dispose]: close } = await accountClient(server, SYSTEM, account);
  const stop = new AbortController();
  const [log, metrics] = [silentLog().scope("webhooks"), createMetrics("pilot-discovery")];
  const parts = { client, namespace: SYSTEM, roots: new CurrentValue(root), log, metrics };
  const name = revision === "default" ? INJECTOR : `${INJECTOR}-${revision}`;
  const ends = [keepInjectionWebhook({ ...parts, name, revision }, stop.signal)];
  if (revision === "default") ends.push(validationWebhook({ ...parts, name: `mesh-${SYSTEM}` }).run(stop.signal));
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await Promise.all(ends);
      close();
    },
  };
}

async function haveRoots(server: ApiServer, root: string, ...ids: readonly ObjectId[]): Promise<boolean> {
  const webhooks = (await Promise.all(ids.map((id) => webhooksOf(server, id)))).flat();
  return webhooks.every(({ clientConfig }) => clientConfig.caBundle === btoa(root));
}

const root = writeCertificates([(await makeRoot()).certificate]);
const BOTH = [configuration("Mutating", INJECTOR), configuration("Validating", `mesh-${SYSTEM}`)];

test("an upgrade and a rollback leave the webhooks untouched, with the roots that the server wrote, and closed", async ({ server }) => {
  await using releases = new Releases(server);
  await releases.install("mesh", "mesh");
  for (const id of BOTH) {
    assert.ok((await webhooksOf(server, id)).every(({ failurePolicy }) => failurePolicy === "Fail"), id.kind);
  }
  await using _ = await serverOf(server, root, "meshd", "default");
  await until("the roots in the webhooks", () => haveRoots(server, root, ...BOTH));
  const versions = () => Promise.all(BOTH.map(async (id) => (await stored(server, id)).metadata.resourceVersion));
  const before = await versions();
  await releases.upgrade("mesh", "mesh", "--set", "meshd.replicas=3,meshConfig.trustDomain=example.org");
  assert.equal(await replicasOf(server), 3);
  const mesh = await stored(server, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "mesh", namespace: SYSTEM },
  });
  assert.match(JSON.stringify(mesh["data"]), /trustDomain: example.org/);
  await releases.helm("rollback", "mesh", "1");
  assert.equal(await replicasOf(server), 2);
  assert.deepEqual(await versions(), before, "no write to a webhook");
});

test("with autoscaling an upgrade leaves the number of servers to the autoscaler", async ({ server }) => {
  await using releases = new Releases(server);
  await releases.install("mesh", "mesh", "--set", "meshd.autoscaling=true");
  // The autoscaler writes the scale of the Deployment.
  await server.objects.patch(deployment("meshd"), { spec: { replicas: 4 } });
  await releases.upgrade("mesh", "mesh", "--set", "meshd.autoscaling=true,meshd.maxReplicas=9");
  assert.equal(await replicasOf(server), 4);
});

test("an uninstallation of the control plane leaves nothing", async ({ server }) => {
  await using releases = new Releases(server);
  await releases.install("mesh", "mesh", "--set", "plugin.enabled=true,meshd.autoscaling=true");
  const objects = await releases.objects("mesh");
  assert.ok(objects.length > 15);
  await releases.uninstall("mesh");
  for (const object of objects) assert.equal(await server.objects.get(object), undefined, object.kind);
});

test("definitions and the objects of the kinds stay after an uninstallation; the next installation takes them over", async ({ server, namespace }) => {
  await using releases = new Releases(server);
  await releases.install("definitions", "mesh-definitions");
  const definitions = await releases.objects("definitions");
  for (const definition of definitions) await server.objects.define(definition);
  const metadata = { name: "kept", namespace };
  const sidecar = { apiVersion: "networking.mesh.io/v1", kind: "Sidecar", metadata };
  await server.objects.create({ ...sidecar, spec: { egress: [{ hosts: ["./*"] }] } });
  await releases.uninstall("definitions");
  await releases.install("definitions", "mesh-definitions");
  for (const definition of definitions) await stored(server, definition);
  assert.deepEqual((await stored(server, sidecar))["spec"], { egress: [{ hosts: ["./*"] }] });
});

test("an upgrade changes the definitions, and keeps a definition that the next chart lacks", async ({ server }) => {
  await using releases = new Releases(server);
  await releases.install("definitions", "mesh-definitions");
  const folder = await Deno.makeTempDir();
  try {
    await copyChart(`${CHARTS}mesh-definitions`, folder, (text) => {
      const [head, first, ...rest] = text.split("---\n");
      assert.match(first!, /name: \S+\.mesh\.io/);
      return [head, ...rest].join("---\n").replaceAll(
        /^( *)shortNames:$/gm,
        "$1categories: [mesh-next]\n$1shortNames:",
      );
    });
    const before = await releases.objects("definitions");
    await releases.upgrade("definitions", folder);
    const after = await releases.objects("definitions");
    assert.equal(after.length, before.length - 1);
    for (const definition of before) await stored(server, definition);
    const changed = await Promise.all(after.map((definition) => stored(server, definition)));
    assert.ok(changed.some(({ spec }) => /mesh-next/.test(JSON.stringify(spec))));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Copies a chart, with other definitions. */
async function copyChart(from: string, to: string, change: (definitions: string) => string): Promise<void> {
  await Deno.mkdir(`${to}/templates`);
  for (const folder of ["", "templates/"]) {
    for await (const { name, isFile } of Deno.readDir(`${from}/${folder}`)) {
      if (!isFile) continue;
      const text = await Deno.readTextFile(`${from}/${folder}${name}`);
      await Deno.writeTextFile(`${to}/${folder}${name}`, name === "definitions.yaml" ? change(text) : text);
    }
  }
}

test("a revision is a release beside the default one; a tag moves by an upgrade, and back by a rollback", async ({ server }) => {
  await using releases = new Releases(server);
  await releases.install("mesh", "mesh");
  await releases.install("mesh-canary", "mesh", "--set", "revision=canary");
  await releases.install("mesh-tags", "mesh-tags", "--set", "tags={stable}");
  const tag = configuration("Mutating", "mesh-revision-tag-stable");
  const services = async () =>
    new Set((await webhooksOf(server, tag)).map(({ clientConfig: { service } }) => service.name));
  await using _default = await serverOf(server, root, "meshd", "default");
  await using _canary = await serverOf(server, root, "meshd-canary", "canary");
  const canary = configuration("Mutating", `${INJECTOR}-canary`);
  await until("the roots of both revisions", () => haveRoots(server, root, ...BOTH, canary, tag));
  assert.deepEqual(await services(), new Set(["meshd"]));
  await releases.upgrade("mesh-tags", "mesh-tags", "--set", "tags={stable},revision=canary");
  assert.deepEqual(await services(), new Set(["meshd-canary"]));
  assert.ok(await haveRoots(server, root, tag), "the roots stay while the tag moves");
  await releases.helm("rollback", "mesh-tags", "1");
  assert.deepEqual(await services(), new Set(["meshd"]));
  await releases.uninstall("mesh-canary");
  assert.equal(await server.objects.get(canary), undefined);
  for (const object of await releases.objects("mesh")) await stored(server, object);
});

test("gateways are a release with any number of gateways, in the namespaces of their choice", async ({ server, namespace }) => {
  await using releases = new Releases(server, "mesh-ingress");
  const three = `gateways=[{"name": "public"}, {"name": "private", "namespace": "${namespace}"}]`;
  await releases.install("edge", "mesh-gateways", "--set-json", three);
  await stored(server, deployment("public", "mesh-ingress"));
  await stored(server, deployment("private", namespace));
  await releases.upgrade("edge", "mesh-gateways", "--set-json", 'gateways=[{"name": "public"}]');
  assert.equal(await server.objects.get(deployment("private", namespace)), undefined);
});
