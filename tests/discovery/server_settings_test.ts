import * as grpc from "@grpc/grpc-js";
import assert from "node:assert/strict";
import http2 from "node:http2";
import { networkInterfaces } from "node:os";
import { callLimits, wireLimits } from "../../lib/discovery/settings/settings.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { encode } from "../../lib/pb/codec.ts";
import { PushQueue } from "../../lib/xds/push_queue.ts";
import { PREFACE } from "../../lib/grpc/h2/constants.ts";
import { openLog } from "./open_log.ts";
import { page, withServer } from "./running.ts";

const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const CLUSTERS = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const same = (bytes: Uint8Array) => Buffer.from(bytes);

/** Asks for clusters. @returns the status of an ended stream, or `answer` */
function ask(port: number, node: object): Promise<string | grpc.StatusObject> {
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1,
  });
  const call = client.makeBidiStreamRequest(ADS, same, same, new grpc.Metadata());
  const outcome = new Promise<string | grpc.StatusObject>((resolve) => {
    call.on("data", () => resolve("answer"));
    call.on("error", () => {});
    call.on("status", resolve);
  });
  call.write(encode("envoy.service.discovery.v3.DiscoveryRequest", { type_url: CLUSTERS, node }));
  return outcome.finally(() => client.close());
}

const node = { id: "sidecar~10.0.0.1~a.x~x.svc.cluster.local" };
const large = {
  ...node,
  metadata: { fields: { EXTRA: { stringValue: "x".repeat(20_000) } } },
};

Deno.test("MESH_GPRC_MAXRECVMSGSIZE: a larger request is refused, and only then", async () => {
  await withServer({}, async ({ ports }) => {
    assert.equal(await ask(ports.grpc, large), "answer");
  });
  await withServer({}, async ({ ports }) => {
    const outcome = await ask(ports.grpc, large) as grpc.StatusObject;
    assert.equal(outcome.code, grpc.status.RESOURCE_EXHAUSTED);
    assert.equal(await ask(ports.grpc, node), "answer");
  }, { settings: { MESH_GPRC_MAXRECVMSGSIZE: 10_000 } });
});

Deno.test("MESH_GPRC_MAXSTREAMS is announced to clients", async () => {
  await withServer({}, async ({ ports }) => {
    const session = http2.connect(`http://127.0.0.1:${ports.grpc}`);
    try {
      const settings = await new Promise<http2.Settings>((resolve, reject) => {
        session.on("remoteSettings", resolve);
        session.on("error", reject);
      });
      assert.equal(settings.maxConcurrentStreams, 7);
    } finally {
      await new Promise<void>((resolve) => session.close(resolve));
    }
  }, { settings: { MESH_GPRC_MAXSTREAMS: 7 } });
});

Deno.test("MESH_MAX_CONNECTIONS: a further connection is closed at once, and the log says why", async () => {
  const { log, lines } = openLog();
  await withServer({}, async ({ ports }) => {
    const connect = async () => {
      const connection = await Deno.connect({ hostname: "127.0.0.1", port: ports.grpc });
      await connection.write(PREFACE);
      // A connection with a place gets the settings of the server.
      const read = await connection.read(new Uint8Array(1)).catch(() => null);
      return { connection, taken: read !== null };
    };
    const [first, second] = [await connect(), await connect()];
    const refused = await connect();
    assert.deepEqual([first, second, refused].map(({ taken }) => taken), [true, true, false]);
    for (const { connection } of [first, second, refused]) connection.close();
  }, { settings: { MESH_MAX_CONNECTIONS: 2 }, log });
  assert.deepEqual(lines.filter(({ limit }) => limit === 2).map(({ level, msg }) => [level, msg]), [
    ["warn", "a connection was closed: the most connections are open"],
  ]);
});

