/** The validating webhook's configuration has the server's roots, and fails closed once the API is seen to ask. */
import assert from "node:assert/strict";
import { validationWebhook } from "../../../lib/discovery/duties/validation_webhook.ts";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import type { Kernel } from "../../../lib/kernel/kernel.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import type { ApiClient } from "../../../lib/orch/client/client.ts";
import { DutyRunner } from "../../../lib/orch/leader/duty_runner.ts";
import { CurrentValue } from "../../../lib/pki/current.ts";
import { openLog } from "../../discovery/open_log.ts";
import { withServer } from "../../discovery/running.ts";
import { quickClock } from "../support/scripted_api.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { everyRightIsNeeded, type Right, SYSTEM } from "../support/server/one_right_less.ts";
import { manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();
const NAME = "mesh-mesh-system";
const ID = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: NAME },
};

interface Webhook {
  readonly name: string;
  readonly clientConfig: { readonly url?: string; readonly caBundle?: string };
  readonly failurePolicy: string;
}

/**
 * The configuration of `manifests/`, with the webhook at an address in place of a service, and open for a start: the
 * API fills in `Fail` where a configuration names no policy.
 */
async function install({ objects }: ApiServer, url: string): Promise<void> {
  const [manifest] = manifests("webhooks");
  const [webhook] = manifest!["webhooks"] as readonly Webhook[];
  if (await objects.get(ID) !== undefined) await objects.delete(ID);
  await objects.create({ ...manifest!, webhooks: [{ ...webhook, failurePolicy: "Ignore", clientConfig: { url } }] });
}

async function webhooksOf({ objects }: ApiServer): Promise<readonly Webhook[]> {
  return (await objects.get(ID))?.["webhooks"] as readonly Webhook[];
}

/** Resolves when the webhooks are as expected. */
async function become(server: ApiServer, what: string, is: (webhook: Webhook) => boolean): Promise<void> {
  await until(what, async () => (await webhooksOf(server)).every(is));
}

/** Runs a server with a webhook over TLS, and gives the root that verifies the server's certificate. */
async function withWebhook(run: (url: string, root: string, kernel: Kernel) => Promise<void>): Promise<void> {
  const kept = await Deno.makeTempDir();
  const use = async ({ ports }: DiscoveryServer, _: string, kernel: Kernel) => {
    const text = await Deno.readTextFile(`${kept}/authority.pem`);
    const root = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----\n/.exec(text)![0];
    await run(`https://localhost:${ports.webhooks}/validate`, root, kernel);
  };
  await withServer({}, use, {
    options: { secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] }, webhooks: "127.0.0.1:0" },
    settings: { MESHD_CUSTOM_HOST: "localhost", MESH_SELF_SIGNED_CA_DIR: kept },
  });
  await Deno.remove(kept, { recursive: true });
}

/** Does the duty as a client; ends when disposed. */
function keep(
  client: ApiClient,
  roots: CurrentValue<string>,
  { metrics }: Kernel,
  log = silentLog().scope("validationController"),
): AsyncDisposable {
  const duty = validationWebhook({ client, name: NAME, namespace: SYSTEM, roots, log, metrics });
  const options = { namespace: SYSTEM, elect: true, identity: crypto.randomUUID(), key: "", log };
  const runner = new DutyRunner(client, [duty], options);
  return { [Symbol.asyncDispose]: () => runner.stop() };
}

async function prepare({ objects }: ApiServer): Promise<void> {
  for (const definition of manifests("definitions")) await objects.define(definition);
  for (const manifest of manifests("pilot-discovery")) await objects.apply(manifest);
}

test("the roots are added and kept up to date, also when they are removed; failures count once the API asks", async ({ server }) => {
  await prepare(server);
  await withWebhook(async (url, root, kernel) => {
    await install(server, url);
    const roots = new CurrentValue("");
    await using _ = keep(server.client, roots, kernel);
    roots.set(root);
    await become(
      server,
      "roots and policy",
      ({ clientConfig: { caBundle }, failurePolicy }) => caBundle === btoa(root) && failurePolicy === "Fail",
    );
    const both = root + root;
    roots.set(both);
    await become(server, "old and new roots", ({ clientConfig: { caBundle } }) => caBundle === btoa(both));
    await server.objects.patch(ID, { webhooks: [{ ...(await webhooksOf(server))[0]!, clientConfig: { url } }] });
    await become(server, "roots again", ({ clientConfig: { caBundle } }) => caBundle === btoa(both));
    // The last update is counted when its answer has come.
    const counted = async () => (await kernel.metrics.scrape()).body.toString();
    await until("four updates", async () => /galley_validation_config_updates [4-9]/.test(await counted()));
  });
});

test("while no server answers the webhook, its failures stay ignored, and a removed entry stays away", async ({ server }) => {
  await prepare(server);
  await withWebhook(async (url, root, kernel) => {
    await install(server, "https://localhost:1/validate");
    const roots = new CurrentValue(root);
    const { log, lines } = openLog();
    await using _ = keep(server.client, roots, kernel, log.scope("validationController"));
    await until("three attempts", () => lines.filter(({ level }) => level === "warn").length >= 3);
    const [webhook] = await webhooksOf(server);
    assert.deepEqual([webhook?.failurePolicy, webhook?.clientConfig.caBundle], ["Ignore", btoa(root)]);
    const second = { ...webhook!, name: "second.mesh.io" };
    await server.objects.patch(ID, { webhooks: [second] });
    await server.objects.patch(ID, { webhooks: [{ ...second, clientConfig: { ...second.clientConfig, url } }] });
    await become(server, "the policy of what is there", ({ failurePolicy }) => failurePolicy === "Fail");
    assert.deepEqual((await webhooksOf(server)).map(({ name }) => name), ["second.mesh.io"]);
  });
});

test("the account of the manifests may do it; with one verb less it is refused", async ({ server }) => {
  await prepare(server);
  const needs = ({ resource, verb, role, name }: Right) =>
    resource === "validatingwebhookconfigurations" || name === "mesh-validation-controller-election" ||
    (resource === "gateways" && verb === "create" && role === "Role");
  await withWebhook(async (url, root, kernel) => {
    await everyRightIsNeeded(server, ["pilot-discovery"], needs, async (as) => {
      await install(server, url);
      await using _ = keep(as.client, new CurrentValue(root), kernel);
      const isClosed = async () => (await webhooksOf(server)).every(({ failurePolicy }) => failurePolicy === "Fail");
      await as.until("the policy", isClosed);
      if (as.without?.verb === "watch") await as.refused;
    }, quickClock(10));
  });
});
