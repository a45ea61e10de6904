import assert from "node:assert/strict";
import { createGzip } from "node:zlib";
import fc from "fast-check";
import { wholeBytes } from "../../../lib/agent/wasm/fetch/bounded_bytes.ts";
import { type FileChoice, MAX_MODULE_BYTES, unpacked } from "../../../lib/agent/wasm/fetch/unpack.ts";
import { gzip, tar, wasmModule } from "../support/wasm_files.ts";
import { runs } from "../../properties.ts";

async function* inChunks(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const unpack = (bytes: Uint8Array, chunk = 1000, isModule?: FileChoice) =>
  wholeBytes(unpacked(inChunks(bytes, chunk), "module", isModule));

Deno.test("a module comes out of gzip and tar, one in the other, in chunks of any size", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ maxLength: 2000 }), fc.integer({ min: 1, max: 3000 }), async (text, chunk) => {
      const module = wasmModule(text);
      const other = { "docs/": new Uint8Array(0) };
      for (
        const packed of [
          module,
          gzip(module),
          tar({ ...other, a: module }),
          gzip(tar({ a: module })),
          tar({ a: gzip(module) }),
        ]
      ) {
        assert.deepEqual(await unpack(packed, chunk), module);
      }
    }),
    { numRuns: runs(20) },
  );
});

Deno.test("of an archive it is the file that is wanted, else the first one", async () => {
  const archive = tar({
    "README": new TextEncoder().encode("read me"),
    "a/plugin.wasm": wasmModule("it"),
    "z": wasmModule("z"),
  });
  assert.deepEqual(await unpack(archive, 100, (path) => path.endsWith("/plugin.wasm")), wasmModule("it"));
  await assert.rejects(unpack(archive), /module is neither a Wasm module nor gzip nor tar/);
  await assert.rejects(unpack(archive, 100, () => false), /has no Wasm module in its archive/);
});

Deno.test("bytes that are not a module are refused with the reason", async () => {
  const module = wasmModule("x".repeat(600));
  const table: readonly (readonly [Uint8Array, RegExp])[] = [
    [new Uint8Array(0), /is neither a Wasm module/],
    [new TextEncoder().encode("<html>"), /is neither a Wasm module/],
    [module.subarray(0, 6), /is neither a Wasm module/],
    [gzip(module).subarray(0, 30), /module: .*(unexpected end|incomplete)/i],
    [gzip(new TextEncoder().encode("text")), /is neither a Wasm module/],
    [tar({ a: module }).subarray(0, 900), /ends within a/],
    [gzip(gzip(gzip(gzip(gzip(module))))), /packed more than 4 times/],
  ];
  for (const [bytes, reason] of table) await assert.rejects(unpack(bytes), reason);
  const huge = tar({ a: module });
  huge.set(new TextEncoder().encode("77777777777"), 124);
  await assert.rejects(unpack(huge), /has a file a of 8589934591 bytes/);
});

Deno.test("a small file that unpacks to more than the limit is refused, without ever being held as a whole", async () => {
  const packer = createGzip({ level: 9 });
  const chunk = new Uint8Array(1024 * 1024);
  const head = wasmModule();
  const bomb = (async function* () {
    packer.write(head);
    for (let sent = 0; sent <= MAX_MODULE_BYTES; sent += chunk.length) packer.write(chunk);
    packer.end();
    for await (const part of packer) yield part as Uint8Array;
  })();
  let length = 0;
  await assert.rejects(async () => {
    for await (const part of unpacked(bomb, "module")) length += part.length;
  }, /module, unpacked, has more than 268435456 bytes/);
  assert(length <= MAX_MODULE_BYTES);
});
