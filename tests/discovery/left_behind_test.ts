/** The memory left behind by departed proxies. */
import assert from "node:assert/strict";
import * as grpc from "@grpc/grpc-js";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { keptBytes } from "../xds/support/memory.ts";
import type { DiscoveryServer } from "../../lib/discovery/server.ts";
import { parseAllDocuments } from "yaml";
import { wireMetrics } from "../../lib/discovery/measure.ts";
import { PipelineSource } from "../../lib/discovery/proxies/source.ts";
import type { Call } from "../../lib/grpc/call.ts";
import { RpcError } from "../../lib/grpc/status.ts";
import { type Kernel, startKernel } from "../../lib/kernel/kernel.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { concatBytes } from "../../lib/resource/block.ts";
import { DiffTable } from "../../lib/resource/diff.ts";
import { InternedNames } from "../../lib/resource/names.ts";
import { RecentTexts } from "../../lib/xds/ads/recent_texts.ts";
import { StackDigests } from "../../lib/xds/ads/set_stack.ts";
import { type ConnectionContext, XdsConnection } from "../../lib/xds/connection.ts";
import { PushLedger } from "../../lib/xds/ledger.ts";
import { OwedEndpoints } from "../../lib/xds/owed_endpoints.ts";
import { ClientEvents } from "../../lib/xds/events/client_events.ts";
import { QuestionPlaces } from "../../lib/xds/questions/places.ts";
import { RejectGauges } from "../../lib/xds/reject_gauges.ts";
import { Fixture } from "./fixture.ts";
import { page, withServer } from "./running.ts";

const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
const PREFIX = "type.googleapis.com/envoy.config.";
const TYPES = ["cluster.v3.Cluster", "listener.v3.Listener", "endpoint.v3.ClusterLoadAssignment"].map((t) =>
  PREFIX + t
);
const same = (bytes: Uint8Array) => Buffer.from(bytes);
const text = (value: string) => ({ stringValue: value });
const fields = (map: object) => ({ structValue: { fields: map } });

/** Configuration whose translation asks for labels, namespaces, networks and headers. */
const FILES = {
  "entry.yaml": `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: x }
spec:
  hosts: [a.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }, { number: 90, name: tcp, protocol: TCP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.1, labels: { app: a }, network: one }]
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: a, namespace: x }
spec:
  hosts: [a.example.com]
  http:
    - match: [{ sourceLabels: { app: x } }]
      route: [{ destination: { host: a.example.com } }]
    - route: [{ destination: { host: a.example.com } }]
---
apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: a, namespace: x }
spec:
  host: a.example.com
  trafficPolicy: { loadBalancer: { localityLbSetting: { enabled: true, failoverPriority: [app] } } }
---
apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: a, namespace: x }
spec: { workloadSelector: { labels: { app: selected } }, egress: [{ hosts: ["*/*"] }] }
`,
};

/** A different id for each proxy, of the greatest length. */
const nodeId = (i: number) => `sidecar~10.0.0.1~${`a${i}`.padEnd(900, "a")}.x~x.svc.cluster.local`;

/** Bulky nodes, each with the bulk in another place; a refusal is an answer too. */
const PLACES: Readonly<Record<string, (bulk: string, i: number) => object>> = {
  "the node id": (bulk, i) => ({ id: `sidecar~10.0.0.1~${bulk}${i}.x~x.svc.cluster.local` }),
  "its namespace": (bulk, i) => ({ metadata: { fields: { NAMESPACE: text(bulk + i) } } }),
  "a label's value": (bulk, i) => ({ metadata: { fields: { LABELS: fields({ app: text(bulk + i) }) } } }),
  "a label's name": (bulk, i) => ({ metadata: { fields: { LABELS: fields({ [bulk + i]: text("x") }) } } }),
  "its version": (bulk, i) => ({ metadata: { fields: { MESH_VERSION: text(bulk + i) } } }),
  "its cluster and network": (bulk, i) => ({
    metadata: { fields: { CLUSTER_ID: text(bulk + i), NETWORK: text(bulk + i) } },
  }),
  "its locality": (bulk, i) => ({ locality: { region: bulk + i, zone: "z" } }),
  "its proxy headers": (bulk, i) => ({
    metadata: {
      fields: { PROXY_CONFIG: fields({ proxyHeaders: fields({ server: fields({ value: text(bulk + i) }) }) }) },
    },
  }),
  "metadata that nobody reads": (bulk, i) => ({ metadata: { fields: { EXTRA: text(bulk + i) } } }),
};

