import assert from "node:assert/strict";
import { answer, VERDICT } from "../../lib/dns/answer.ts";
import { Question } from "../../lib/dns/packet/question.ts";
import { eachRecord, truncate } from "../../lib/dns/packet/records.ts";
import { buildLookupTable } from "../../lib/dns/table/lookup.ts";
import type { ListenEndpoint } from "../../lib/dns/listen_plan.ts";
import { query, reply, sendTcp, sendUdp } from "./support/ask.ts";
import { names, startServer } from "./support/server.ts";
import { startUpstream } from "./support/upstream.ts";

const locality = { namespace: "ns1", domain: "ns1.svc.cluster.local", search: ["ns1.svc.cluster.local"] };

/** The same numbers in every run (xorshift). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Well-formed questions to start from: known, unknown, wildcards, aliases, with and without EDNS. */
const seeds = [
  query({ name: "productpage.ns1" }),
  query({ name: "details.ns2.svc.cluster.remote", udpSize: 65535 }),
  query({ name: "foo.wildcard.ns1.svc.cluster.local", type: "AAAA", udpSize: 1232 }),
  query({ name: "www.example.org", type: "TXT" }),
  query({ name: "a.".repeat(126) + "a" }),
  query({ name: `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(61)}` }),
];

/** A random packet: meaningless bytes, or a good question with some bytes changed, cut off, or appended. */
function hostile(pick: (below: number) => number): Uint8Array {
  if (pick(4) === 0) return Uint8Array.from({ length: pick(600) }, () => pick(256));
  const from = seeds[pick(seeds.length)]!;
  const packet = new Uint8Array(pick(3) === 0 ? pick(from.length + 1) : from.length + (pick(4) === 0 ? pick(40) : 0));
  packet.set(from.subarray(0, packet.length));
  for (let changes = pick(5); changes > 0 && packet.length > 0; changes--) {
    packet[pick(pick(2) === 0 ? Math.min(packet.length, 32) : packet.length)] = pick(3) === 0
      ? 0xc0 | pick(64)
      : pick(256);
  }
  return packet;
}

Deno.test("100,000 hostile packets: no packet causes an exception, and no answer is larger than its class allows", () => {
  const pick = numbers(20_260_101);
  const table = buildLookupTable(names, locality);
  const room = new Uint8Array(4096);
  const question = new Question();
  const seen = new Map<string, number>();
  for (let i = 0; i < 100_000; i++) {
    const packet = hostile(pick);
    room.set(packet);
    room.fill(0xaa, packet.length); // bytes left by an earlier packet must not be read
    const known = pick(10) > 0 ? table : undefined;
    const length = answer(room, packet.length, question, known, "fail", true, 4096, Math.random);
    const answers = length > 0 ? room[6]! * 256 + room[7]! : 0;
    const kind = length <= 0 ? `verdict ${length}` : answers > 0 ? "answered" : `rcode ${room[3]! & 15}`;
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    if (length <= 0) continue;
    assert.ok(answers === 0 ? length <= packet.length : length <= Math.max(512, Math.min(4096, question.udpSize)));
    assert.equal(room[2]! & 0x80, 0x80, "an answer says that it is one");
    assert.deepEqual([room[0], room[1]], [packet[0], packet[1]]);
    assert.ok(length === 12 || eachRecord(room.subarray(0, length), () => {}), "an answer is well-formed");
    if (answers > 0) reply(room.slice(0, length));
  }
  const kinds = ["answered", "rcode 0", "rcode 1", "rcode 2", "rcode 4", "verdict -1", "verdict -2", "verdict -3"];
  for (const kind of kinds) assert.ok((seen.get(kind) ?? 0) > 20, `${kind} has happened: ${[...seen]}`);
});

Deno.test("100,000 hostile answers of name servers: cutting them ends in no exception and keeps to the size", () => {
  const pick = numbers(42);
  for (let i = 0; i < 100_000; i++) {
    const packet = hostile(pick);
    for (const at of [5, 7, 9, 11]) if (packet.length > 12 && pick(2) === 0) packet[at] = pick(4);
    const limit = 40 + pick(200);
    const cut = truncate(packet, limit);
    assert.ok(cut.length <= limit);
    if (packet.length > limit) assert.ok(cut.length === 12 || eachRecord(cut, () => {}));
  }
});

/** Packets other than questions, and the answers. */
const refused: [what: string, change: (packet: Uint8Array) => Uint8Array, expected: string | undefined][] = [
  ["a response", (p) => set(p, 2, 0x80), undefined],
  ["less than a header", (p) => p.slice(0, 11), undefined],
  ["another operation", (p) => set(p, 2, 4 << 3), "NOTIMP"],
  ["no question", (p) => set(p, 5, 0), "FORMERR"],
  ["two questions", (p) => set(p, 5, 2), "FORMERR"],
  ["answers in a question", (p) => set(p, 7, 1), "FORMERR"],
  ["a name that points", (p) => set(p, 12, 0xc0), "FORMERR"],
  ["a name without end", (p) => p.slice(0, 16), "FORMERR"],
  ["a question without type", (p) => p.slice(0, p.length - 3), "FORMERR"],
  ["more records than there are", (p) => set(p, 11, 1), "FORMERR"],
];

