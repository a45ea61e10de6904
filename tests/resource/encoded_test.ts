import assert from "node:assert/strict";
import fc from "fast-check";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { Block, bytesOf, concatBytes } from "../../lib/resource/block.ts";
import { blockOf, contentHash, encodeResource } from "../../lib/resource/encoded.ts";
import { putVarint, varintSize, WireCursor, WireError } from "../../lib/resource/protowire.ts";
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { runs } from "../properties.ts";

const TYPE = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
interface Delta {
  resources: {
    name: string;
    version: string;
    aliases?: string[];
    resource: { type_url: string; value?: Uint8Array };
  }[];
}
interface Sotw {
  resources: { type_url: string; value?: Uint8Array }[];
}

Deno.test("a resource decodes the same from its delta run and from its state-of-the-world run", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", minLength: 1 }),
      fc.uint8Array({ maxLength: 70_000, size: "max" }),
      fc.array(fc.string({ minLength: 1 }), { maxLength: 3 }),
      (name, value, aliases) => {
        const resource = encodeResource(TYPE, name, value, { aliases });
        const delta = decode<Delta>(
          "envoy.service.discovery.v3.DeltaDiscoveryResponse",
          bytesOf(resource.runs("delta")),
        ).resources[0]!;
        const sotw = decode<Sotw>("envoy.service.discovery.v3.DiscoveryResponse", bytesOf(resource.runs("sotw")))
          .resources[0]!;
        assert.equal(delta.name, new TextDecoder().decode(new TextEncoder().encode(name)));
        assert.equal(delta.version, resource.version);
        assert.deepEqual(delta.aliases ?? [], aliases);
        assert.equal(delta.resource.type_url, TYPE);
        assert.deepEqual(Buffer.from(delta.resource.value ?? []), Buffer.from(value));
        assert.equal(sotw.type_url, TYPE);
        assert.deepEqual(Buffer.from(sotw.value ?? []), Buffer.from(value));
        assert.deepEqual(Buffer.from(resource.value), Buffer.from(value));
        const [inSotw, inDelta] = [resource.runs("sotw")[0], resource.runs("delta")[0]] as Uint8Array[];
        assert.equal(inSotw!.buffer, inDelta!.buffer);
        for (const form of ["delta", "sotw"] as const) {
          assert.equal(resource.sizeOf(form), bytesOf(resource.runs(form)).length);
        }
      },
    ),
    { numRuns: runs(200) },
  );
});

Deno.test("a message that writes itself becomes the same resource as its bytes", () => {
  fc.assert(fc.property(fc.string({ minLength: 1 }), fc.uint8Array({ maxLength: 500 }), (name, value) => {
    const put = (out: Uint8Array, at: number) => out.set(value, at);
    const [written, given] = [
      encodeResource(TYPE, name, { size: value.length, put }),
      encodeResource(TYPE, name, value),
    ];
    assert.deepEqual(bytesOf(written.runs("delta")), bytesOf(given.runs("delta")));
    assert.deepEqual(written.value, given.value);
  }));
});

Deno.test("the version changes with type, name, aliases and bytes, and with nothing else", () => {
  const value = encode("envoy.config.cluster.v3.Cluster", { name: "a" });
  const base = encodeResource(TYPE, "a", value).version;
  assert.equal(encodeResource(TYPE, "a", value.slice(), { causes: ["x"], warms: ["y"] }).version, base);
  assert.notEqual(encodeResource(TYPE + "2", "a", value).version, base);
  assert.notEqual(encodeResource(TYPE, "b", value).version, base);
  assert.notEqual(encodeResource(TYPE, "a", value, { aliases: ["c"] }).version, base);
  assert.notEqual(encodeResource(TYPE, "a", new Uint8Array([...value, 0])).version, base);
  assert.match(base, /^[\w-]{12}$/);
});

Deno.test("varints of any safe size survive a round trip", () => {
  fc.assert(fc.property(fc.maxSafeNat(), (value) => {
    const out = new Uint8Array(10);
    const end = putVarint(out, 0, value);
    assert.equal(end, varintSize(value));
    assert.equal(new WireCursor(out, 0, end).varint(), value);
  }));
});

