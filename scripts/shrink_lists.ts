/**
 * Takes off the lists of unread settings and unfed metrics what is read or fed by now. It never adds: a setting that
 * loses its reader fails a test.
 *
 * Permissions: read (lib, cmd), write (the two lists).
 *
 * @module
 */
import { fedMetrics, readSettingNames } from "../tests/surface/source_scan.ts";

const lists: [string, Set<string>][] = [
  ["lib/kernel/settings/unread.ts", readSettingNames()],
  ["lib/kernel/metrics/unfed.ts", fedMetrics()],
];

for (const [path, used] of lists) {
  const file = new URL(`../${path}`, import.meta.url);
  const before = Deno.readTextFileSync(file).split("\n");
  const after = before.filter((line) => !used.has(/^ +"(\w+)",$/.exec(line)?.[1] ?? ""));
  if (after.length === before.length) continue;
  Deno.writeTextFileSync(file, after.join("\n"));
  console.log(`${path}: ${before.length - after.length} taken off`);
}