Deno.test("PILOT_MAX_REQUESTS_PER_SECOND is the rate of admission: streams are delayed, and a few streams are never refused", async () => {
  assert.equal(
    wireLimits(defaultSettings("pilot-discovery", { PILOT_MAX_REQUESTS_PER_SECOND: 2 })).maxRequestsPerSecond,
    2,
  );
  await withServer({}, async ({ ports }) => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(ports.grpc, node)));
    assert.deepEqual(answers, Array(6).fill("answer"));
  }, { settings: { PILOT_MAX_REQUESTS_PER_SECOND: 2 } });
});

Deno.test("PILOT_PUSH_THROTTLE is the number of streams that are pushed to at a time; 0 leaves it to the cores", async () => {
  assert.equal(wireLimits(defaultSettings("pilot-discovery", { PILOT_PUSH_THROTTLE: 3 })).pushThrottle, 3);
  assert.equal(wireLimits(defaultSettings("pilot-discovery")).pushThrottle, 0);
  const started: number[] = [];
  const queue = new PushQueue(3, () => {});
  const served = Promise.withResolvers<void>();
  const release: (() => void)[] = [];
  for (let i = 0; i < 5; i++) {
    queue.add({
      push(taken) {
        started.push(i);
        release.push(taken);
        if (started.length >= 3) served.resolve();
      },
    });
  }
  await served.promise;
  assert.deepEqual([started, queue.length], [[0, 1, 2], 2]);
});

Deno.test("limits of connections are handed on unchanged", () => {
  const settings = defaultSettings("pilot-discovery", {
    MESH_GPRC_MAXRECVMSGSIZE: 1,
    MESH_GPRC_MAXSTREAMS: 2,
    MESH_MAX_CONNECTIONS: 3,
  });
  assert.deepEqual(callLimits(settings), { maxMessageSize: 1, maxConcurrentStreams: 2, maxConnections: 3 });
});

Deno.test("ENABLE_DEBUG_ON_HTTP=false takes the debug pages away, and nothing else", async () => {
  await withServer({}, async ({ ports }) => {
    assert.equal((await page(ports.http, "/debug/registryz")).status, 404);
    assert.equal((await page(ports.monitoring, "/debug/registryz")).status, 404);
    assert.equal((await page(ports.http, "/ready")).status, 200);
    assert.equal((await page(ports.monitoring, "/metrics")).status, 200);
  }, { settings: { ENABLE_DEBUG_ON_HTTP: false } });
});

Deno.test("METRICS_LOCALHOST_ACCESS_ONLY refuses callers that are not on this machine's loopback", async (t) => {
  const outside = Object.values(networkInterfaces()).flat().find((i) => i && !i.internal && i.family === "IPv4");
  const options = { monitoring: "0.0.0.0:0" };
  for (const only of [false, true]) {
    await withServer({}, async ({ ports }) => {
      assert.equal((await page(ports.monitoring, "/metrics")).status, 200);
      await t.step({
        name: `from another address, ${only ? "with" : "without"} the setting`,
        ignore: outside === undefined,
        fn: async () => {
          assert.equal((await page(ports.monitoring, "/metrics", outside!.address)).status, only ? 403 : 200);
        },
      });
    }, { options, settings: { METRICS_LOCALHOST_ACCESS_ONLY: only } });
  }
});

Deno.test("PILOT_XDS_CACHE_STATS feeds the metrics of the cache, which are 0 without it", async () => {
  const entry = JSON.stringify({
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name: "a", namespace: "x" },
    spec: { hosts: ["a.example.com"], ports: [{ number: 80, name: "http", protocol: "HTTP" }] },
  });
  for (const on of [false, true]) {
    await withServer({ "a.json": entry }, async ({ ports }) => {
      assert.equal(await ask(ports.grpc, node), "answer");
      const { body } = await page(ports.monitoring, "/metrics");
      assert.equal(/^xds_cache_reads\{type="miss"\} [1-9]/m.test(body), on);
      assert.equal(/^xds_cache_size [1-9]/m.test(body), on);
      assert.equal(/^xds_cache_dependent_config_size [1-9]/m.test(body), on);
    }, { settings: { PILOT_XDS_CACHE_STATS: on } });
  }
});

