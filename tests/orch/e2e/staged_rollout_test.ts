/** Two servers of a real API share the staged rollout of an object: one decides, and both follow. */
import assert from "node:assert/strict";
import { MapShelf, RolloutsForbidden } from "../../../lib/discovery/rollout/map_shelf.ts";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import { TestProxy } from "../../debug/proxy.ts";
import { keepsRollouts, rolloutRecord } from "../../discovery/rollout/shelf_tests.ts";
import { page, withServer } from "../../discovery/running.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { until } from "../../patience.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import type { ObjectDraft, ObjectId } from "../support/server/objects.ts";
import { manifests } from "../support/server/rights.ts";
import { clientOf } from "../support/server/users.ts";
import { apiServerTests } from "../support/server/tests.ts";

const test = apiServerTests();

/** Proxies of each server. */
const PROXIES = 10;

const service = (namespace: string) => ({
  ...{ apiVersion: "v1", kind: "Service", metadata: { namespace, name: "cart" } },
  spec: { ports: [{ name: "http", port: 80 }] },
});

const rule = (namespace: string, connectTimeout: string, annotations: Record<string, string>) => ({
  apiVersion: "networking.mesh.io/v1",
  kind: "DestinationRule",
  metadata: { namespace, name: "cart", annotations },
  spec: {
    host: `cart.${namespace}.svc.cluster.local`,
    trafficPolicy: { connectionPool: { tcp: { connectTimeout } } },
  },
} as ObjectDraft & ObjectId);

const nodeOf = (namespace: string, at: number) =>
  `sidecar~10.9.1.${at}~p${at}.${namespace}~${namespace}.svc.cluster.local`;

/** Servers with their proxies. */
class Servers implements Disposable {
  readonly #proxies: { readonly proxy: TestProxy; readonly server: DiscoveryServer; readonly id: string }[] = [];

  constructor(readonly servers: readonly DiscoveryServer[], readonly namespace: string) {}

  async connect(): Promise<void> {
    for (const [i, server] of this.servers.entries()) {
      for (let at = i * PROXIES; at < (i + 1) * PROXIES; at++) {
        const id = nodeOf(this.namespace, at);
        this.#proxies.push({ proxy: await TestProxy.attach(server.ports.grpc, { id }), server, id });
      }
    }
  }

  /** How many proxies have been given the rule with a timeout. */
  async having(timeout: string): Promise<number> {
    let found = 0;
    for (const { server, id } of this.#proxies) {
      const { body } = await page(server.ports.http, `/debug/config_dump?proxyID=${id}`);
      if (body.includes(`"connect_timeout": "${timeout}"`) || body.includes(`"connect_timeout":"${timeout}"`)) found++;
    }
    return found;
  }

