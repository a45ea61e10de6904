/** Modules loaded by the server before its start. */
import assert from "node:assert/strict";
import { loadedWith } from "../../scripts/imports.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

Deno.test("a server that nobody asks for a page loads no pages, for programs or people, and no simulation of requests", () => {
  const loaded = loadedWith(root, "cmd/pilot-discovery/start.ts");
  assert(loaded.has("lib/discovery/server.ts") && loaded.has("lib/discovery/ports.ts"));
  const pages = /^lib\/web\/|^lib\/simulate\/|^lib\/offline\/explain\/|^lib\/debug\/(?:pages|introspection)/;
  assert.deepEqual([...loaded].filter(([file]) => pages.test(file)), []);
});
