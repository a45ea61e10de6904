/** What proxies that are gone leave behind. */
import assert from "node:assert/strict";
import * as grpc from "@grpc/grpc-js";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { keptBytes } from "../xds/support/memory.ts";
import type { DiscoveryServer } from "../../lib/discovery/server.ts";
import { page, withServer } from "./running.ts";

const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
const PREFIX = "type.googleapis.com/envoy.config.";
const TYPES = ["cluster.v3.Cluster", "listener.v3.Listener", "endpoint.v3.ClusterLoadAssignment"].map((t) =>
  PREFIX + t
);
const same = (bytes: Uint8Array) => Buffer.from(bytes);
const text = (value: string) => ({ stringValue: value });
const fields = (map: object) => ({ structValue: { fields: map } });

/** Configuration that has translation ask for labels, namespaces, networks and headers. */
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

/** Each proxy has another one, as long as they may be. */
const nodeId = (i: number) => `sidecar~10.0.0.1~${`a${i}`.padEnd(900, "a")}.x~x.svc.cluster.local`;

/** Nodes that carry a lot, each in another place; a refusal is an answer too. */
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

/** Connects, asks for everything, rejects all of it in its own words, and leaves. */
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
      // The answer to this comes after the rejection was taken in.
      send({ type_url: type, resource_names_subscribe: [bulk] });
    })
  );
  send({ node, type_url: type, ...(type.includes("endpoint") && { resource_names_subscribe: [bulk] }) });
  await Promise.race([rejected, ended]);
  call.cancel();
  await ended;
}

/** Has many proxies come and go, each with its own bulk in one place; returns the bytes that each leaves behind. */
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
    // The first ones fill what has a bound: the ledger, tables of what came last.
    const before = await some(0, count / 2);
    return (await some(count / 2, count) - before) / (count / 2);
  } finally {
    client.close();
  }
}

Deno.test("a proxy that is gone leaves nothing of the megabyte behind that it had, wherever it had it", async () => {
  await withServer(FILES, async (server) => {
    const each = await leftBehind(server, 1 << 20, 90);
    // One place that kept it would be seen: a ninth of them have it there.
    assert.ok(each < 20_000, `${each} bytes a proxy`);
  });
});

Deno.test("thousands of proxies that all say something else leave nothing behind, and a page of metrics below 1 MB", async () => {
  await withServer(FILES, async (server) => {
    const each = await leftBehind(server, 40, 1800);
    assert.ok(each < 2000, `${each} bytes a proxy`);
    const { body } = await page(server.ports.monitoring, "/metrics");
    assert.ok(body.length < 1_000_000, `${body.length} bytes of metrics`);
  });
});