  /** The proxies reject what they get from now on. */
  async rejectNext(): Promise<void> {
    for (const { proxy } of this.#proxies) proxy.hold();
    await until("a proxy of the first stage has the version", () => {
      const waiting = this.#proxies.filter(({ proxy }) => proxy.waiting > 0);
      for (const { proxy } of waiting) {
        proxy.reject(`cluster outbound|80||cart.${this.namespace}.svc.cluster.local: bad timeout`);
      }
      return waiting.length > 0;
    });
    for (const { proxy } of this.#proxies) proxy.release();
  }

  /** The stages that each server shows. */
  async shown(): Promise<string[]> {
    return await Promise.all(this.servers.map(async ({ ports }) => {
      const all = JSON.parse((await page(ports.http, "/debug/rollouts")).body) as { phase: string; stage: number }[];
      return all.map(({ phase, stage }) => `${phase} ${stage}`).join();
    }));
  }

  [Symbol.dispose](): void {
    for (const { proxy } of this.#proxies) proxy[Symbol.dispose]();
  }
}

async function withServers(
  server: ApiServer,
  namespace: string,
  run: (servers: Servers) => Promise<void>,
): Promise<void> {
  const place = { from: "files", files: [server.kubeconfig], by: "test" } as const;
  const orch = { place, qps: 0, burst: 1, allowed: [], namespace, kinds: true, services: true };
  const changes = {
    options: { configDir: undefined, orch, systemNamespace: namespace },
    settings: {
      ...{ PILOT_ENABLE_ANALYSIS: true, PILOT_ANALYSIS_INTERVAL: 200, PILOT_STATUS_UPDATE_INTERVAL: 50 },
      ...{ PILOT_DEBOUNCE_AFTER: 10, MESH_ROLLOUT_SOAK: 0 },
    },
  };
  await withServer({}, async (first) => {
    await withServer({}, async (second) => {
      using servers = new Servers([first, second], namespace);
      await servers.connect();
      await run(servers);
    }, changes);
  }, changes);
}

/** The words of the findings in the status of the rule. */
async function messages({ objects }: ApiServer, id: ObjectId): Promise<string> {
  return JSON.stringify((await objects.get(id))?.["status"] ?? {});
}

test("an object of the API reaches a share of the proxies of all servers, stops on a rejection, and goes on after a restart of both", async ({ server, namespace }) => {
  const { objects } = server;
  for (const definition of manifests("definitions")) await objects.define(definition);
  await objects.create(service(namespace));
  const plan = { "mesh.io/rollout": "20%,100%" };
  const paused = { ...plan, "mesh.io/rollout-paused": "true" };
  await objects.apply(rule(namespace, "1s", plan));
  await withServers(server, namespace, async (servers) => {
    await until("all have the first version", async () => await servers.having("1s") === 2 * PROXIES);

    await objects.apply(rule(namespace, "2s", paused));
    await until("both servers know", async () => (await servers.shown()).every((one) => one === "spreading 1"));
    // A server sends the version after it shows the stage.
    await until("the first stage, a fifth of twenty", async () => await servers.having("2s") === 4);
    await until(
      "status tells",
      async () => /stage 1 of 2 \(20%\)/.test(await messages(server, rule(namespace, "", {}))),
    );

    await objects.apply(rule(namespace, "2s", plan));
    await until("all have the second version", async () => await servers.having("2s") === 2 * PROXIES);
    await until("both servers have ended", async () => (await servers.shown()).every((one) => one === ""));

    await objects.apply(rule(namespace, "3s", plan));
    await servers.rejectNext();
    await until("both took it back", async () => (await servers.shown()).every((one) => /^taken-back/.test(one)));
    await until("all have the second version again", async () => await servers.having("2s") === 2 * PROXIES);
    await until("status tells why", async () => /MSH1137/.test(await messages(server, rule(namespace, "", {}))));

    await objects.apply(rule(namespace, "4s", paused));
    await until("the next version begins", async () => await servers.having("4s") === 4);
  });
  await withServers(server, namespace, async (servers) => {
    await until("both servers know", async () => (await servers.shown()).every((one) => /^\w+ 1$/.test(one)));
    assert.equal(await servers.having("1s"), 0);
    await until("the same stage", async () => await servers.having("4s") === 4 && await servers.having("2s") === 16);
  });
});

test("config maps keep rollouts over restarts, each revision its own", async ({ server: { client }, namespace }) => {
  const log = silentLog().scope("model");
  const open = (revision: string) => {
    const shelf = new MapShelf({ client, namespace, revision, log });
    return Promise.resolve({ shelf, [Symbol.asyncDispose]: () => shelf.stop() });
  };
  await keepsRollouts(() => open("default"));
  await using canary = await open("canary");
  await canary.shelf.read();
  await keepsRollouts(() => open("default"));
});

test("a rollout that does not fit into a config map does not keep the state of others from being kept", async ({ server: { client }, namespace }) => {
  const shelf = new MapShelf({ client, namespace, revision: "default", log: silentLog().scope("model") });
  try {
    await shelf.read();
    // Random digits hardly shrink: more than 1 MiB in gzip.
    const text = (length: number) => crypto.getRandomValues(new Uint8Array(length)).toBase64();
    const long = Array.from({ length: 40 }, () => text(30_000)).join("");
    const [large, fitting] = [rolloutRecord("a", 0, long), rolloutRecord("b", 0)];
    for (let writes = 0; writes < 2; writes++) {
      const unkept = await shelf.write([large, fitting]);
      assert.deepEqual([...unkept], [[large.key, "the object is too large for a config map"]]);
    }
    assert.deepEqual((await shelf.read()).map(({ key }) => key), [fitting.key]);
    assert.deepEqual([...await shelf.write([rolloutRecord("a", 0), fitting])], [], "a smaller version is kept");
  } finally {
    await shelf.stop();
  }
});

test("an account without the right to read the state is told apart from an API that does not answer", async ({ server, namespace }) => {
  const client = clientOf(await server.users.byCertificate("nobody"));
  const shelf = new MapShelf({ client, namespace, revision: "default", log: silentLog().scope("model") });
  await assert.rejects(shelf.read(), RolloutsForbidden);
  await shelf.stop();
});
