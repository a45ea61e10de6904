import assert from "node:assert/strict";
import { loadedWith } from "../../../scripts/imports.ts";

const root = new URL("../../..", import.meta.url).pathname.replace(/\/$/, "");

/** What an agent has loaded when its proxy starts. */
const loaded = new Map(
  ["main.ts", "read_proxy.ts", "proxy.ts"].flatMap((file) => [...loadedWith(root, `cmd/pilot-agent/${file}`)]),
);

Deno.test("an agent that has no use for them loads neither names, Wasm, probes, templates, profiles nor tokens of a cloud", () => {
  assert(loaded.has("lib/agent/start/agent.ts") && loaded.has("lib/agent/cloud/cloud.ts"));
  const late = [
    ...["lib/kernel/template/", "lib/agent/tokens/", "lib/agent/cloud/(?:amazon|azure)", "lib/http/profiles/"],
    ...["lib/dns/(?!table/types)", "lib/agent/wasm/(?!extension_type)", "lib/agent/health/", "lib/agent/tap/"],
    ...["lib/agent/probes/(?:app|http)", "lib/iptables/"],
  ];
  const heavy = new RegExp(`^(?:${late.join("|")})`);
  assert.deepEqual([...loaded].filter(([file]) => heavy.test(file)), []);
});

Deno.test("of all packages an agent loads two small ones, because each is paid for beside every workload", () => {
  const packages = [...loaded.keys()].filter((name) => !name.startsWith("node:") && !name.endsWith(".ts"));
  assert.deepEqual(packages.sort(), ["ipaddr.js", "js-yaml"]);
});