function set(packet: Uint8Array, at: number, value: number): Uint8Array {
  const changed = packet.slice();
  changed[at] = value;
  return changed;
}

for (const [what, change, expected] of refused) {
  Deno.test(`${what} gets ${expected ?? "no answer"}`, () => {
    const packet = change(query({ name: "productpage.ns1" }));
    const room = new Uint8Array(512);
    room.set(packet);
    const table = buildLookupTable(names, locality);
    const length = answer(room, packet.length, new Question(), table, "fail", true, 512, Math.random);
    if (expected === undefined) return assert.equal(length, VERDICT.DROP);
    assert.equal(length, 12);
    assert.equal(reply(room.slice(0, length)).rcode, expected);
  });
}

Deno.test("an unknown version of EDNS gets BADVERS", () => {
  const packet = query({ name: "productpage.ns1", udpSize: 1232 });
  const room = new Uint8Array(512);
  room.set(set(packet, packet.length - 5, 1));
  const table = buildLookupTable(names, locality);
  const length = answer(room, packet.length, new Question(), table, "fail", true, 512, Math.random);
  assert.equal(room[length - 11 + 5], 1, "upper bits of the response code");
  assert.equal(room[3]! & 15, 0);
  assert.equal(room[7], 0);
});

/** Sends packets to a server without a loss, and resolves with the answers. */
async function flood(to: ListenEndpoint, count: number, packet: (i: number) => Uint8Array | Promise<Uint8Array>) {
  const conn = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
  const address = { transport: "udp" as const, ...to };
  const back = { packets: 0, bytes: 0, longestEmpty: 0, longest: 0 };
  const sent = { packets: 0, bytes: 0 };
  let passed: () => void = () => {};
  const reading = (async () => {
    for await (const [answer] of conn) {
      if (answer[0] === 0xff && answer[1] === 0xff) {
        passed();
        continue;
      }
      back.packets++;
      back.bytes += answer.length;
      back.longest = Math.max(back.longest, answer.length);
      if (answer[6] === 0 && answer[7] === 0) back.longestEmpty = Math.max(back.longestEmpty, answer.length);
    }
  })();
  const marker = query({ name: "productpage.ns1", id: 0xffff });
  for (let i = 0; i < count; i++) {
    const bytes = await packet(i);
    if (bytes.length > 0) {
      bytes[0] = 0;
      await conn.send(bytes, address);
      sent.packets++;
      sent.bytes += bytes.length;
    }
    if (i % 100 !== 99) continue;
    // The next packets wait until the server has come so far: its socket never fills up.
    const { promise, resolve } = Promise.withResolvers<void>();
    passed = resolve;
    await conn.send(marker, address);
    await promise;
  }
  conn.close();
  await reading;
  return { sent, back };
}

Deno.test("a live server that got 20,000 hostile packets and broken connections still answers, has sent less than it got, and leaks no waiting question", async () => {
  const upstream = startUpstream("127.0.0.1", 0, { "*": ["1.1.1.1"] });
  using test = await startServer({ servers: ["127.0.0.1"], port: upstream.port });
  const pick = numbers(7);
  const { sent, back } = await flood(test.at, 20_000, async (i) => {
    const packet = hostile(pick);
    if (i % 500 === 0) {
      const tcp = await Deno.connect(test.at);
      await tcp.write(Uint8Array.from([pick(256), pick(256), ...packet]));
      tcp.close();
    }
    return packet;
  });
  assert.ok(await test.metric("dns_requests_total") >= sent.packets, "none was lost on the way");
  assert.ok(back.packets > sent.packets / 3 && back.packets <= sent.packets, `${back.packets} answers`);
  assert.ok(back.bytes < sent.bytes, `${back.bytes} bytes for ${sent.bytes}`);
  assert.ok(back.longestEmpty <= 600 && back.longest <= 4096, `${back.longestEmpty}, ${back.longest} bytes`);
  const good = query({ name: "productpage.ns1" });
  assert.deepEqual(reply((await sendUdp(test.at, good))!).answers, ["productpage.ns1 A 9.9.9.9"]);
  assert.deepEqual(reply((await sendTcp(test.at, [good]))[0]!).answers, ["productpage.ns1 A 9.9.9.9"]);
  const other = query({ name: "www.bing.com" });
  assert.deepEqual(reply((await sendUdp(test.at, other))!).answers, ["www.bing.com A 1.1.1.1"]);
  upstream.close();
});

Deno.test("over TCP questions may come together, and any other message ends the connection", async () => {
  using test = await startServer();
  const questions = Array.from({ length: 200 }, (_, i) => query({ name: "productpage.ns1", id: i }));
  const answers = await sendTcp(test.at, questions);
  assert.deepEqual(answers.map((a) => a[0]! * 256 + a[1]!).sort((x, y) => x - y), questions.map((_, i) => i));
  assert.deepEqual(await sendTcp(test.at, [set(questions[0]!, 2, 0x80)]), []);
});
