import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
// @ts-types="npm:@types/dns-packet@5.6.5"
import dnsPacket from "dns-packet";
import fc from "fast-check";
import { answer } from "../../lib/dns/answer.ts";
import { nameToText, nameToWire } from "../../lib/dns/packet/name.ts";
import { Question, READ, readQuestion } from "../../lib/dns/packet/question.ts";
import { eachRecord, truncate } from "../../lib/dns/packet/records.ts";
import { buildLookupTable } from "../../lib/dns/table/lookup.ts";
import type { NameTable } from "../../lib/dns/table/types.ts";
import { query, reply } from "./support/ask.ts";
import { resolve } from "./support/resolve.ts";
import { runs } from "../properties.ts";

const label = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/);
const name = fc.array(label, { minLength: 1, maxLength: 6 }).map((labels) => labels.join("."));
const ipv4 = fc.ipV4();

Deno.test("questions that another implementation writes are read as it meant them", () => {
  const codes = { A: 1, NS: 2, SOA: 6, PTR: 12, MX: 15, TXT: 16, AAAA: 28, SRV: 33 };
  const sizes = fc.option(fc.integer({ min: 1, max: 65535 }), { nil: undefined });
  fc.assert(fc.property(name, fc.constantFrom(...Object.entries(codes)), sizes, (text, [type, code], udpSize) => {
    const packet = query({ name: text, type, ...(udpSize === undefined ? {} : { udpSize }) });
    const room = new Uint8Array(1024).fill(0xaa);
    room.set(packet);
    const question = new Question();
    assert.equal(readQuestion(room, packet.length, question), READ.OK);
    assert.equal(nameToText(room, 12), `${text}.`);
    assert.equal(question.labels, text.split(".").length);
    assert.deepEqual([question.edns, question.udpSize], [udpSize !== undefined, udpSize ?? 0]);
    assert.deepEqual([question.type, question.class], [code, 1]);
  }));
});

Deno.test("a name's wire form is the other implementation's, in lower case", () => {
  fc.assert(fc.property(name, (text) => {
    const packet = query({ name: text.toLowerCase() });
    assert.deepEqual(nameToWire(text), packet.slice(12, packet.length - 4));
    assert.deepEqual(nameToWire(`${text}.`), nameToWire(text));
  }));
});

/** The required answers of a table, by the rules alone: texts, no bytes, no hashes. */
function expected(hosts: ReadonlyMap<string, string>, search: string, asked: string): string[] {
  const wanted = asked.toLowerCase();
  const find = (key: string) => hosts.get(key);
  const alias = (key: string) => key.endsWith(`.${search}`) ? find(key.slice(0, -search.length - 1)) : undefined;
  const direct = find(wanted);
  if (direct !== undefined) return [`${asked} A ${direct}`];
  const target = asked.slice(0, -search.length - 1);
  const viaAlias = alias(wanted);
  const chain = (ip: string) => [`${asked} CNAME ${target}`, `${target} A ${ip}`];
  if (viaAlias !== undefined) return chain(viaAlias);
  const labels = wanted.split(".");
  for (let i = 1; i < labels.length; i++) {
    const wildcard = `*.${labels.slice(i).join(".")}`;
    const known = find(wildcard);
    if (known !== undefined) return [`${asked} A ${known}`];
    const aliased = alias(wildcard);
    if (aliased !== undefined) return chain(aliased);
  }
  return ["forwarded"];
}

Deno.test("any table answers any question as the rules say, with wildcards, aliases and capitals", () => {
  // Few labels, for many encounters.
  const short = fc.constantFrom("a", "b", "A", "c");
  const host = fc.tuple(fc.boolean(), fc.array(short, { minLength: 1, maxLength: 4 }))
    .map(([wild, labels]) => (wild ? "*." : "") + labels.join("."));
  const tables = fc.uniqueArray(fc.tuple(host, ipv4), { maxLength: 12, selector: ([text]) => text.toLowerCase() });
  const asked = fc.array(short, { minLength: 1, maxLength: 7 }).map((labels) => labels.join("."));
  const search = fc.constantFrom("b.c", "c", "x.y");
  fc.assert(
    fc.property(tables, search, fc.array(asked, { maxLength: 20 }), (hosts, domain, questions) => {
      const names: NameTable = Object.fromEntries(hosts.map(([text, ip]) => [text, { ips: [ip] }]));
      const table = buildLookupTable(names, { namespace: "", domain: "", search: [domain] });
      const model = new Map(hosts.map(([text, ip]) => [text.toLowerCase(), ip]));
      for (const question of questions.flatMap((q) => [q, `${q}.${domain}`])) {
        assert.deepEqual(resolve(table, question), expected(model, domain, question), question);
      }
    }),
    { numRuns: runs(500) },
  );
});

