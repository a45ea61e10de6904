import assert from "node:assert/strict";
import { FolderFiles } from "../../lib/folder/files.ts";

/** A folder with files of the given sizes in bytes, by name. */
async function withFiles(sizes: Record<string, number>, run: (files: FolderFiles, root: string) => Promise<void>) {
  const root = await Deno.makeTempDir({ prefix: "config-files-" });
  try {
    for (const [name, size] of Object.entries(sizes)) await Deno.writeFile(`${root}/${name}`, new Uint8Array(size));
    await run(new FolderFiles(root), root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("small files are read together, large files alone, each on request", async () => {
  const large = 200_000;
  await withFiles(
    { "a.yaml": 10, "b.yaml": 10, "c.yaml": large, "d.yaml": large, "e.yaml": 10 },
    async (files, root) => {
      const looks = await files.lookAll([...(await files.find("")).files].sort());
      const parts: string[][] = [];
      for await (const reads of files.readAll(looks)) {
        parts.push(reads.map(({ path, bytes }) => `${path} ${bytes?.length}`));
        // Nothing after the present part has been read yet.
        if (parts.length === 1) await Deno.writeFile(`${root}/e.yaml`, new Uint8Array(20));
      }
      assert.deepEqual(parts, [["a.yaml 10", "b.yaml 10", `c.yaml ${large}`], [`d.yaml ${large}`], ["e.yaml 20"]]);
    },
  );
});

Deno.test("a file that was written between a look and its reading differs at the next look", async () => {
  await withFiles({ "a.yaml": 10 }, async (files, root) => {
    const old = new Date(Date.now() - 10_000);
    await Deno.utime(`${root}/a.yaml`, old, old);
    assert.deepEqual(await files.lookAll(["a.yaml"]), [{ path: "a.yaml", differs: true, size: 10 }]);
    assert.deepEqual(await files.lookAll(["a.yaml"]), [{ path: "a.yaml", differs: false, size: 10 }]);
    await Deno.writeFile(`${root}/a.yaml`, new Uint8Array(11));
    await files.read("a.yaml");
    assert.deepEqual(await files.lookAll(["a.yaml"]), [{ path: "a.yaml", differs: true, size: 11 }]);
  });
});

Deno.test("a missing file differs, and reading it reports that it is missing", async () => {
  await withFiles({}, async (files) => {
    const looks = await files.lookAll(["a.yaml"]);
    assert.deepEqual(looks, [{ path: "a.yaml", differs: true, size: 0 }]);
    for await (const reads of files.readAll(looks)) assert.deepEqual(reads, [{ path: "a.yaml", bytes: undefined }]);
  });
});
