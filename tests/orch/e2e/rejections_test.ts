/**
 * A real API tells, on the object that caused it, of a rejection by a real Envoy, and stops when the object is mended.
 */
import assert from "node:assert/strict";
import { startEnvoy } from "../../../scripts/demo/envoy.ts";
import { adminPage } from "../../../scripts/envoy.ts";
import { page, withServer } from "../../discovery/running.ts";
import { envoyPath } from "../../e2e/support/mesh.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import type { ObjectDraft, ObjectId } from "../support/server/objects.ts";
import { manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();
const binary = envoyPath();

const service = (namespace: string, name: string) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { namespace, name },
  spec: { ports: [{ name: "http", port: 80 }] },
});

const route = (namespace: string, name: string, regex: string): ObjectDraft & ObjectId => ({
  ...{ apiVersion: "networking.mesh.io/v1", kind: "VirtualService", metadata: { namespace, name } },
  spec: {
    hosts: [`${name}.${namespace}.svc.cluster.local`],
    http: [{ match: [{ uri: { regex } }], directResponse: { status: 200 } }],
  },
});

/** The condition of an object that says how far the object is on proxies. */
async function reconciled({ objects }: ApiServer, id: ObjectId): Promise<Readonly<Record<string, string>>> {
  const status = (await objects.get(id))?.["status"] as { conditions?: Record<string, string>[] } | undefined;
  return status?.conditions?.find(({ type }) => type === "Reconciled") ?? {};
}

/** Waits until the condition of an object has the given fields. */
type Become = (what: string, id: ObjectId, is: Readonly<Record<string, string>>) => Promise<void>;

/**
 * The world of a test: two services, the routes of each, and an Envoy that rejects expressions of more than ten
 * instructions.
 */
interface World {
  readonly plain: ObjectDraft & ObjectId;
  readonly large: ObjectDraft & ObjectId;
  readonly become: Become;
  /** Starts the Envoy. @returns the port of its admin pages */
  readonly connect: () => Promise<number>;
  /** A page of the server. */
  readonly shown: (path: string) => Promise<string>;
}

async function withWorld(server: ApiServer, namespace: string, run: (world: World) => Promise<void>): Promise<void> {
  const { objects } = server;
  for (const definition of manifests("definitions")) await objects.define(definition);
  for (const name of ["plain", "large"]) await objects.create(service(namespace, name));
  const place = { from: "files", files: [server.kubeconfig], by: "test" } as const;
  const orch = { place, qps: 0, burst: 1, allowed: [], namespace: "", kinds: true, services: true };
  await withServer({}, async ({ ports }, folder) => {
    await using stack = new AsyncDisposableStack();
    await run({
      plain: route(namespace, "plain", "/a"),
      large: route(namespace, "large", "/orders/of/this/year/[0-9]+"),
      become: (what, id, is) =>
        until(what, async () => {
          const condition = await reconciled(server, id);
          return Object.entries(is).every(([field, value]) => condition[field] === value);
        }),
      connect: async () => {
        const identity = { type: "sidecar", name: "client", namespace, address: "10.9.1.1", labels: {} } as const;
        const runtime = { "re2.max_program_size.error_level": 10 };
        const options = { binary: binary!, folder, discoveryPort: ports.grpc, identity: { ...identity, runtime } };
        return stack.adopt(await startEnvoy(options), (envoy) => envoy.stop()).adminPort;
      },
      shown: async (path) => (await page(ports.http, path)).body,
    });
  }, {
    options: { configDir: undefined, orch, systemNamespace: namespace },
    settings: {
      ...{ PILOT_ENABLE_ANALYSIS: true, PILOT_ANALYSIS_INTERVAL: 200, PILOT_STATUS_UPDATE_INTERVAL: 50 },
      PILOT_DEBOUNCE_AFTER: 10,
    },
  });
}

test("a virtual service whose expression is too large for an Envoy has that Envoy's words in its status, its neighbour has not; mended, it is live", async ({ server, namespace }) => {
  if (binary === undefined) return;
  await withWorld(server, namespace, async ({ plain, large, become, connect, shown }) => {
    await connect();
    await until("virtual hosts", async () => /virtualhost_acked":"./.test(await shown("/debug/syncz")));
    const live = { status: "True", message: "1/1 proxies up to date." };
    await server.objects.apply(plain);
    await become("the first one live", plain, live);
    await server.objects.apply(large);
    await become("the rejection", large, { status: "False", reason: "Rejected" });
    const { message = "" } = await reconciled(server, large);
    assert.match(message, /^0\/1 proxies up to date\. Rejected by 1: .*program size/);
    await become("that its neighbour of the same port is live", plain, { status: "True" });
    await server.objects.apply(route(namespace, "large", "/b"));
    await become("that it is live again", large, live);
  });
});

test("an Envoy that starts gets what else there is beside what it rejects, and the object that caused that says so", async ({ server, namespace }) => {
  if (binary === undefined) return;
  await withWorld(server, namespace, async ({ plain, large, become, connect }) => {
    for (const one of [plain, large]) await server.objects.apply(one);
    for (const one of [plain, large]) {
      await become("no proxy yet", one, { message: "No connected proxy has a resource of the object." });
    }
    const admin = await connect();
    await become("the rejection", large, { status: "False", reason: "Rejected" });
    assert.match((await reconciled(server, large))["message"] ?? "", /Rejected by 1: .*program size/);
    await until("the neighbour's route", async () => {
      const dump = await adminPage(admin, "config_dump") ?? "";
      return dump.includes('"regex": "/a"') && !dump.includes("/orders/of");
    });
    await become("that the neighbour is live", plain, { status: "True" });
    await server.objects.apply(route(namespace, "large", "/b"));
    await become("that it is live", large, { status: "True", message: "1/1 proxies up to date." });
  });
});
