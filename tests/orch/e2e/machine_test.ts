/**
 * A machine with the program pilot-agent and its Envoy is a workload of a real API's mesh for as long as its agent is
 * connected.
 */
import assert from "node:assert/strict";
import { envoyPage } from "../../../scripts/demo/identity_mesh.ts";
import { startIdentityAgent } from "../../../scripts/demo/identity_agent.ts";
import { PortTaken, saysTaken, withPorts } from "../../../scripts/ports.ts";
import { page, withServer } from "../../discovery/running.ts";
import { envoyPath } from "../../e2e/support/mesh.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { kubeconfigOf } from "../support/server/kubeconfig.ts";
import type { StoredObject } from "../support/server/objects.ts";
import { SYSTEM } from "../support/server/one_right_less.ts";
import { manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();
const VERSION = "networking.mesh.io/v1";
/**
 * A machine that comes back within this time keeps its entry. The agent has to start in time on a busy machine, too.
 */
const GRACE_MS = 30_000;

const entry = (namespace: string) => ({
  ...{ apiVersion: VERSION, kind: "WorkloadEntry" },
  metadata: { namespace, name: "machines-127.0.0.1" },
});

/** Makes the group of the machines and their service. */
async function prepare({ objects, users }: ApiServer, namespace: string): Promise<void> {
  for (const definition of manifests("definitions")) await objects.define(definition);
  for (const manifest of manifests("pilot-discovery")) await objects.apply(manifest);
  await users.granted(SYSTEM, "meshd", { verb: "create", group: "coordination.k8s.io", resource: "leases" });
  await users.granted(SYSTEM, "meshd", { verb: "list", resource: "secrets" });
  await users.account(namespace, "vm");
  await objects.create({
    ...{ apiVersion: VERSION, kind: "WorkloadGroup", metadata: { namespace, name: "machines" } },
    spec: { metadata: { labels: { tier: "data" } }, template: { serviceAccount: "vm", ports: { http: 8080 } } },
  });
  await objects.create({
    ...{ apiVersion: VERSION, kind: "ServiceEntry", metadata: { namespace, name: "store" } },
    spec: {
      ...{ hosts: ["store.test"], location: "MESH_INTERNAL", resolution: "STATIC" },
      ...{ ports: [{ number: 80, name: "http", protocol: "HTTP" }] },
      workloadSelector: { labels: { tier: "data" } },
    },
  });
}

function health(object: StoredObject | undefined): string | undefined {
  const status = object?.["status"] as { conditions?: { type: string; status: string }[] } | undefined;
  return status?.conditions?.find(({ type }) => type === "Healthy")?.status;
}

test("a machine registers with the account's token, is healthy when its probe succeeds, keeps its entry if it comes back within the grace period, and loses it afterwards", async ({ server, namespace }) => {
  if (envoyPath() === undefined) return;
  const { objects, users } = server;
  await prepare(server, namespace);
  const folder = await Deno.makeTempDir();
  const file = `${folder}/kubeconfig`;
  await Deno.writeTextFile(file, kubeconfigOf(users.byToken(await users.token(SYSTEM, "meshd"))));
  const place = { from: "files", files: [file], by: "test" } as const;
  const orch = { place, qps: 0, burst: 1, allowed: [], namespace: "", kinds: true, services: true };
  const found = () => objects.get(entry(namespace));
  const left = async () => (await found())?.metadata.annotations?.["mesh.io/disconnectedAt"];
  await withServer({}, async ({ ports }) => {
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "mesh-ca-root-cert" } };
    await until("the roots", async () => await objects.get(map) !== undefined);
    const roots = ((await objects.get(map))!["data"] as Readonly<Record<string, string>>)["root-cert.pem"]!;
    /** The health of the service's endpoint, as the server knows it; undefined: no endpoint. */
    const endpoint = async () => {
      const { body } = await page(ports.http, "/debug/endpointShardz");
      const store = (JSON.parse(body) as Record<string, unknown>)["store.test"];
      return /"health":"(\w+)"/.exec(JSON.stringify(store ?? ""))?.[1];
    };
    await withPorts(4, async (own) => {
      const connect = async () =>
        await startIdentityAgent(
          { port: ports.secureGrpc!, token: await users.token(namespace, "vm", ["mesh-ca"]), roots },
          {
            ...{ name: "vm", ports: own },
            env: { POD_NAMESPACE: namespace, MESH_META_AUTO_REGISTER_GROUP: "machines" },
            proxy: {
              readinessProbe: { exec: { command: ["test", "-f", "./well"] }, periodSeconds: 1, failureThreshold: 1 },
            },
          },
        );
      let output = "";
      try {
        let uid = "";
        {
          await using agent = await connect();
          try {
            await until("the entry", async () => await found() !== undefined);
            const { metadata, spec } = (await found())!;
            uid = metadata.uid;
            const labels = { app: "vm", instance: "vm", tier: "data" };
            const { labels: shown, ...rest } = spec as { labels: Record<string, string> };
            assert.deepEqual(rest, { address: "127.0.0.1", serviceAccount: "vm", ports: { http: 8080 } });
            assert.deepEqual({ ...shown, ...labels }, shown);
            await until("its first report", async () => health(await found()) === "False");
            await until("the endpoint", async () => await endpoint() === "unhealthy");
            await agent.write("well", "");
            await until("that it is well", async () => health(await found()) === "True");
            await until("the endpoint", async () => await endpoint() === "healthy");
            await until(
              "its Envoy",
              async () => await envoyPage(own[0]!, "ready").catch(() => "") === "LIVE\n",
            );
            // The endpoint follows the entry's health, which may reach the server after the Envoy is live.
            const isThere = /outbound\|80\|\|store\.test.*127\.0\.0\.1:8080/;
            await until("the endpoint", async () => isThere.test(await envoyPage(own[0]!, "clusters")));
          } finally {
            output += agent.output;
          }
        }
        await until("that it has left", async () => await left() !== undefined);
        assert.equal((await found())?.metadata.uid, uid);
        {
          await using agent = await connect();
          try {
            await until(
              "that it is back",
              async () => await found() !== undefined && await left() === undefined,
            );
            assert.equal((await found())?.metadata.uid, uid, "it is the same entry");
            await until("its report", async () => health(await found()) === "False");
          } finally {
            output += agent.output;
          }
        }
        await until("the end of the grace period", async () => await found() === undefined);
        await until("the end of the endpoint", async () => await endpoint() === undefined);
      } catch (error) {
        if (saysTaken(output)) throw new PortTaken(output);
        throw new Error(`${error}\n${output}`, { cause: error });
      }
    });
  }, {
    options: { configDir: undefined, orch, secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] } },
    settings: {
      ...{ MESHD_CUSTOM_HOST: "localhost", ROOT_CA_DIR: `${folder}/none`, MESH_SELF_SIGNED_CA_DIR: folder },
      ...{ PILOT_WORKLOAD_ENTRY_GRACE_PERIOD: GRACE_MS, PILOT_DEBOUNCE_AFTER: 10 },
    },
  });
  await Deno.remove(folder, { recursive: true });
});