/** Connects, asks for everything, rejects everything in words of its own, and leaves. */
async function visit(client: grpc.Client, node: object, type: string, bulk: string): Promise<void> {
  const call = client.makeBidiStreamRequest(ADS, same, same);
  const ended = new Promise<void>((resolve) => call.on("error", () => resolve()).on("end", resolve));
  const send = (request: object) => call.write(encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", request));
  let answers = 0;
  const rejected = new Promise<void>((resolve) =>
    call.on("data", (bytes: Uint8Array) => {
      if (answers++ > 0) return resolve();
      const { nonce } = decode<{ nonce: string }>("envoy.service.discovery.v3.DeltaDiscoveryResponse", bytes);
      send({ type_url: type, response_nonce: nonce, error_detail: { code: bulk.length, message: bulk } });
      send({ type_url: `${bulk.slice(0, 200)}/${nonce}` });
      // The answer to this request comes after the server has read the rejection.
      send({ type_url: type, resource_names_subscribe: [bulk] });
    })
  );
  send({ node, type_url: type, ...(type.includes("endpoint") && { resource_names_subscribe: [bulk] }) });
  await Promise.race([rejected, ended]);
  call.cancel();
  await ended;
}

/** Many proxies come and go, each with its own bulk in one place. @returns the bytes left behind by each proxy */
async function leftBehind(server: DiscoveryServer, size: number, count: number): Promise<number> {
  const client = new grpc.Client(`127.0.0.1:${server.ports.grpc}`, grpc.credentials.createInsecure());
  const places = Object.values(PLACES);
  const some = async (from: number, to: number) => {
    for (let i = from; i < to; i++) {
      const bulk = `${i}-`.padEnd(size, "x");
      const node = { id: nodeId(i), ...places[i % places.length]!(bulk, i) };
      await visit(client, node, TYPES[i % TYPES.length]!, bulk);
    }
    while ([...server.xds.streams()].length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    server.pipeline.translator.sweep();
    await page(server.ports.monitoring, "/metrics");
    await page(server.ports.monitoring, "/metrics");
    return await keptBytes();
  };
  try {
    // The first proxies fill everything with a bound: the ledger, tables of recent events.
    const before = await some(0, count / 2);
    return (await some(count / 2, count) - before) / (count / 2);
  } finally {
    client.close();
  }
}

Deno.test("a departed proxy leaves nothing of its megabyte behind, wherever the megabyte was", async () => {
  await withServer(FILES, async (server) => {
    const each = await leftBehind(server, 1 << 20, 90);
    // A single leaking place would show: a ninth of the proxies have their bulk there, which is 116 kB a proxy.
    assert.ok(each < 60_000, `${each} bytes a proxy`);
  });
});

Deno.test("thousands of proxies with different texts leave nothing behind, and a page of metrics below 1 MB", async () => {
  await withServer(FILES, async (server) => {
    const each = await leftBehind(server, 40, 1800);
    assert.ok(each < 2000, `${each} bytes a proxy`);
    const { body } = await page(server.ports.monitoring, "/metrics");
    assert.ok(body.length < 1_000_000, `${body.length} bytes of metrics`);
  });
});

/** A call without a connection: decodes answers, and notes the end. */
class LooseCall {
  readonly peer = { address: "192.0.2.1:1" };
  readonly headers = {};
  readonly acceptsGzip = false;
  readonly nonces: string[] = [];
  closed = false;

  send(parts: readonly Uint8Array[], _compressed: boolean, taken: () => void): void {
    const bytes = concatBytes(parts);
    this.nonces.push(decode<{ nonce: string }>("envoy.service.discovery.v3.DeltaDiscoveryResponse", bytes).nonce);
    taken();
  }

  end(): void {
    this.closed = true;
  }

  fail(): void {
    this.closed = true;
  }
}

/** All tables of a wire before a pipeline, without a network: 10,000 visits through sockets would take minutes. */
function looseWire(fixture: Fixture, kernel: Kernel): ConnectionContext {
  const metrics = wireMetrics(kernel.metrics);
  let numbers = 0;
  return {
    source: new PipelineSource(fixture.pipeline, fixture.nodes),
    ledger: new PushLedger(),
    metrics,
    names: new InternedNames(),
    texts: new RecentTexts(),
    diffs: new DiffTable(),
    digests: new StackDigests(),
    resources: fixture.pipeline.table,
    maxRequest: Infinity,
    maxResponseBytes: 1 << 21,
    connectTimeout: 10_000,
    wantTimeout: 10_000,
    later: () => () => {},
    controlPlane: "",
    log() {},
    nextNumber: () => ++numbers,
    owed: new OwedEndpoints(),
    rejects: new RejectGauges(metrics),
    aside: {
      questions: { answers: undefined, places: new QuestionPlaces() },
      events: { answers: undefined, places: new QuestionPlaces(), events: new ClientEvents(() => []) },
    },
    onOpen() {},
    onClose() {},
    onAnswered() {},
  };
}

/** One visit as {@linkcode visit}, request by request. */
function looseVisit(context: ConnectionContext, node: object, type: string, bulk: string): void {
  const call = new LooseCall();
  const connection = new XdsConnection(call as unknown as Call, true, context);
  const send = (request: object) => {
    if (call.closed) return;
    try {
      connection.message(encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", { type_url: type, ...request }));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      call.closed = true;
    }
  };
  send({ node, ...(type.includes("endpoint") && { resource_names_subscribe: [bulk] }) });
  const nonce = call.nonces.at(-1);
  if (nonce !== undefined) send({ response_nonce: nonce, error_detail: { code: bulk.length, message: bulk } });
  connection.close();
}

Deno.test("10,000 identities, each with 8 kB and 200 with a megabyte, leave at most 20 MB behind in all tables together", async () => {
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const fixture = new Fixture();
  fixture.put(...parseAllDocuments(FILES["entry.yaml"]).map((document) => document.toJS()));
  fixture.pipeline.flush();
  const context = looseWire(fixture, kernel);
  const places = Object.values(PLACES);
  const before = await keptBytes();
  for (let i = 0; i < 10_000; i++) {
    // A leaking table would keep 80 MB of the small texts; a table leaking only some texts would keep large texts.
    const bulk = `${i}-`.padEnd(i % 50 === 0 ? 1 << 20 : 1 << 13, "x");
    looseVisit(context, { id: nodeId(i), ...places[i % places.length]!(bulk, i) }, TYPES[i % TYPES.length]!, bulk);
    if (i % 100 !== 99) continue;
    fixture.pipeline.translator.sweep();
    // Weakly held objects go when the event loop turns.
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  fixture.pipeline.translator.sweep();
  const left = await keptBytes() - before;
  assert.ok(left <= 20_000_000, `${left} bytes`);
  const { body } = await kernel.metrics.scrape();
  assert.ok(body.length < 1_000_000, `${body.length} bytes of metrics`);
  assert.ok(context.texts.unique("the tables") === "the tables", "they are in use to the end");
  fixture.pipeline.stop();
  await kernel.stopper.stop();
});
