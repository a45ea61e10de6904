/** Events on a stream: order, size, and the cost of a client that does not read. */
import assert from "node:assert/strict";
import { RpcError } from "../../../lib/grpc/status.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { struct } from "../../../lib/pb/wellknown.ts";
import { concatBytes } from "../../../lib/resource/block.ts";
import { InternedNames } from "../../../lib/resource/names.ts";
import type { AdsRequest } from "../../../lib/xds/ads/request.ts";
import { ClientEvents } from "../../../lib/xds/events/client_events.ts";
import type { EventClient } from "../../../lib/xds/events/event_resource.ts";
import { StreamEvents } from "../../../lib/xds/events/stream_events.ts";
import type { EventType } from "../../../lib/xds/protocol/events.ts";
import { QuestionPlaces } from "../../../lib/xds/questions/places.ts";

const CONNECT = "istio.io/connect", DISCONNECT = "istio.io/disconnect", REJECT = "istio.io/nack";
const none = new InternedNames().decode(new Uint8Array(0));
const request: AdsRequest = {
  ...{ node: new Uint8Array(0), typeUrl: "", names: none, unsubscribe: none },
  ...{ initialVersions: undefined, hasVersion: false, nonce: "", error: undefined },
};

const client = (id: string, bytes = 0): EventClient => ({
  node: { id, metadata: struct({ TEXT: "x".repeat(bytes) }) },
  stream: { view: { identity: `spiffe://cluster.local/ns/shop/sa/${id}` } },
});

interface Resource {
  readonly name?: string;
  readonly resource?: Resource;
  readonly type_url: string;
  readonly value: Uint8Array;
}

/** A stream without a network; responses are taken when the test says so. */
class Watcher {
  readonly connected: EventClient[] = [];
  readonly hub = new ClientEvents(() => this.connected);
  readonly sent: { readonly type_url: string; readonly resources: readonly Resource[]; readonly bytes: number }[] = [];
  readonly taken: (() => void)[] = [];
  readonly failures: RpcError[] = [];
  readonly events: StreamEvents;
  #sent = Promise.withResolvers<void>();

  constructor(readonly places = new QuestionPlaces(), delta = false, hidden = "") {
    this.events = new StreamEvents({
      delta,
      client: () => ({ node: { id: "a" }, delta, peer: { address: "" }, metadata: {} }),
      proxy: () => undefined,
      send: (parts, taken) => {
        const bytes = concatBytes(parts);
        const variant = delta ? "DeltaDiscoveryResponse" : "DiscoveryResponse";
        this.sent.push({
          ...decode<Watcher["sent"][number]>(`envoy.service.discovery.v3.${variant}`, bytes),
          bytes: bytes.length,
        });
        this.taken.push(taken);
        this.#sent.resolve();
        this.#sent = Promise.withResolvers();
      },
      fail: (error) => this.failures.push(error as RpcError),
    }, {
      answers: { identify: () => Promise.resolve("me"), sees: (_, other) => hidden === "" || !other?.endsWith(hidden) },
      places: this.places,
      events: this.hub,
    });
  }

  async ask(...types: EventType[]): Promise<void> {
    for (const type of types) this.events.ask(type, request);
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  }

  async take(): Promise<void> {
    const next = this.#sent.promise;
    this.taken.at(-1)!();
    await next;
  }

  /** The ids of each response. */
  get said(): string[] {
    return this.sent.map(({ type_url, resources }) => `${type_url.slice(9)} ${resources.map(idOf).join(" ")}`);
  }
}

function idOf({ type_url, value }: Resource): string {
  const message = decode<{ id?: string; node?: { id: string } }>(type_url.split("/")[1]!, value);
  return message.id ?? message.node!.id;
}

Deno.test("clients that are there come first, then events in their order, of the types that are asked for and of clients that may be seen", async () => {
  const watcher = new Watcher(undefined, false, "/hidden");
  watcher.connected.push(client("a"), client("b"), client("hidden"));
  await watcher.ask(CONNECT, REJECT);
  watcher.hub.came(client("c"));
  watcher.hub.left(client("a"));
  watcher.hub.came(client("hidden"));
  const rejection = { typeUrl: "t", code: 13, message: "no", late: false, resources: [], causes: [] };
  watcher.hub.rejected(client("b"), { ...rejection, repeated: false });
  watcher.hub.rejected(client("b"), { ...rejection, repeated: true });
  watcher.hub.came(client("d"));
  assert.deepEqual(watcher.said, ["connect a b"], "one response at a time");
  for (let at = 0; at < 3; at++) await watcher.take();
  assert.deepEqual(watcher.said, ["connect a b", "connect c", "nack b", "connect d"]);
  const [{ value }] = watcher.sent[2]!.resources as [Resource];
  const { type_url, error_detail } = decode<{ type_url: string; error_detail: object }>(
    "envoy.service.discovery.v3.DiscoveryRequest",
    value,
  );
  assert.deepEqual([type_url, error_detail], ["t", { code: 13, message: "no" }]);
  await watcher.ask(CONNECT);
  watcher.events.ask(DISCONNECT, { ...request, nonce: "event-1" });
  watcher.hub.left(client("b"));
  watcher.taken.at(-1)!();
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.equal(watcher.sent.length, 4, "an acknowledgement asks for nothing, and the list comes once");
  watcher.events.close();
});

