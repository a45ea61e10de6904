/**
 * The cost of requests of a delta stream that subscribes name by name, like on-demand clients, and of a rejection with
 * a text of 4 MB: CPU milliseconds of the server's side, without a network.
 *
 *     deno run --allow-env tests/bench/subscription_bench.ts
 *
 * Permissions: env (protobufjs).
 *
 * @module
 */
import process from "node:process";
import { CLUSTER, ENDPOINTS } from "../../lib/xds/protocol/types.ts";
import { MemorySource, textResource } from "../xds/support/memory_source.ts";
import { StreamClient } from "../xds/support/stream_client.ts";

/** Requests per turn of the event loop: about the number in one read of a socket. */
const TURN = 500;

const name = (i: number) => `outbound|80||svc-${i}.ns-${i % 10}.svc.cluster.local`;
const names = (count: number) => Array.from({ length: count }, (_, i) => name(i));

function resources(type: string, count: number) {
  return names(count).map((one) => textResource(type, one, `${one}=1`));
}

/** Sends requests. Returns the CPU time of receiving them. */
async function cost(client: StreamClient, requests: readonly Uint8Array[]): Promise<number> {
  let micros = 0;
  for (let at = 0; at < requests.length; at += TURN) {
    const before = process.cpuUsage();
    for (const request of requests.slice(at, at + TURN)) client.send(request);
    const { user, system } = process.cpuUsage(before);
    micros += user + system;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  return Math.round(micros / 1000);
}

async function unknownNames(count: number): Promise<number> {
  const client = new StreamClient(new MemorySource().serve(ENDPOINTS), true);
  client.ask(ENDPOINTS, { names: ["first"] });
  return await cost(client, names(count).map((one) => client.encode(ENDPOINTS, { names: [one] })));
}

async function droppedNames(count: number): Promise<number> {
  const source = new MemorySource().change(ENDPOINTS, resources(ENDPOINTS, count));
  const client = new StreamClient(source, true, { maxResponseBytes: Infinity });
  client.ask(ENDPOINTS, { names: names(count) });
  client.accept();
  return await cost(client, names(count).map((one) => client.encode(ENDPOINTS, { unsubscribe: [one] })));
}

async function rejection(count: number): Promise<number> {
  const client = new StreamClient(new MemorySource().change(CLUSTER, resources(CLUSTER, count)), true);
  client.ask(CLUSTER);
  const { nonce } = client.take();
  return await cost(client, [client.encode(CLUSTER, { nonce, error: "o ".repeat(2 << 20) })]);
}

for (const [what, measure] of Object.entries({ unknownNames, droppedNames, rejection })) {
  await measure(1000);
  for (const count of [5000, 10_000, 20_000]) {
    console.log(JSON.stringify({ what, count, cpu_ms: await measure(count) }));
  }
}
