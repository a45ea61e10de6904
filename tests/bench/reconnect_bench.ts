/**
 * The server's cost when many incremental clients reconnect with their versions: a client learns all resources of
 * `wire_bench.ts`, then many clients connect at once with these versions and should get nothing.
 *
 *     deno run --allow-net --allow-env --allow-sys --allow-run tests/bench/reconnect_bench.ts [clients]
 *
 * Prints CPU seconds and resident memory of the server, and the sent resources.
 *
 * Permissions: net (localhost), env and sys (grpc-js), run (deno).
 *
 * @module
 */
import * as grpc from "@grpc/grpc-js";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "../../lib/xds/protocol/types.ts";

const clients = Number(Deno.args[0] ?? 400);
const script = new URL("wire_bench.ts", import.meta.url).pathname;
const server = new Deno.Command(Deno.execPath(), {
  args: ["run", "--allow-net", "--allow-env", script],
  stdout: "piped",
}).spawn();
const output = await server.stdout.pipeThrough(new TextDecoderStream()).getReader().read();
const port = Number(/listening on (\d+)/.exec(output.value!)![1]);

interface Response {
  type_url: string;
  nonce: string;
  resources?: { name: string; version: string }[];
}
const TYPES = [CLUSTER, ENDPOINTS, LISTENER, ROUTE];
const same = (bytes: Uint8Array) => Buffer.from(bytes);

/** Connects, subscribes with the known versions, acknowledges, and resolves with the received resources, by type. */
function connect(id: string, known: Map<string, Map<string, string>>): Promise<Map<string, Map<string, string>>> {
  const client = new grpc.Client(`localhost:${port}`, grpc.credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1,
    "grpc.max_receive_message_length": -1,
  });
  const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
  const call = client.makeBidiStreamRequest(path, same, same);
  const send = (request: object) => call.write(encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", request));
  const ask = (type_url: string, names: string[] = []) =>
    send({
      node: { id },
      type_url,
      resource_names_subscribe: names,
      initial_resource_versions: Object.fromEntries(known.get(type_url) ?? []),
    });
  ask(CLUSTER);
  ask(LISTENER);
  const got = new Map<string, Map<string, string>>();
  return new Promise((resolve, reject) => {
    call.on("error", reject);
    call.on("data", (bytes: Uint8Array) => {
      const response = decode<Response>("envoy.service.discovery.v3.DeltaDiscoveryResponse", bytes);
      got.set(response.type_url, new Map((response.resources ?? []).map((r) => [r.name, r.version])));
      send({ type_url: response.type_url, response_nonce: response.nonce });
      if (response.type_url === CLUSTER) ask(ENDPOINTS, names.clusters ?? [...got.get(CLUSTER)!.keys()]);
      if (response.type_url === LISTENER) ask(ROUTE, ["80", "8080"]);
      if (TYPES.every((type) => got.has(type))) resolve(got);
    });
  });
}

const names: { clusters?: string[] } = {};
async function usage(): Promise<{ cpu: number; rss: number }> {
  return await (await fetch(`http://127.0.0.1:${port}/usage`)).json();
}

const known = await connect("first", new Map());
names.clusters = [...known.get(ENDPOINTS)!.keys()];
const before = await usage();
const started = performance.now();
// Each proxy has its own cluster and listener, so one removal of each is expected.
const all = await Promise.all(Array.from({ length: clients }, (_, i) => connect(`proxy-${i}`, known)));
const after = await usage();
const sent = all.reduce((sum, got) => sum + [...got.values()].reduce((n, map) => n + map.size, 0), 0);
console.log(JSON.stringify({
  clients,
  known: [...known.values()].reduce((n, map) => n + map.size, 0),
  ms: Math.round(performance.now() - started),
  cpu_s: Number((after.cpu - before.cpu).toFixed(2)),
  rss_mb: after.rss,
  resources_sent: sent,
  own_resources: 2 * clients,
}));
server.kill("SIGTERM");
Deno.exit(0);
