/** Reading a path that others may have made. Named pipes: `tests/folder/pipe_test.ts`, in separate processes. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { inTime } from "../../../lib/kernel/files/bounded.ts";
import {
  FileTooLarge,
  NotRegularFile,
  readRegular,
  readRegularSync,
  readRegularText,
  readRegularTextSync,
} from "../../../lib/kernel/files/regular.ts";

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "regular-" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

for (const size of [0, 1, 4095, 4096, 4097, 1024 * 1024, 3 * 1024 * 1024 + 7]) {
  Deno.test(`a file of ${size} bytes is read whole, with and without waiting`, () =>
    inFolder(async (folder) => {
      const bytes = new Uint8Array(size).map((_, i) => i % 251);
      await Deno.writeFile(`${folder}/a`, bytes);
      assert.equal(Buffer.compare(await readRegular(`${folder}/a`), bytes), 0);
      assert.equal(Buffer.compare(readRegularSync(`${folder}/a`), bytes), 0);
    }));
}

Deno.test("text keeps its byte order mark, and bytes that are not UTF-8 become U+FFFD, as the runtime reads them", () =>
  inFolder(async (folder) => {
    await Deno.writeFile(`${folder}/a`, new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff]));
    assert.equal(await readRegularText(`${folder}/a`), await Deno.readTextFile(`${folder}/a`));
    assert.equal(readRegularTextSync(`${folder}/a`), Deno.readTextFileSync(`${folder}/a`));
  }));

Deno.test("a folder and a socket are refused, and the error names their kind", () =>
  inFolder(async (folder) => {
    using _socket = Deno.listen({ transport: "unix", path: `${folder}/socket` });
    for (
      const [path, got] of [[folder, "a folder"], [`${folder}/socket`, "a socket"]]
    ) {
      const expected = { name: "NotRegularFile", message: `${path}: got ${got}, expected a regular file` };
      await assert.rejects(readRegular(path!), expected);
      assert.throws(() => readRegularSync(path!), NotRegularFile);
    }
  }));

Deno.test("a file that is larger than its reader takes is refused before its content is held", () =>
  inFolder(async (folder) => {
    using file = await Deno.open(`${folder}/a`, { write: true, create: true });
    // 100 GB without place on the disk.
    await file.truncate(100e9);
    await assert.rejects(readRegular(`${folder}/a`), {
      name: "FileTooLarge",
      message: `${folder}/a: the file has 100000000000 bytes, expected at most 16777216`,
    });
    assert.throws(() => readRegularSync(`${folder}/a`, 10), FileTooLarge);
  }));

Deno.test("a missing file is the runtime's NotFound", async () => {
  await assert.rejects(readRegular("/nowhere/at/all"), Deno.errors.NotFound);
  assert.throws(() => readRegularSync("/nowhere/at/all"), Deno.errors.NotFound);
});

Deno.test("an operation that does not end is given up at its limit; 16 such operations do not block later operations", async () => {
  const held = Promise.withResolvers<void>();
  const bound = { ms: 20 };
  const late = Array.from({ length: 16 }, (_, i) => inTime(`/held/${i}`, () => held.promise, bound));
  for (const [i, one] of late.entries()) {
    await assert.rejects(one, new Deno.errors.TimedOut(`/held/${i}: no answer of the file system in 0.02 s`));
  }
  // The threads are taken: no read begins, and the error says so.
  let began = false;
  const more = inTime("/more", () => Promise.resolve(began = true), bound);
  await assert.rejects(more, Deno.errors.TimedOut);
  assert.equal(began, false);
  held.resolve();
  assert.equal(await inTime("/again", () => Promise.resolve(1)), 1);
});

Deno.test("the wait for an operation ends with its signal, with the signal's reason", async () => {
  const ending = new AbortController();
  const held = Promise.withResolvers<void>();
  const waiting = inTime("/held", () => held.promise, { signal: ending.signal });
  ending.abort(new Error("the server stops"));
  await assert.rejects(waiting, /the server stops/);
  held.resolve();
});