Deno.test("a first request may come with a nonce of the client's own, as tools of Istio send the time", async () => {
  const watcher = new Watcher(undefined, false);
  watcher.connected.push(client("a"));
  watcher.events.ask(CONNECT, { ...request, nonce: "2025-05-28 10:11:12.123 +0000 UTC m=+0.1" });
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.deepEqual(watcher.said, ["connect a"]);
  watcher.events.close();
});

Deno.test("a list of many clients comes in responses of bounded size, by name where the stream is incremental", async () => {
  const watcher = new Watcher(undefined, true);
  for (let at = 0; at < 1000; at++) watcher.connected.push(client(`p${at}`, 4000));
  await watcher.ask(CONNECT);
  while (watcher.sent.flatMap(({ resources }) => resources).length < 1000) await watcher.take();
  assert.ok(watcher.sent.length > 3);
  for (const { bytes } of watcher.sent) assert.ok(bytes < 1.1 * 1024 * 1024, String(bytes));
  const names = watcher.sent.flatMap(({ resources }) => resources.map(({ name }) => name));
  assert.deepEqual(names, watcher.connected.map(({ node }) => node!.id));
  assert.deepEqual(idOf(watcher.sent[0]!.resources[0]!.resource!), "p0");
  watcher.events.close();
});

Deno.test("a client that does not read is sent away, and costs nothing any more; a long list alone is no reason", async () => {
  const places = new QuestionPlaces({ all: 1, ofOne: 1, confined: 1 });
  const watcher = new Watcher(places);
  for (let at = 0; at < 5000; at++) watcher.connected.push(client(`p${at}`, 1000));
  await watcher.ask(CONNECT);
  const other = new Watcher(places);
  await other.ask(CONNECT);
  assert.match(String(other.failures[0]), /too many clients get events/);
  for (let at = 0; at < 4000; at++) watcher.hub.came(client(`q${at}`));
  assert.deepEqual(watcher.failures, []);
  watcher.hub.came(client("one too many"));
  assert.match(String(watcher.failures[0]), /has not taken 4000 events/);
  watcher.hub.came(client("later"));
  assert.deepEqual([watcher.failures.length, watcher.sent.length], [1, 1]);
  assert.notEqual(places.take("me", false), undefined, "its place is free");
});

Deno.test("a stream that ends before its client is known takes no place", async () => {
  const places = new QuestionPlaces({ all: 1, ofOne: 1, confined: 1 });
  const watcher = new Watcher(places);
  watcher.events.ask(CONNECT, request);
  watcher.events.close();
  await watcher.ask();
  assert.notEqual(places.take("me", false), undefined);
  assert.deepEqual([watcher.sent, watcher.failures], [[], []]);
});

Deno.test("megabytes of clients that have gone are not kept for one that does not read: its stream ends", async () => {
  const watcher = new Watcher();
  await watcher.ask(CONNECT);
  watcher.hub.came(client("taken", 1 << 20));
  await watcher.ask();
  for (let at = 0; at < 31; at++) watcher.hub.came(client(`p${at}`, 1 << 20));
  assert.deepEqual(watcher.failures, []);
  watcher.hub.came(client("one too many", 1 << 20));
  assert.match(String(watcher.failures[0]), /has not taken 32 MiB of events/);
});

Deno.test("events that were taken make room for others, however many megabytes they were", async () => {
  const watcher = new Watcher();
  await watcher.ask(CONNECT);
  for (let at = 0; at < 100; at++) {
    watcher.hub.came(client(`p${at}`, 1 << 20));
    if (at > 0) await watcher.take();
  }
  assert.deepEqual(watcher.failures, []);
  assert.equal(watcher.sent.flatMap(({ resources }) => resources).length, 100);
  watcher.events.close();
});

Deno.test("a client that goes before the list comes to it is not in the list, so that nothing of it is kept", async () => {
  const watcher = new Watcher();
  for (const id of ["a", "b", "c"]) watcher.connected.push(client(id, 2 << 20));
  await watcher.ask(CONNECT);
  watcher.hub.left(watcher.connected[1]!);
  await watcher.take();
  assert.deepEqual(watcher.said, ["connect a", "connect c"]);
  watcher.events.close();
});

Deno.test("an event is encoded once for all that listen, and not at all where nobody does", async () => {
  const hub = new ClientEvents(() => []);
  let reads = 0;
  const counted = {
    stream: undefined,
    get node() {
      reads++;
      return { id: "a" };
    },
  };
  hub.came(counted);
  assert.equal(reads, 0);
  const heard = Array.from({ length: 3 }, () => Promise.withResolvers<Uint8Array>());
  for (const { resolve } of heard) hub.listen((event) => resolve(event.resource().runs[0]!));
  hub.came(counted);
  const [first, ...others] = await Promise.all(heard.map(({ promise }) => promise));
  assert.equal(reads, 1);
  for (const other of others) assert.equal(other, first);
});
