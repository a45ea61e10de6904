/**
 * Serves a synthetic mesh over ADS, to measure only the wire with any xDS load generator: 1,683 clusters with
 * endpoints, 204 listeners, route configurations with virtual hosts by VHDS (delta) or inside. About 5 MB per proxy,
 * the shape of 1,000 services x 10 endpoints, of which 100 services are routed and have two subsets. Each proxy has a
 * separate inbound listener and cluster.
 *
 *     deno run --allow-net --allow-env tests/bench/wire_bench.ts [--port 15010] [--vhds] [--levels]
 *
 * `GET /edit?round=N` on the same port changes a route rule and answers with a marker in the pushed bytes. `GET
 * /endpoint?round=N` changes an endpoint. `GET /usage` returns CPU seconds and resident memory, `GET /ledger` the
 * latest pushes, `GET /memory` the process's memory.
 *
 * Permissions: net (listen), env (protobufjs).
 *
 * @module
 */
import http from "node:http";
import process from "node:process";
import { gzipSync } from "node:zlib";
import type { envoy } from "../../proto/gen/types.ts";
import { any, encode } from "../../lib/pb/codec.ts";
import { type EncodedResource, encodeResource, type ResourceFacts } from "../../lib/resource/encoded.ts";
import { setBlocks } from "../../lib/resource/diff.ts";
import { XdsServer } from "../../lib/xds/server.ts";
import type { ConnectRequest, ProxyView } from "../../lib/xds/protocol/source.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, VIRTUAL_HOST } from "../../lib/xds/protocol/types.ts";
import { MemorySource } from "../xds/support/memory_source.ts";

const HCM = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const ADS = { config_source: { ads: {}, resource_api_version: 2 } };
const vhds = Deno.args.includes("--vhds");
const portAt = Deno.args.indexOf("--port");
const SERVICES = 1000;

function resource(typeUrl: string, name: string, message: object, facts?: ResourceFacts): EncodedResource {
  return encodeResource(typeUrl, name, encode(typeUrl.slice(typeUrl.indexOf("/") + 1), message), facts);
}

const host = (i: number) => `svc-${i}.ns-${i % 10}.svc.cluster.local`;

function clusterNames(): string[] {
  const names: string[] = [];
  for (let i = 0; i < SERVICES; i++) {
    names.push(`outbound|80||${host(i)}`);
    if (i % 2 === 0) names.push(`outbound|9090||${host(i)}`);
    if (i < 90) names.push(`outbound|80|v1|${host(i)}`, `outbound|80|v2|${host(i)}`);
  }
  return names;
}

function cluster(name: string): EncodedResource {
  const metadata = {
    host: { string_value: name.split("|")[3]! },
    name: { string_value: name },
    namespace: { string_value: "default" },
  };
  return resource(CLUSTER, name, {
    name,
    type: 3,
    connect_timeout: { seconds: 10 },
    eds_cluster_config: { eds_config: { ads: {}, resource_api_version: 2 }, service_name: name },
    circuit_breakers: {
      thresholds: [{
        max_connections: { value: 4294967295 },
        max_pending_requests: { value: 4294967295 },
        max_requests: { value: 4294967295 },
        max_retries: { value: 4294967295 },
        track_remaining: true,
      }],
    },
    common_lb_config: { healthy_panic_threshold: {} },
    metadata: {
      filter_metadata: {
        mesh: {
          fields: {
            services: { list_value: { values: [{ struct_value: { fields: metadata } }] } },
            default_original_port: { number_value: 80 },
          },
        },
      },
    },
    filters: [{
      name: "metadata_exchange",
      typed_config: { type_url: "type.googleapis.com/google.protobuf.Empty", value: new Uint8Array(1400).fill(65) },
    }],
  }, { warms: [name] });
}

function endpoints(name: string, shift = 0): EncodedResource {
  const seed = [...name].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) >>> 0, 7) + shift;
  const lb = Array.from({ length: 10 }, (_, i) => ({
    health_status: 1,
    load_balancing_weight: { value: 1 },
    endpoint: {
      address: {
        socket_address: { address: `10.${(seed >>> 8) & 255}.${seed & 255}.${i + 1}`, port_value: 8080 },
      },
    },
    metadata: {
      filter_metadata: {
        mesh: { fields: { workload: { string_value: `${name.split("|")[3]};ns;v1;;cluster-${i}-of-the-mesh` } } },
      },
    },
  }));
  return resource(ENDPOINTS, name, {
    cluster_name: name,
    endpoints: [{ locality: { region: "r1", zone: "z1" }, lb_endpoints: lb, load_balancing_weight: { value: 10 } }],
  });
}

function listener(name: string, port: number, routes: string): EncodedResource {
  const hcm = { stat_prefix: name, rds: { route_config_name: routes, ...ADS }, http_filters: [] };
  return resource(LISTENER, name, {
    name,
    address: { socket_address: { address: "0.0.0.0", port_value: port } },
    filter_chains: [{
      filters: [{ name: "envoy.filters.network.http_connection_manager", typed_config: any(HCM, hcm) }],
    }],
  });
}

