import assert from "node:assert/strict";
import { loadedWith } from "../../../scripts/imports.ts";

const root = new URL("../../..", import.meta.url).pathname.replace(/\/$/, "");

Deno.test("an agent that has no use for them loads neither zod, nor templates, nor tokens of a cloud", () => {
  const loaded = loadedWith(root, "cmd/pilot-agent/proxy.ts");
  assert(loaded.has("lib/agent/start/agent.ts") && loaded.has("lib/agent/cloud/cloud.ts"));
  const heavy = /^zod$|^lib\/kernel\/template\/|^lib\/agent\/tokens\/|^lib\/agent\/cloud\/(?:amazon|azure)/;
  assert.deepEqual([...loaded].filter(([file]) => heavy.test(file)), []);
});