Deno.test("a table that takes hosts over from the previous table answers like a fresh table", () => {
  const host = fc.constantFrom(
    "a",
    "b.c",
    "*.b",
    "a.ns1.svc.local",
    "b.ns1.svc.local",
    "x.local",
    "a.x.local",
    "*.a.x.local",
  );
  const info = fc.record({
    ips: fc.uniqueArray(fc.constantFrom("10.0.0.1", "10.0.0.2", "2001:db8::1", "bad"), { maxLength: 1 }),
    registry: fc.constantFrom("Kubernetes", "External"),
    shortname: fc.constantFrom("a", "b"),
    namespace: fc.constantFrom("ns1", "ns2"),
    altHosts: fc.uniqueArray(fc.constantFrom("a", "alt"), { maxLength: 2 }),
  });
  const step = fc.record({
    names: fc.dictionary(host, info),
    search: fc.constantFrom([], ["x.local"], ["svc.local", "local"]),
  });
  const asked = [
    "a",
    "b",
    "alt",
    "a.ns1",
    "b.ns1.svc",
    "q.b",
    "b.c.x.local",
    "a.x.local",
    "z.a.x.local",
    "b.svc.local",
    "alt.x.local",
  ];
  fc.assert(fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
    let table: ReturnType<typeof buildLookupTable> | undefined;
    for (const { names, search } of steps) {
      const locality = { namespace: "ns1", domain: "ns1.svc.local", search };
      table = buildLookupTable(names, locality, table);
      const fresh = buildLookupTable(names, locality);
      for (const name of asked) {
        for (const type of ["A", "AAAA"]) assert.deepEqual(resolve(table, name, type), resolve(fresh, name, type));
      }
      assert.deepEqual([table.size, table.findings], [fresh.size, fresh.findings]);
    }
  }));
});

Deno.test("for any number of addresses and any size: an answer keeps to it, has no address twice, and says when it is cut", () => {
  const sizes = fc.integer({ min: 512, max: 4096 });
  fc.assert(fc.property(fc.integer({ min: 1, max: 400 }), sizes, name, (count, size, text) => {
    const ips = Array.from({ length: count }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
    const table = buildLookupTable({ [text]: { ips } }, { namespace: "", domain: "", search: [] });
    const answers = resolve(table, text, "A", size);
    assert.equal(new Set(answers).size, answers.length);
    const room = size - 12 - (text.length + 2 + 4) - 11;
    assert.equal(answers.length, Math.min(count, Math.floor(room / 16)));
  }));
});

Deno.test("an alias of any length keeps to the size, and an alias without room is reported", () => {
  const long = fc.array(fc.integer({ min: 1, max: 63 }), { minLength: 1, maxLength: 12 })
    .map((sizes) => sizes.map((size) => "a".repeat(size)).join(".")).filter((text) => text.length <= 240);
  const edns = fc.option(fc.integer({ min: 512, max: 700 }), { nil: undefined });
  fc.assert(
    fc.property(long, edns, fc.integer({ min: 1, max: 20 }), (text, udpSize, count) => {
      const ips = Array.from({ length: count }, (_, i) => `10.0.0.${i}`);
      const table = buildLookupTable({ [text]: { ips } }, { namespace: "", domain: "", search: ["s.local"] });
      const packet = query({ name: `${text}.s.local`, ...(udpSize === undefined ? {} : { udpSize }) });
      const room = new Uint8Array(4096);
      room.set(packet);
      const length = answer(room, packet.length, new Question(), table, "fail", true, 4096, Math.random);
      assert.ok(length <= (udpSize ?? 512), `${length} bytes`);
      const { answers, flags } = reply(room.slice(0, length));
      assert.equal(flags.includes("tc"), answers.length < count + 1);
      if (answers.length > 0) assert.equal(answers[0], `${text}.s.local CNAME ${text}`);
      for (const record of answers.slice(1)) assert.ok(record.startsWith(`${text} A 10.0.0.`));
    }),
    { numRuns: runs(500) },
  );
});

Deno.test("an answer of another implementation that is cut is a beginning of it, keeps its OPT, and is marked", () => {
  const records = fc.array(fc.tuple(name, ipv4), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(name, records, fc.boolean(), fc.integer({ min: 300, max: 1500 }), (asked, answers, edns, limit) => {
      const opt = {
        type: "OPT" as const,
        name: ".",
        udpPayloadSize: 1232,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      };
      const message = new Uint8Array(dnsPacket.encode({
        type: "response",
        id: 1,
        flags: 0x180,
        questions: [{ type: "A", name: asked }],
        answers: answers.map(([owner, data]) => ({ type: "A" as const, name: owner, ttl: 60, data })),
        additionals: edns ? [opt] : [],
      }));
      const cut = truncate(message, limit);
      assert.ok(cut.length <= limit);
      if (message.length <= limit) return assert.equal(cut, message);
      assert.ok(eachRecord(cut, () => {}));
      const decoded = dnsPacket.decode(Buffer.from(cut));
      const data = (decoded.answers ?? []).map((answer) => (answer as { data: string }).data);
      assert.deepEqual(data, answers.slice(0, data.length).map(([, ip]) => ip));
      assert.equal((decoded.additionals ?? []).length, edns ? 1 : 0);
      assert.equal(cut[2]! & 2, 2);
      const next = answers[data.length]![0].length + 2 + 14;
      assert.ok(cut.length + next > limit, "one more record would not have fitted");
    }),
  );
});
