import assert from "node:assert/strict";
import * as grpc from "@grpc/grpc-js";
import http from "node:http";
import type { Socket } from "node:net";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { XdsServer } from "../../lib/xds/server.ts";
import { XdsRefusal } from "../../lib/xds/protocol/source.ts";
import { CLUSTER } from "../../lib/xds/protocol/types.ts";
import { MemorySource, textResource } from "../xds/support/memory_source.ts";
import { serve } from "./support/mesh.ts";
import { PATIENCE } from "../patience.ts";

const SERVICE = "/envoy.service.discovery.v3.AggregatedDiscoveryService/";
const same = (bytes: Uint8Array) => Buffer.from(bytes);

interface Response {
  resources?: { name?: string }[];
  nonce: string;
  type_url: string;
}

/** A raw ADS stream of a grpc-js client. */
class Stream {
  readonly client: grpc.Client;
  readonly call: grpc.ClientDuplexStream<Uint8Array, Uint8Array>;
  readonly #responses: Response[] = [];
  #wake = Promise.withResolvers<void>();
  readonly status: Promise<grpc.StatusObject>;

  constructor(
    port: number,
    readonly delta: boolean,
    gzip: boolean,
    options: grpc.ClientOptions = {},
    call: grpc.CallOptions = {},
  ) {
    this.client = new grpc.Client(`localhost:${port}`, grpc.credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
      "grpc.max_receive_message_length": -1,
      ...options,
    });
    const metadata = new grpc.Metadata();
    // grpc-js offers gzip by default; with this option the client also compresses messages.
    if (gzip) metadata.set("x-test", "gzip");
    const path = SERVICE + (delta ? "DeltaAggregatedResources" : "StreamAggregatedResources");
    this.call = this.client.makeBidiStreamRequest(path, same, same, metadata, call);
    const status = Promise.withResolvers<grpc.StatusObject>();
    this.status = status.promise;
    this.call.on("data", (bytes: Uint8Array) => {
      this.#responses.push(decode(`envoy.service.discovery.v3.${delta ? "Delta" : ""}DiscoveryResponse`, bytes));
      this.#wake.resolve();
    });
    this.call.on("error", () => {});
    this.call.on("status", (s: grpc.StatusObject) => status.resolve(s));
  }

  ask(typeUrl: string, nonce = "", node: string | null = "n"): void {
    const type = this.delta ? "DeltaDiscoveryRequest" : "DiscoveryRequest";
    const request = { type_url: typeUrl, response_nonce: nonce, ...(node !== null && { node: { id: node } }) };
    this.call.write(encode(`envoy.service.discovery.v3.${type}`, request));
  }

  async next(): Promise<Response> {
    while (this.#responses.length === 0) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
    return this.#responses.shift()!;
  }

  close(): void {
    this.call.cancel();
    this.client.close();
  }
}

/** A source with some megabytes of clusters that compress well. */
function source(count = 3000): MemorySource {
  const filler = "x".repeat(1000);
  return new MemorySource().change(
    CLUSTER,
    Array.from({ length: count }, (_, i) => textResource(CLUSTER, `c${i}`, `c${i}=${filler}`)),
  );
}

for (const delta of [true, false]) {
  for (const compress of [undefined, 2]) {
    const name = `${delta ? "incremental" : "state of the world"}, ${compress ? "gzip both ways" : "requests plain"}`;
    Deno.test(`grpc-js, ${name}: 3 MB arrive whole, and a change follows`, async () => {
      const from = source();
      const { server, port } = await serve(from);
      const stream = new Stream(
        port,
        delta,
        compress !== undefined,
        compress ? { "grpc.default_compression_algorithm": compress } : {},
      );
      stream.ask(CLUSTER);
      const first = await stream.next();
      assert.equal(first.resources!.length, 3000);
      stream.ask(CLUSTER, first.nonce);
      from.change(CLUSTER, [textResource(CLUSTER, "c7", "c7=changed")]);
      from.push();
      assert.equal((await stream.next()).resources!.length, delta ? 1 : 3000);
      stream.close();
      await server.stop(1000);
    });
  }
}

Deno.test("a client that offers gzip gets the shared compressed blocks: a small part of the bytes", async () => {
  const { server, port } = await serve(source());
  const sent: number[] = [];
  const stream = new Stream(port, true, false);
  stream.ask(CLUSTER);
  assert.equal((await stream.next()).resources!.length, 3000);
  for (const connection of server.grpc.connections) sent.push(connection.transport.bytesWritten);
  assert.ok(sent[0]! < 300_000, `${sent[0]} bytes for 3 MB`);
  stream.close();
  await server.stop(1000);
});

