/**
 * The content of an archive.
 *
 * Permissions: read, write (a temporary folder), run (tar).
 *
 * @module
 */
import assert from "node:assert/strict";

/** The files of an archive (tar, gzip), as text, by path. */
export async function unpacked(archive: string): Promise<ReadonlyMap<string, string>> {
  const folder = await Deno.makeTempDir({ prefix: "mesh-report-" });
  try {
    const tar = await new Deno.Command("tar", { args: ["-xzf", archive, "-C", folder] }).output();
    assert.ok(tar.success, new TextDecoder().decode(tar.stderr));
    const files = new Map<string, string>();
    const read = async (path: string): Promise<void> => {
      for await (const { name, isDirectory } of Deno.readDir(`${folder}/${path}`)) {
        const below = path === "" ? name : `${path}/${name}`;
        if (isDirectory) await read(below);
        else files.set(below, await Deno.readTextFile(`${folder}/${below}`));
      }
    };
    await read("");
    return files;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
