import assert from "node:assert/strict";
import { loadedWith } from "../../../scripts/imports.ts";

const root = new URL("../../..", import.meta.url).pathname.replace(/\/$/, "");

/** Modules loaded by an agent when its proxy starts. */
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

Deno.test("an agent loads only two small packages, because each agent pays for its packages", () => {
  const packages = [...loaded.keys()].filter((name) => !name.startsWith("node:") && !name.endsWith(".ts"));
  assert.deepEqual(packages.sort(), ["ipaddr.js", "js-yaml"]);
});

Deno.test("no loop that runs while an agent's modules load is so long that the engine compiles it in its midst", async () => {
  const args = ["run", "--quiet", "--no-check", "--config", `${root}/deno.json`, "--allow-read", "--allow-env"];
  const command = new Deno.Command(Deno.execPath(), {
    args: [...args, "--v8-flags=--trace-opt", `${root}/cmd/pilot-agent/proxy.ts`],
  });
  const { success, stdout, stderr } = await command.output();
  const said = new TextDecoder().decode(stdout);
  assert(success, new TextDecoder().decode(stderr));
  // Compilers used during a start stay in the memory of an agent that does nothing afterwards.
  assert.deepEqual([...said.matchAll(/^\[compiling .*<JSFunction (\S*).*\) OSR/gm)].map(([, name]) => name), []);
});
