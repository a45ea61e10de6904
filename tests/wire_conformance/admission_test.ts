import assert from "node:assert/strict";
import * as grpc from "@grpc/grpc-js";
import { X509Certificate } from "node:crypto";
import { encode } from "../../lib/pb/codec.ts";
import type { Peer, TlsState } from "../../lib/sockets/transport/peer.ts";
import { AdmissionKeys } from "../../lib/xds/server.ts";
import { CLUSTER } from "../../lib/xds/protocol/types.ts";
import { MemorySource } from "../xds/support/memory_source.ts";
import { Authority, openssl } from "../certificates.ts";
import { serve } from "./support/mesh.ts";

const DELTA = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
const first = encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", { node: { id: "raw" }, type_url: CLUSTER });

/** Streams of one connection, each with its status at the end. */
function streams(port: number) {
  const same = (bytes: Uint8Array) => Buffer.from(bytes);
  const client = new grpc.Client(`localhost:${port}`, grpc.credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1,
  });
  const open = (options: grpc.CallOptions = {}) => {
    const call = client.makeBidiStreamRequest(DELTA, same, same, options);
    const opened = new Promise<void>((resolve) => call.once("metadata", () => resolve()));
    const ended = new Promise<grpc.status>((resolve) => call.once("status", ({ code }) => resolve(code)));
    call.on("error", () => {});
    call.resume();
    call.write(first);
    return { call, opened, ended };
  };
  return { open, close: () => client.close() };
}

Deno.test("a stream that is cancelled or ends by its deadline while it waits for admission gives its place back", async () => {
  // A stream is admitted, the next in 100 s; a single stream may wait.
  const { server, port } = await serve(new MemorySource().serve(CLUSTER), {}, 0, { maxRequestsPerSecond: 0.01 });
  const { open, close } = streams(port);
  const calls = () => [...server.grpc.connections].reduce((sum, { calls }) => sum + calls.size, 0);
  const reached = async (count: number) => {
    while (calls() !== count) await new Promise((resolve) => setTimeout(resolve, 2));
  };
  await open().opened;
  const cancelled = open();
  await reached(2);
  assert.equal(await open().ended, grpc.status.RESOURCE_EXHAUSTED);
  cancelled.call.cancel();
  await reached(1);
  const late = open({ deadline: Date.now() + 200 });
  assert.equal(await late.ended, grpc.status.DEADLINE_EXCEEDED);
  await reached(1);
  const waits = open();
  await reached(2);
  assert.equal(await open().ended, grpc.status.RESOURCE_EXHAUSTED);
  await server.stop(1000);
  assert.equal(await waits.ended, grpc.status.UNAVAILABLE);
  close();
});

Deno.test({
  name: "admission counts a call to the names that TLS has verified, else to its connection, never to an address",
  ignore: !openssl,
  async fn() {
    const authority = await Authority.make("ours");
    const der = async (name: string) =>
      new Uint8Array(new X509Certificate((await authority.sign(name)).certificate).raw);
    const peer = (leaf?: Uint8Array, verified = true): Peer => {
      const tls: TlsState = {
        protocol: "TLSv1.3",
        cipher: "x",
        verified,
        chain: verified && leaf !== undefined ? [leaf] : [],
      };
      return { address: "192.0.2.1:1", tls };
    };
    const keys = new AdmissionKeys();
    const [own, renewed, other] = [await der("friend"), await der("friend"), await der("other")];
    assert.notDeepEqual(own, renewed);
    assert.equal(keys.of(peer(own)), keys.of(peer(renewed)));
    assert.notEqual(keys.of(peer(own)), keys.of(peer(other)));
    for (const make of [() => peer(own, false), () => peer(), (): Peer => ({ address: "192.0.2.1:1" })]) {
      const connection = make();
      assert.equal(keys.of(connection), connection);
      assert.notEqual(keys.of(connection), keys.of(make()));
    }
    await authority.remove();
  },
});

Deno.test("a host that authenticates clients by other means gives admission their keys", async () => {
  const asked: Peer[] = [];
  const admissionKey = (peer: Peer) => {
    asked.push(peer);
    return "everybody";
  };
  const { server, port } = await serve(new MemorySource().serve(CLUSTER), {}, 0, { admissionKey });
  const { open, close } = streams(port);
  await Promise.all([open().opened, open().opened]);
  assert.equal(asked.length, 2);
  assert.match(asked[0]!.address, /^127\.0\.0\.1:/);
  await server.stop(1000);
  close();
});
