import assert from "node:assert/strict";
import { importsOf } from "../../../scripts/imports.ts";

const root = new URL("../../..", import.meta.url).pathname.replace(/\/$/, "");

/** Everything that is loaded before an agent's first line runs, each with who loads it. */
function loadedWith(file: string): Map<string, string> {
  const found = new Map([[file, ""]]);
  for (const from of found.keys()) {
    if (!from.endsWith(".ts")) continue;
    for (const { to, typeOnly, lazy } of importsOf(root, from)) {
      if (!typeOnly && !lazy && !found.has(to)) found.set(to, from);
    }
  }
  return found;
}

Deno.test("an agent that has no use for them loads neither zod, nor templates, nor tokens of a cloud", () => {
  const loaded = loadedWith("cmd/pilot-agent/proxy.ts");
  assert(loaded.has("lib/agent/start/agent.ts") && loaded.has("lib/agent/cloud/cloud.ts"));
  const heavy = /^zod$|^lib\/kernel\/template\/|^lib\/agent\/tokens\/|^lib\/agent\/cloud\/(?:amazon|azure)/;
  assert.deepEqual([...loaded].filter(([file]) => heavy.test(file)), []);
});
