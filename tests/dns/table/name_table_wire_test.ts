import assert from "node:assert/strict";
import fc from "fast-check";
import protobuf from "protobufjs";
import { buildLookupTable } from "../../../lib/dns/table/lookup.ts";
import { decodeNameTable } from "../../../lib/dns/table/name_table_wire.ts";
import { NAME_TABLE_MESSAGE } from "../../../lib/dns/table/types.ts";
import { resolve } from "../support/resolve.ts";
import { runs } from "../../properties.ts";

/** The definition of the message, for a foreign encoder. */
const definition = `
  syntax = "proto3";
  package istio.networking.nds.v1;
  message NameTable {
    message NameInfo {
      repeated string ips = 1;
      string registry = 2;
      string shortname = 3;
      string namespace = 4;
      repeated string alt_hosts = 5;
    }
    map<string, NameInfo> table = 1;
  }`;
const type = protobuf.parse(definition, { keepCase: true }).root.lookupType(NAME_TABLE_MESSAGE);
const encode = (table: Record<string, object>) => type.encode(type.fromObject({ table })).finish();

Deno.test("a name table of the wire answers as the control plane meant it", () => {
  const bytes = encode({
    "productpage.ns1.svc.cluster.local": {
      ips: ["9.9.9.9", "2001:db8::9"],
      registry: "Kubernetes",
      shortname: "productpage",
      namespace: "ns1",
      alt_hosts: ["productpage.ns1.svc.clusterset.local"],
    },
    "*.wildcard": { ips: ["10.10.10.10"], registry: "External" },
  });
  const names = decodeNameTable(bytes);
  assert.deepEqual(names, {
    "productpage.ns1.svc.cluster.local": {
      ips: ["9.9.9.9", "2001:db8::9"],
      registry: "Kubernetes",
      shortname: "productpage",
      namespace: "ns1",
      altHosts: ["productpage.ns1.svc.clusterset.local"],
    },
    "*.wildcard": { ips: ["10.10.10.10"], registry: "External" },
  });
  const table = buildLookupTable(names, { namespace: "ns1", domain: "ns1.svc.cluster.local", search: [] });
  assert.deepEqual(resolve(table, "productpage"), ["productpage A 9.9.9.9"]);
  assert.deepEqual(resolve(table, "productpage", "AAAA"), ["productpage AAAA 2001:db8::9"]);
  assert.deepEqual(resolve(table, "productpage.ns1.svc.clusterset.local").length, 1);
  assert.deepEqual(resolve(table, "x.wildcard"), ["x.wildcard A 10.10.10.10"]);
});

Deno.test("any table survives the wire", () => {
  const texts = fc.array(fc.string({ minLength: 1, maxLength: 8 }), { maxLength: 3 });
  const word = fc.string({ minLength: 1, maxLength: 8 });
  const info = fc.record({ ips: texts, registry: word, shortname: word, namespace: word, altHosts: texts });
  fc.assert(fc.property(fc.dictionary(word, info), (table) => {
    const written = Object.fromEntries(
      Object.entries(table).map(([host, { altHosts, ...rest }]) => [host, { ...rest, alt_hosts: altHosts }]),
    );
    const read = decodeNameTable(encode(written));
    const expected = Object.entries(table).map(([host, { altHosts, ...rest }]) => [
      host,
      altHosts.length === 0 ? rest : { ...rest, altHosts },
    ]);
    assert.deepEqual(Object.entries(read).sort(), expected.sort());
  }));
});

Deno.test("an empty message is an empty table; a host may have no attributes; unknown fields are skipped", () => {
  assert.deepEqual(decodeNameTable(new Uint8Array()), {});
  assert.deepEqual(decodeNameTable(encode({ "a.example": {} })), { "a.example": { ips: [] } });
  const odd = Uint8Array.from([0x78, 5, ...encode({ "a.example": { ips: ["10.0.0.1"] } }), 0x7a, 1, 0]);
  assert.deepEqual(decodeNameTable(odd), { "a.example": { ips: ["10.0.0.1"] } });
});

Deno.test("a host that is called like a part of the language is a host like others", () => {
  const entry = protobuf.Writer.create().uint32(10).string("__proto__")
    .uint32(18).bytes(protobuf.Writer.create().uint32(10).string("10.0.0.1").finish()).finish();
  const bytes = protobuf.Writer.create().uint32(10).bytes(entry).finish();
  const table = buildLookupTable(decodeNameTable(bytes), { namespace: "", domain: "", search: [] });
  assert.deepEqual(resolve(table, "__proto__"), ["__proto__ A 10.0.0.1"]);
});

Deno.test("a malformed name table is refused with the reason, however it is malformed", () => {
  const good = encode({ "a.example": { ips: ["10.0.0.1"] } });
  for (const bytes of [good.slice(0, 5), Uint8Array.from([0x0a, 2, 0xff]), Uint8Array.from([0x0a, 3, 10, 1, 0xff])]) {
    assert.throws(() => decodeNameTable(bytes), { message: /^istio\.networking\.nds\.v1\.NameTable: / });
  }
  fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => void decodedOrRefused(bytes)));
});

Deno.test("a message with changed bytes is read as protobufjs reads it", () => {
  const word = fc.string({ maxLength: 6, unit: "grapheme" });
  const info = fc.record({ ips: fc.array(word, { maxLength: 3 }), registry: word, alt_hosts: fc.array(word) });
  const change = fc.tuple(fc.nat(200), fc.nat(255));
  const tables = fc.dictionary(word, info, { maxKeys: 3 });
  let read = 0;
  fc.assert(
    fc.property(tables, fc.array(change, { maxLength: 2 }), (table, changes) => {
      const bytes = encode(table);
      for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
      const names = decodedOrRefused(bytes);
      if (names === undefined) return;
      const theirs = decodedByProtobufjs(bytes);
      if (theirs === undefined) return;
      const expected = Object.entries(theirs.table ?? {}).map((
        [host, { ips = [], alt_hosts = [], ...rest }]: [string, Info],
      ) => [
        host,
        { ips, ...withoutEmpty(rest), ...(alt_hosts.length === 0 ? {} : { altHosts: alt_hosts }) },
      ]);
      const ours = Object.entries(names).map(([host, attributes]) => [host, withoutEmpty(attributes)]);
      assert.deepEqual(ours.sort(), expected.sort());
      read++;
    }),
    { numRuns: runs(500) },
  );
  assert(read > 100, `${read} of 500 were read`);
});

/** An empty text on the wire means the same as a missing text. protobufjs leaves out some empty texts. */
function withoutEmpty<T extends object>(attributes: T): Partial<T> {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== "")) as Partial<T>;
}

/** Undefined: a tag has more than 32 bits. protobufjs refuses such a tag, and our decoder cuts the tag. */
function decodedByProtobufjs(bytes: Uint8Array): { readonly table?: Record<string, object> } | undefined {
  try {
    return type.toObject(type.decode(bytes), { arrays: true });
  } catch (error) {
    if ((error as Error).message === "invalid tag encoding") return undefined;
    throw error;
  }
}

interface Info {
  readonly ips?: readonly string[];
  readonly alt_hosts?: readonly string[];
}

function decodedOrRefused(bytes: Uint8Array) {
  try {
    return decodeNameTable(bytes);
  } catch (error) {
    assert.match((error as Error).message, /^istio\.networking\.nds\.v1\.NameTable: /);
    return undefined;
  }
}