function virtualHost(i: number, marker = "") {
  const domains = [host(i), `svc-${i}.ns-${i % 10}`, `svc-${i}.ns-${i % 10}.svc`, `10.0.${i >> 8}.${i & 255}`];
  const route = {
    match: { prefix: "/" },
    route: { cluster: `outbound|80||${host(i)}`, timeout: {}, retry_policy: { retry_on: "connect-failure,reset" } },
    decorator: { operation: `${host(i)}:80/*` },
  };
  const edited = {
    match: { prefix: "/", headers: [{ name: "x-marker", string_match: { exact: marker } }] },
    route: route.route,
  };
  return { name: `${host(i)}:80`, domains, routes: marker === "" ? [route] : [edited, route] };
}

const source = new MemorySource();

function routes(marker: string): void {
  if (vhds) {
    const hosts = Array.from({ length: SERVICES }, (_, i) => {
      const message = virtualHost(i, i === 0 ? marker : "") as envoy.config.route.v3.VirtualHost;
      return resource(VIRTUAL_HOST, `80/${message.name}`, message);
    });
    source.changeHosts("80", hosts);
    source.change(ROUTE, ["80", "8080"].map((name) => resource(ROUTE, name, { name, vhds: ADS })));
    source.changeHosts("8080", [resource(VIRTUAL_HOST, "8080/all", { name: "all", domains: ["*"] })]);
    return;
  }
  const hosts = Array.from({ length: SERVICES }, (_, i) => virtualHost(i, i === 0 ? marker : ""));
  source.change(ROUTE, [
    resource(ROUTE, "80", { name: "80", virtual_hosts: hosts }),
    resource(ROUTE, "8080", { name: "8080", virtual_hosts: [{ name: "all", domains: ["*"] }] }),
  ]);
}

/** Gives each proxy a separate listener and cluster. */
class BenchSource {
  connect(request: ConnectRequest): ProxyView {
    const view = source.connect(request) as ReturnType<MemorySource["connect"]> & { own: Map<string, unknown> };
    const id = request.node.id!;
    view.own.set(LISTENER, source.table.from([listener(`virtualInbound-${id}`, 15006, "8080")]));
    view.own.set(
      CLUSTER,
      source.table.from([resource(CLUSTER, `inbound|8080||${id}`, { name: `inbound|8080||${id}` })]),
    );
    return view;
  }
  readonly ready = true;
  onPush = source.onPush.bind(source);
}

function levels(): void {
  for (const typeUrl of source.shared.keys()) {
    const blocks = setBlocks(source.shared.get(typeUrl)!, "delta").map((block) => block.plain);
    const plain = blocks.reduce((sum, block) => sum + block.length, 0);
    for (const level of [1, 2, 3, 4, 6, 9]) {
      const started = performance.now();
      const size = blocks.reduce((sum, block) => sum + gzipSync(block, { level }).length, 0);
      console.log(
        `${typeUrl.split(".").at(-1)} level ${level}: ${plain} -> ${size} bytes, ${blocks.length} blocks, ${
          (performance.now() - started).toFixed(1)
        } ms`,
      );
    }
  }
}

const names = clusterNames();
source.change(CLUSTER, names.map(cluster));
source.change(ENDPOINTS, names.map((name) => endpoints(name)));
source.change(
  LISTENER,
  Array.from({ length: 204 }, (_, i) => listener(`10.1.0.${i}_8080`, 8080 + i, i === 0 ? "80" : "8080")),
);
routes("");
if (Deno.args.includes("--levels")) {
  levels();
  Deno.exit();
}

const server = new XdsServer({ source: new BenchSource(), resources: source.table });
const pages = http.createServer((request, response) => {
  const url = new URL(request.url!, "http://x");
  const round = url.searchParams.get("round") ?? "0";
  if (url.pathname === "/edit") {
    const marker = `marker-${round}-${Date.now()}`;
    routes(marker);
    source.push();
    response.end(marker);
  } else if (url.pathname === "/endpoint") {
    const shift = 1 + Number(round);
    source.change(ENDPOINTS, [endpoints(names[0]!, shift)]);
    source.push({ endpoint: 1 });
    response.end(names[0]!);
  } else if (url.pathname === "/ledger") response.end(JSON.stringify(server.ledger.pushes(), null, 1));
  else if (url.pathname === "/streams") {
    const [streams, connections] = [[...server.streams()], [...server.grpc.connections]].map((list) => list.length);
    response.end(`${streams} streams, ${connections} connections, ${server.grpc.budget.active.size} sending`);
  } else if (url.pathname === "/usage") {
    const { user, system } = process.cpuUsage();
    response.end(JSON.stringify({ cpu: (user + system) / 1e6, rss: Math.round(Deno.memoryUsage().rss / 1e6) }));
  } else if (url.pathname === "/memory") {
    // With --v8-flags=--expose-gc only retained memory is counted.
    (globalThis as unknown as { gc?: () => void }).gc?.();
    response.end(JSON.stringify(Deno.memoryUsage()));
  } else response.writeHead(404).end();
});
const listening = await server.listen(
  `:${portAt < 0 ? 0 : Deno.args[portAt + 1]}`,
  (socket) => pages.emit("connection", socket),
);
console.log(`listening on ${listening.port}, pid ${Deno.pid}`);
Deno.addSignalListener("SIGTERM", async () => {
  await server.stop(2000);
  Deno.exit(0);
});
