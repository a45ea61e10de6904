/**
 * Floods a server with legal but expensive requests, as fast as the server accepts them, from several connections.
 *
 * Standard input: the options as a line of JSON (answered when the flood has begun), then `stop` (answered with
 * {@linkcode FloodAnswer}). The flood ends by itself after {@linkcode LONGEST}.
 *
 * Permissions: net (the server).
 *
 * @module
 */
import { gzipSync } from "node:zlib";
import { encode } from "../../../../lib/pb/codec.ts";
import { concatBytes } from "../../../../lib/resource/block.ts";
import { CLUSTER } from "../../../../lib/xds/protocol/types.ts";
import { frame, headers } from "../../../wire_conformance/support/raw_client.ts";
import { readLines } from "../lines.ts";
import { GrpcStream } from "./stream.ts";

/** Kind of flood: calls with 32 kB of headers, or messages of 4 MB after unpacking. */
export type FloodKind = "headers" | "gzip";

/** The first line. */
export interface FloodOptions {
  /** `host:port` of the server. */
  readonly target: string;
  readonly kind: FloodKind;
  readonly connections: number;
}

/** The answer to `stop`. */
export interface FloodAnswer {
  /** Number of sent calls or messages. */
  readonly sent: number;
  /** Why connections ended. */
  readonly errors: readonly string[];
}

/** Time limit of a flood, ms. */
const LONGEST = 120_000;
/** Limit of open calls per connection. */
const OPEN_CALLS = 20;
const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

/** Frame type CONTINUATION, and the flags END_HEADERS and END_STREAM. */
const CONTINUATION = 9, END_HEADERS = 4, END_STREAM = 1;

/** HEADERS and CONTINUATION of a call that ends at once: 32 kB of one header in Huffman code. */
function dearCall(stream: number): Uint8Array {
  const head = headers(stream, "/flood.Service/Call").subarray(9);
  const size = 31 * 1024;
  // A literal header without indexing: name "x", then the length and a value of many letters X (code 11111100).
  const length = size - 127;
  const value = [0x80 | 127, length & 127 | 128, length >> 7 & 127 | 128, length >> 14];
  const block = concatBytes([head, new Uint8Array([0, 1, 0x78, ...value]), new Uint8Array(size).fill(0xfc)]);
  const half = block.length >> 1;
  return concatBytes([
    frame(1, END_STREAM, stream, block.subarray(0, half)),
    frame(CONTINUATION, END_HEADERS, stream, block.subarray(half)),
  ]);
}

/** A connection with a flood of calls. */
async function floodCalls(target: string, count: () => void, over: (reason: string) => void): Promise<void> {
  let next = 1;
  let open = 0;
  const more = () => {
    while (open < OPEN_CALLS && stream.calm) {
      stream.raw(dearCall(next += 2));
      open++;
      count();
    }
  };
  const stream = new GrpcStream({
    message() {},
    wire() {},
    ended: over,
    otherEnded() {
      open--;
      more();
    },
    calmed: more,
  });
  const [hostname, port] = target.split(":");
  void stream.opened.then(more);
  await stream.open(hostname!, Number(port), ADS, false);
}

/** A connection with a flood of messages on one call. */
async function floodMessages(target: string, count: () => void, over: (reason: string) => void): Promise<void> {
  const request = (fields: object) => encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", fields);
  const node = { id: `sidecar~10.8.0.2~flood-${crypto.randomUUID()}.ns-0~ns-0.svc.cluster.local` };
  const first = gzipSync(request({ node, type_url: CLUSTER, resource_names_subscribe: ["none"] }));
  // A late answer to a nonexistent response, with four million zeros in an unknown field (number 1000).
  const size = 4_000_000;
  const unknown = [0xc2, 0x3e, size & 127 | 128, size >> 7 & 127 | 128, size >> 14 & 127 | 128, size >> 21];
  const late = request({ type_url: CLUSTER, response_nonce: "late" });
  const dear = gzipSync(concatBytes([late, new Uint8Array(unknown), new Uint8Array(size)]));
  const more = () => {
    while (stream.calm) {
      stream.send(dear, true);
      count();
    }
  };
  const stream = new GrpcStream({ message() {}, wire() {}, ended: over, calmed: more });
  const [hostname, port] = target.split(":");
  stream.send(first, true);
  void stream.opened.then(more);
  await stream.open(hostname!, Number(port), ADS, false, { "grpc-encoding": "gzip" });
}

if (import.meta.main) {
  let sent = 0;
  const errors: string[] = [];
  setTimeout(() => Deno.exit(1), LONGEST);
  await readLines(Deno.stdin.readable, (line) => {
    if (line === "stop") {
      const answer: FloodAnswer = { sent, errors };
      console.log(JSON.stringify(answer));
      return;
    }
    const { target, kind, connections } = JSON.parse(line) as FloodOptions;
    for (let i = 0; i < connections; i++) {
      const flood = kind === "headers" ? floodCalls : floodMessages;
      void flood(target, () => sent++, (reason) => errors.push(reason));
    }
    console.log("{}");
  });
  Deno.exit(0);
}
