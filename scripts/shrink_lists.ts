/**
 * Removes settings with a new reader, and metrics with a new source, from the catalogue of names that are not built.
 * Never adds names: a setting that loses its reader fails a test.
 *
 * Permissions: read (lib, cmd), write (lib/kernel/not_built).
 *
 * @module
 */
import { fedMetrics, readSettingNames } from "../tests/surface/source_scan.ts";

const folder = new URL("../lib/kernel/not_built/", import.meta.url);
const used = new Set([...readSettingNames(), ...fedMetrics()]);

/** Names with a reader that a program has no use for: they stay. */
const NEEDLESS = "needless.ts";

for (const { name } of [...Deno.readDirSync(folder)]) {
  if (!name.endsWith(".ts") || name === NEEDLESS) continue;
  const file = new URL(name, folder);
  const before = Deno.readTextFileSync(file).split("\n");
  const after = before.filter((line) => !used.has(/^ +"(\w+)",$/.exec(line)?.[1] ?? ""));
  if (after.length === before.length) continue;
  Deno.writeTextFileSync(file, after.join("\n"));
  console.log(`${name}: ${before.length - after.length} taken off`);
}