Deno.test("the measurements of the wire and the pipeline are in a scrape", async () => {
  const entry = (address: string) =>
    JSON.stringify({
      apiVersion: "networking.mesh.io/v1",
      kind: "ServiceEntry",
      metadata: { name: "a", namespace: "x" },
      spec: {
        hosts: ["a.example.com"],
        ports: [{ number: 80, name: "http", protocol: "HTTP" }],
        resolution: "STATIC",
        endpoints: [{ address }],
      },
    });
  await withServer({ "a.json": entry("10.0.0.1") }, async ({ ports, pipeline }, folder) => {
    assert.equal(await ask(ports.grpc, node), "answer");
    const pushed = new Promise<unknown>((resolve) => pipeline.onPush(resolve));
    await Deno.writeTextFile(`${folder}/a.json`, entry("10.0.0.2"));
    await pushed;
    const { body } = await page(ports.monitoring, "/metrics");
    const expected = [
      /^pilot_xds_pushes\{type="cds"\} 1$/m,
      /^pilot_xds_push_time_count\{type="cds"\} 1$/m,
      /^pilot_xds_config_size_bytes_count\{type="cds"\} 1$/m,
      /^pilot_xds_send_time_count [1-9]/m,
      /^pilot_push_triggers\{type="config"\} [1-9]/m,
      /^pilot_debounce_time_count [1-9]/m,
      /^pilot_pushcontext_init_seconds_count [1-9]/m,
      /^pilot_inbound_updates\{type="config"\} 2$/m,
      /^pilot_inbound_updates\{type="eds"\} [1-9]/m,
      /^meshd_managed_clusters\{cluster_type="local"\} 1$/m,
      /^meshd_managed_clusters\{cluster_type="remote"\} 0$/m,
      /^startup_duration_seconds 0*[.1-9]/m,
    ];
    assert.deepEqual(expected.filter((pattern) => !pattern.test(body)).map(String), []);
  });
});

Deno.test("K_REVISION refuses the first stream, and only that", async () => {
  await withServer({}, async ({ ports }) => {
    const first = await ask(ports.grpc, node) as grpc.StatusObject;
    assert.deepEqual([first.code, first.details], [grpc.status.UNAVAILABLE, "the server is warming up, try again"]);
    assert.equal(await ask(ports.grpc, node), "answer");
    assert.equal(await ask(ports.grpc, node), "answer");
  }, { settings: { K_REVISION: "hello-00001" } });
  await withServer({}, async ({ ports }) => assert.equal(await ask(ports.grpc, node), "answer"));
});

async function post(port: number, path: string): Promise<{ status: number; body: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST" });
  return { status: response.status, body: await response.text() };
}

Deno.test("UNSAFE_ENABLE_ADMIN_ENDPOINTS: a proxy can be disconnected by a page, and not without", async () => {
  const path = "/debug/force_disconnect?proxyID=a.x";
  await withServer({}, async ({ ports }) => assert.equal((await post(ports.http, path)).status, 404));
  await withServer({}, async ({ ports }) => {
    assert.equal((await post(ports.http, path)).status, 404, "no proxy is there");
    const client = new grpc.Client(`127.0.0.1:${ports.grpc}`, grpc.credentials.createInsecure());
    const call = client.makeBidiStreamRequest(ADS, same, same, new grpc.Metadata());
    const ended = new Promise<grpc.StatusObject>((resolve) => call.on("status", resolve));
    const answered = new Promise((resolve) => call.once("data", resolve));
    call.on("error", () => {});
    call.write(encode("envoy.service.discovery.v3.DiscoveryRequest", { type_url: CLUSTERS, node }));
    await answered;
    const { status, body } = await post(ports.http, path);
    assert.deepEqual([status, body], [200, "OK\n"]);
    const { code, details } = await ended;
    assert.deepEqual([code, details], [grpc.status.UNAVAILABLE, "disconnected by an operator"]);
    client.close();
    assert.match((await page(ports.http, "/debug")).body, /force_disconnect/);
  }, { settings: { UNSAFE_ENABLE_ADMIN_ENDPOINTS: true } });
});
