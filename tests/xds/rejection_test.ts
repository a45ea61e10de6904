import assert from "node:assert/strict";
import { RecentTexts } from "../../lib/xds/ads/recent_texts.ts";
import { CLUSTER, ENDPOINTS } from "../../lib/xds/protocol/types.ts";
import { calls } from "./support/counting.ts";
import { keptBytes } from "./support/memory.ts";
import { MemorySource, textResource } from "./support/memory_source.ts";
import { StreamClient } from "./support/stream_client.ts";

const NAMES = Array.from({ length: 5000 }, (_, i) => `outbound|80||svc-${i}.ns-${i % 10}.svc.cluster.local`);

/** A client with 5,000 clusters in flight. */
function client(): StreamClient {
  const source = new MemorySource().change(CLUSTER, NAMES.map((name) => textResource(CLUSTER, name, `${name}=1`)));
  const client = new StreamClient(source, true, { maxResponseBytes: Infinity });
  client.ask(CLUSTER);
  return client;
}

Deno.test("of the text of a rejection 8 kB are kept, without the middle, cut between characters, with the length of the whole", () => {
  const one = client();
  one.reject(CLUSTER, "é".repeat(2 << 20));
  const { lastError } = one.stream.watches.get(CLUSTER)!.resources;
  assert.equal(lastError, `${"é".repeat(3584)} ... (8 kB of 4194304 bytes) ... ${"é".repeat(512)}`);
  const odd = client();
  odd.reject(CLUSTER, `x${"é".repeat(2 << 20)}y`);
  assert.match(odd.rejects[0]!.message, /^xé{3583} [.]{3} [(]8 kB of 4194306 bytes[)] [.]{3} é{511}y$/);
  assert.equal(one.rejects[0]!.message, lastError);
  const short = client();
  short.reject(CLUSTER, "é".repeat(4096));
  assert.equal(short.stream.watches.get(CLUSTER)!.resources.lastError, "é".repeat(4096));
});

Deno.test("a rejection costs one walk over the kept part of its text, for any text and any number of resources", () => {
  const texts = {
    "one word": "o".repeat(4 << 20),
    "single letters": "o ".repeat(2 << 20),
    "beginnings of names": "outbound|80||svc ".repeat(1 << 18),
    "names": NAMES.join(" "),
  };
  for (const [what, text] of Object.entries(texts)) {
    const one = client();
    const request = one.encode(CLUSTER, { nonce: one.take().nonce, error: text });
    const searches = calls(String.prototype, ["indexOf", "includes", "search", "match", "split"]);
    const looks = calls(String.prototype, ["charCodeAt", "startsWith"]);
    const lookUps = calls(Map.prototype, ["get"]);
    one.send(request);
    // At each beginning of a word a look-up for each length of names, and some for each name.
    const lengths = new Set(NAMES.map(({ length }) => length)).size;
    assert.ok(lookUps.stop() < 4500 * lengths + 2 * NAMES.length, `${what}: ${lookUps.stop()} look-ups`);
    assert.ok(searches.stop() < 50, `${what}: ${searches.stop()} searches`);
    const longest = Math.max(...NAMES.map(({ length }) => length));
    const names = NAMES.reduce((sum, { length }) => sum + length, 0);
    assert.ok(looks.stop() < 9000 * longest + 20 * names, `${what}: ${looks.stop()} characters looked at`);
  }
});

Deno.test("names are found as whole words, wherever they stand and however often", () => {
  const found = (text: string) => {
    const one = client();
    one.reject(CLUSTER, text);
    return one.rejects[0]!.resources;
  };
  assert.deepEqual(found(`${NAMES[10]}: bad, also (${NAMES[1]}), and ${NAMES[1]}.`).toSorted(), [NAMES[1], NAMES[10]]);
  assert.deepEqual(found(`x${NAMES[1]} ${NAMES[1]}x ${NAMES[1]}-x`), []);
  assert.deepEqual(found(`x${NAMES[1]} ${NAMES[1]}x ${NAMES[1]}`), [NAMES[1]], "the third time as a word");
});

Deno.test("streams that reject with the same text keep it once", async () => {
  const source = new MemorySource().change(CLUSTER, [textResource(CLUSTER, "a", "a=1")]);
  const kept = async (text: string) => {
    const texts = new RecentTexts();
    const before = await keptBytes();
    const streams = Array.from({ length: 1000 }, () => new StreamClient(source, true, { texts }));
    for (const one of streams) {
      one.ask(CLUSTER);
      one.reject(CLUSTER, text);
    }
    return { bytes: await keptBytes() - before, streams };
  };
  const short = await kept("no");
  const long = await kept("the same text in all of them ".repeat(280));
  assert.ok(long.bytes - short.bytes < 4_000_000, `${long.bytes - short.bytes} bytes for 1,000 rejections of 8 kB`);
});

Deno.test("a client that rejects more than 1,000 resources by name gets nothing more of the type until something changes", () => {
  const names = Array.from({ length: 3000 }, (_, i) => `c${i}`);
  const source = new MemorySource().change(ENDPOINTS, names.map((name) => textResource(ENDPOINTS, name, `${name}=1`)));
  const one = new StreamClient(source, true, { maxResponseBytes: Infinity });
  one.ask(ENDPOINTS, { names });
  one.reject(ENDPOINTS, names.slice(0, 900).join(" "));
  assert.equal(one.inbox[0]!.resources.size, 2100, "what was not named comes again");
  one.reject(ENDPOINTS, names.slice(900, 1900).join(" "));
  assert.equal(one.inbox.length, 0);
  source.change(ENDPOINTS, [textResource(ENDPOINTS, "c2999", "c2999=2")]);
  one.stream.reconcile();
  assert.equal(one.accept(ENDPOINTS).resources.size, 2100, "all but the first 900");
});

for (const delta of [true, false]) {
  const variant = delta ? "incremental" : "state of the world";

  Deno.test(`${variant}: a change while a response is under way is sent after the rejection, without waiting for another change`, () => {
    const source = new MemorySource().change(
      CLUSTER,
      ["a", "b"].map((name) => textResource(CLUSTER, name, `${name}=1`)),
    );
    const one = new StreamClient(source, delta);
    const change = (name: string, value: number) => {
      source.change(CLUSTER, [textResource(CLUSTER, name, `${name}=${value}`)]);
      one.stream.reconcile();
    };
    one.ask(CLUSTER);
    one.accept(CLUSTER);
    change("a", 2);
    change("a", 3);
    one.reject(CLUSTER, "a is bad");
    assert.deepEqual(StreamClient.names(one.accept(CLUSTER)).includes("a"), true, "the newest a was never rejected");
    assert.deepEqual(one.inbox.length, 0);
    change("a", 4);
    one.reject(CLUSTER, "a is bad again");
    assert.equal(one.inbox.length, 0, "what was rejected is not sent again");
  });
}

Deno.test("the message that Envoy puts before its reason names the resource, and is not shown", () => {
  const one = client();
  const dump = `goo.gle/debugstr  \nname: "${NAMES[7]}"\n${"lb_policy: RANDOM\n".repeat(1000)}`;
  one.reject(CLUSTER, `${dump}\n: Proto constraint validation failed (X)`);
  const [{ message, resources } = assert.fail()] = one.rejects;
  assert.deepEqual([message, resources], ["Proto constraint validation failed (X)", [NAMES[7]]]);
});