/** Status of a stream whose first message has `node`. */
async function refused(from: MemorySource, node: string | null, typeUrl = CLUSTER) {
  const { server, port } = await serve(from);
  const stream = new Stream(port, true, false);
  stream.ask(typeUrl, "", node);
  const status = await stream.status;
  stream.close();
  await server.stop(1000);
  return status;
}

Deno.test("a first request without node id is refused with INVALID_ARGUMENT that names the field", async () => {
  for (const node of [null, ""]) {
    const status = await refused(source(1), node);
    assert.equal(status.code, grpc.status.INVALID_ARGUMENT);
    assert.match(status.details, /node\.id/);
  }
});

Deno.test("a request without type is refused with INVALID_ARGUMENT that names the field", async () => {
  const status = await refused(source(1), "n", "");
  assert.equal(status.code, grpc.status.INVALID_ARGUMENT);
  assert.match(status.details, /type_url/);
});

Deno.test("the source's refusal reaches the client with code and text, also beyond ASCII", async () => {
  const from = source(1);
  from.refuse = () => {
    throw new XdsRefusal(grpc.status.PERMISSION_DENIED as 7, "not für dich: 100%");
  };
  const status = await refused(from, "n");
  assert.equal(status.code, grpc.status.PERMISSION_DENIED);
  assert.equal(status.details, "not für dich: 100%");
});

Deno.test("a refusal with a long text reaches the client with its code and the beginning of the text", async () => {
  const from = source(1);
  from.refuse = () => {
    throw new XdsRefusal(grpc.status.INVALID_ARGUMENT as 3, "label: expected text; ".repeat(20_000));
  };
  const status = await refused(from, "n");
  assert.equal(status.code, grpc.status.INVALID_ARGUMENT, status.details);
  assert.match(status.details, /^(?:label: expected text; ){100,}.*\.\.\.$/);
});

Deno.test("until the sources are synced a stream is refused with UNAVAILABLE", async () => {
  const from = source(1);
  from.ready = false;
  const status = await refused(from, "n");
  assert.equal(status.code, grpc.status.UNAVAILABLE);
});

Deno.test("a defect of the source ends the stream with INTERNAL without details, and harms no other stream", async () => {
  const from = source(1);
  const { server, port } = await serve(from);
  const good = new Stream(port, true, false);
  good.ask(CLUSTER);
  const first = await good.next();
  from.refuse = () => {
    throw new Error("secret detail");
  };
  const bad = new Stream(port, true, false);
  bad.ask(CLUSTER);
  const status = await bad.status;
  assert.equal(status.code, grpc.status.INTERNAL);
  assert.doesNotMatch(status.details, /secret/);
  good.ask(CLUSTER, first.nonce);
  from.change(CLUSTER, [textResource(CLUSTER, "more", "more=1")]);
  from.push();
  assert.equal((await good.next()).resources!.length, 1);
  for (const stream of [good, bad]) stream.close();
  await server.stop(1000);
});

Deno.test("an exception in a push ends that stream alone, and the ledger names the proxy and the reason", async () => {
  const from = source(1);
  const { server, port } = await serve(from);
  const bad = new Stream(port, true, false);
  const good = new Stream(port, true, false);
  for (const [stream, name] of [[bad, "bad"], [good, "good"]] as const) {
    stream.ask(CLUSTER, "", name);
    stream.ask(CLUSTER, (await stream.next()).nonce);
  }
  assert.equal(await server.ledger.waitLive(0, PATIENCE), true);
  const view = [...server.streams()].find(({ id }) => id.startsWith("bad-"))!.stream!.view;
  view.resourceSets = () => {
    throw new Error("sets cannot be had");
  };
  from.change(CLUSTER, [textResource(CLUSTER, "more", "more=1")]);
  from.push();
  assert.equal((await bad.status).code, grpc.status.INTERNAL);
  assert.equal((await good.next()).resources!.length, 1);
  const [{ what, reason, proxy, push }] = server.ledger.failures() as [ReturnType<typeof server.ledger.failures>[0]];
  assert.deepEqual([what, reason, push], ["stream", "sets cannot be had", server.ledger.latest]);
  assert.match(proxy ?? "", /^bad-\d+$/);
  assert.deepEqual(server.ledger.pushes()[0]!.failures, [{ what, reason, proxy }]);
  for (const stream of [bad, good]) stream.close();
  await server.stop(1000);
});

