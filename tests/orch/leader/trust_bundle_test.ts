/** The mesh's roots are in a ClusterTrustBundle, with exactly the rights of the manifests. A log line warns of an API without the resource. */
import assert from "node:assert/strict";
import { trustBundle } from "../../../lib/discovery/duties/trust_bundle.ts";
import { createLog, defaultLogOptions, silentLog } from "../../../lib/kernel/log/log.ts";
import { scopes } from "../../../lib/kernel/log/scopes.ts";
import { ApiClient } from "../../../lib/orch/client/client.ts";
import { writeCertificates } from "../../../lib/pki/certificate.ts";
import { CurrentValue } from "../../../lib/pki/current.ts";
import { makeRoot } from "../../pki/support/make.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { everyRightIsNeeded, type Right } from "../support/server/one_right_less.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const BETA = "certificates.k8s.io/v1beta1";
const test = apiServerTests({ flags: [`--runtime-config=${BETA}=true`, "--feature-gates=ClusterTrustBundle=true"] });
const bundle = { apiVersion: BETA, kind: "ClusterTrustBundle", metadata: { name: "mesh.io:meshd-ca:root-cert" } };

/** The roots in the bundle; undefined: there is none of our signer. */
async function rootsIn(server: ApiServer): Promise<string | undefined> {
  const spec = (await server.objects.get(bundle))?.["spec"] as Readonly<Record<string, string>> | undefined;
  return spec?.["signerName"] === "mesh.io/meshd-ca" ? spec["trustBundle"] : undefined;
}

async function has(server: ApiServer, roots: string): Promise<void> {
  await until("the roots in the bundle", async () => await rootsIn(server) === roots);
}

async function pem(): Promise<string> {
  return writeCertificates([(await makeRoot()).certificate]);
}

test("the bundle is made, follows the roots, and comes back when it is edited or removed", async ({ server }) => {
  const [one, two] = [await pem(), await pem()];
  const roots = new CurrentValue(one);
  const stop = new AbortController();
  const running = trustBundle({ client: server.client, roots, log: silentLog().scope("orch") }).run(stop.signal);
  await has(server, one);
  roots.set(two);
  await has(server, two);
  await server.objects.patch(bundle, { spec: { trustBundle: one } });
  await has(server, two);
  await server.objects.delete(bundle);
  await has(server, two);
  stop.abort();
  await running;
});

for (const file of ["pilot-discovery", "remote-leader"]) {
  test(`the account of ${file} may keep the bundle; with one verb less the API refuses`, async ({ server }) => {
    const needs = ({ resource }: Right) => ["clustertrustbundles", "signers"].includes(resource);
    await everyRightIsNeeded(server, [file], needs, async (as) => {
      const isThere = await server.objects.get(bundle) !== undefined;
      if (isThere && as.without?.verb !== "patch") await server.objects.delete(bundle);
      const roots = await pem();
      const stop = new AbortController();
      const log = silentLog().scope("orch");
      const running = trustBundle({ client: as.client, roots: new CurrentValue(roots), log }).run(stop.signal);
      await as.until("the bundle", async () => await rootsIn(server) === roots);
      stop.abort();
      await running;
      if (as.without?.verb !== "create") return;
      const spec = { signerName: "mesh.io/meshd-ca", trustBundle: await pem() };
      await server.objects.apply({ ...bundle, spec });
    });
  });
}

Deno.test("an API without the resource: one warning with the variable's name, and the API is asked again", async () => {
  const lines: string[] = [];
  const asked: string[] = [];
  const log = createLog(scopes["pilot-discovery"], { ...defaultLogOptions, json: true }, {
    open: () => ({ write: (line) => void lines.push(new TextDecoder().decode(line)), close: () => {} }),
  }).scope("orch");
  const stop = new AbortController();
  const client = new ApiClient({
    access: { current: () => ({ server: "https://api" }), refused: () => {} },
    exchange: (url) => {
      asked.push(url);
      if (asked.length === 3) stop.abort();
      return Promise.resolve(new Response("{}", { status: 404 }));
    },
    clock: { now: Date.now, monotonic: () => performance.now(), after: () => () => {}, sleep: () => Promise.resolve() },
  });
  await trustBundle({ client, roots: new CurrentValue("x"), log }).run(stop.signal).catch(() => {});
  assert.equal(lines.filter((line) => line.includes("ENABLE_CLUSTER_TRUST_BUNDLE_API")).length, 1);
  assert.equal(asked.length, 3);
});