Deno.test("a cursor over arbitrary bytes ends or throws WireError, and reads nothing outside", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const cursor = new WireCursor(bytes);
      try {
        while (cursor.next()) cursor.skip();
        assert.equal(cursor.at, bytes.length);
      } catch (error) {
        assert.ok(error instanceof WireError);
      }
    }),
    { numRuns: runs(2000) },
  );
});

Deno.test("a message in runs is encoded as the same message in one piece", () => {
  const bytes = Uint8Array.from({ length: 300 }, (_, i) => i);
  for (const runs of [[], [bytes], [bytes.subarray(0, 100), bytes.subarray(100)]]) {
    const whole = encodeResource("type", "name", concatBytes(runs));
    const inRuns = encodeResource("type", "name", runs);
    for (const form of ["delta", "sotw"] as const) assert.deepEqual(inRuns.runs(form), whole.runs(form));
    assert.deepEqual(inRuns.value, whole.value);
  }
});

Deno.test("gzip members of several blocks concatenate to one gzip stream of their plain bytes", () => {
  const blocks = ["one", "two".repeat(5000), ""].map((part) => new Block([new TextEncoder().encode(part)]));
  const joined = Buffer.concat(blocks.flatMap((block) => block.gzipParts));
  assert.equal(gunzipSync(joined).toString(), "one" + "two".repeat(5000));
});

Deno.test("a version is the first 72 bits of the SHA-256 in base64url", () => {
  for (let i = 0; i < 200; i++) {
    const content = new TextEncoder().encode(`content ${i}`);
    assert.equal(contentHash(content), createHash("sha256").update(content).digest("base64url").slice(0, 12));
  }
});

Deno.test("shared bytes of resources are compressed once, for the second resource, even if each block belongs to one proxy", () => {
  const text = (seed: number, length: number) =>
    new TextEncoder().encode(Array.from({ length }, (_, i) => `${(i * seed) % 977} `).join(""));
  const shared = new Block([text(7, 9000)]);
  const blocks = [1, 2, 3].map((own) => {
    const resources = [
      encodeResource("type", `a-${own}`, [text(own, 5), shared, text(own, 5)]),
      encodeResource("type", `b-${own}`, [text(own, 5), shared]),
    ];
    for (const form of ["delta", "sotw"] as const) {
      const block = blockOf(resources, form);
      assert.deepEqual(
        new Uint8Array(gunzipSync(concatBytes(block.gzipParts))),
        block.plain,
        `${form} ${own}, the first time`,
      );
      assert.deepEqual(
        new Uint8Array(gunzipSync(concatBytes(block.gzipParts))),
        block.plain,
        `${form} ${own}, the second time`,
      );
    }
    return blockOf(resources, "delta");
  });
  const [[member], [same]] = [shared.gzipParts, shared.gzipParts];
  assert.equal(member, same);
  for (const { gzipParts, plainParts } of blocks) {
    assert.equal(gzipParts.filter((part) => part === member).length, 2);
    assert.equal(plainParts.filter((part) => part === shared.plain).length, 2);
  }
});

Deno.test("a block inside a resource is not copied, and the version changes with its bytes and with its place", () => {
  const text = (letter: string) => new TextEncoder().encode(letter.repeat(5000));
  const of = (...runs: (Uint8Array | Block)[]) => encodeResource("type", "name", runs);
  const [own, shared] = [Uint8Array.of(1, 2), new Block([text("a")])];
  const resource = of(own, shared, own);
  assert.deepEqual(resource.value, concatBytes([own, text("a"), own]));
  assert.equal(resource.runs("sotw")[1], shared);
  assert.equal(of(own, new Block([text("a")]), own).version, resource.version, "equal bytes");
  assert.notEqual(of(own, new Block([text("b")]), own).version, resource.version, "other bytes");
  assert.notEqual(of(own, own, shared).version, resource.version, "another place");
});