Deno.test("a message above the limit ends the call with RESOURCE_EXHAUSTED", async () => {
  const { server, port } = await serve(source(1), { maxMessageSize: 1000 });
  const stream = new Stream(port, true, false);
  stream.ask(CLUSTER + "x".repeat(2000));
  assert.equal((await stream.status).code, grpc.status.RESOURCE_EXHAUSTED);
  stream.close();
  await server.stop(1000);
});

Deno.test("an unknown method is UNIMPLEMENTED", async () => {
  const { server, port } = await serve(source(1));
  const client = new grpc.Client(`localhost:${port}`, grpc.credentials.createInsecure());
  const status = await new Promise<grpc.ServiceError | null>((resolve) =>
    client.makeUnaryRequest("/no.Such/Method", same, same, new Uint8Array(0), resolve)
  );
  assert.equal(status?.code, grpc.status.UNIMPLEMENTED);
  client.close();
  await server.stop(1000);
});

Deno.test("a call with a deadline ends with DEADLINE_EXCEEDED", async () => {
  const { server, port } = await serve(source(1));
  const stream = new Stream(port, true, false, {}, { deadline: Date.now() + 200 });
  stream.ask(CLUSTER);
  assert.equal((await stream.status).code, grpc.status.DEADLINE_EXCEEDED);
  stream.close();
  await server.stop(1000);
});

Deno.test("a client that half-closes gets OK, and its view is closed", async () => {
  const from = source(1);
  const { server, port } = await serve(from);
  const stream = new Stream(port, true, false);
  stream.ask(CLUSTER);
  await stream.next();
  stream.call.end();
  assert.equal((await stream.status).code, grpc.status.OK);
  assert.deepEqual(from.closed, ["n"]);
  stream.client.close();
  await server.stop(1000);
});

Deno.test("at a stop streams end with UNAVAILABLE after their last response, and the server does not wait for its deadline", async () => {
  const { server, port } = await serve(source());
  const streams = Array.from({ length: 5 }, () => new Stream(port, true, false));
  for (const stream of streams) stream.ask(CLUSTER);
  for (const stream of streams) await stream.next();
  await server.stop(600_000);
  for (const stream of streams) {
    assert.equal((await stream.status).code, grpc.status.UNAVAILABLE);
    stream.close();
  }
  assert.deepEqual([...server.streams()], []);
});

Deno.test("at its maximum age a connection gets GOAWAY, and the stream ends with UNAVAILABLE after the grace", async () => {
  const { server, port } = await serve(source(1), { maxConnectionAge: 1500, maxConnectionAgeGrace: 500 });
  const stream = new Stream(port, true, false);
  stream.ask(CLUSTER);
  // On a busy machine the age may come before the first response.
  await Promise.race([stream.next(), stream.status]);
  assert.equal((await stream.status).code, grpc.status.UNAVAILABLE);
  stream.close();
  await server.stop(1000);
});

Deno.test("an idle client that answers pings stays connected far beyond the keepalive time", async () => {
  // A busy machine may take a second for an answer.
  const { server, port } = await serve(source(1), { keepaliveInterval: 50, keepaliveTimeout: 3000 });
  const stream = new Stream(port, true, false);
  stream.ask(CLUSTER);
  await stream.next();
  await new Promise((resolve) => setTimeout(resolve, 4000)); // longer than the two limits, nothing to wait for
  assert.equal([...server.streams()].length, 1);
  stream.close();
  await server.stop(1000);
});

Deno.test("gRPC and HTTP/1 share one port", async () => {
  const from = source(1);
  const pages = http.createServer((request, response) => response.end(`page ${request.url}`));
  const server = new XdsServer({ source: from, resources: from.table });
  const { port } = await server.listen("127.0.0.1:0", (socket: Socket) => pages.emit("connection", socket));
  const stream = new Stream(port, true, false);
  stream.ask(CLUSTER);
  assert.equal((await stream.next()).resources!.length, 1);
  for (const path of ["/ready", "/debug"]) {
    assert.equal(await (await fetch(`http://127.0.0.1:${port}${path}`)).text(), `page ${path}`);
  }
  const posted = await fetch(`http://127.0.0.1:${port}/P`, { method: "POST", body: "x".repeat(100_000) });
  assert.equal(await posted.text(), "page /P", "a method that begins like the preface");
  stream.close();
  await server.stop(1000);
  pages.closeAllConnections();
});
