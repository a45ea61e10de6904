/** The DNS server of an agent: the agents with a name server, the kept table, and the error for a taken port. */
import assert from "node:assert/strict";
import { type MeshNameServer, startNameServer, wantsNameServer } from "../../../lib/agent/start/name_server.ts";
import { statusRoutes } from "../../../lib/agent/status/routes.ts";
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { encodeName, encodeNameTable } from "../../../lib/translate/name_table/encode.ts";
import { agentInput } from "../support/agent_input.ts";
import { servePages } from "../support/status_pages.ts";

function start(settings: Partial<SettingsOf<"pilot-agent">>): Promise<MeshNameServer | undefined> {
  const parts = { clock: systemClock, log: silentLog(), metrics: createMetrics("pilot-agent") };
  return startNameServer(agentInput("/nowhere", { settings }), parts);
}

const sent = (...bodies: Uint8Array[]) => ({
  ...{ typeUrl: "", nonce: "1", version: "1", removed: [] },
  resources: bodies.map((body) => ({ name: "", version: "", body })),
});

Deno.test("sidecars have one to capture DNS, all roles to serve it, agents without a proxy never", () => {
  const wants = (settings: Partial<SettingsOf<"pilot-agent">>, role: "sidecar" | "router" = "sidecar") => {
    const input = agentInput("/nowhere", { settings });
    return wantsNameServer({ ...input, workload: { ...input.workload, role } });
  };
  assert.equal(wants({}), false);
  assert.equal(wants({ MESH_META_DNS_CAPTURE: true }), true);
  assert.equal(wants({ MESH_META_DNS_CAPTURE: true }, "router"), false);
  assert.equal(wants({ MESH_META_ENABLE_DNS_SERVER: true }, "router"), true);
  assert.equal(wants({ MESH_META_ENABLE_DNS_SERVER: true, DISABLE_PROXY: true }), false);
});

Deno.test("the last good table stays: an answer without a table, or with an unreadable table, changes nothing", async () => {
  const names = await start({ MESH_META_DNS_CAPTURE: true, DNS_PROXY_ADDR: "127.0.0.1:0" });
  assert(names !== undefined);
  const actions = {
    nameTable: () => names.table,
    notReady: () => names.notReady(),
    quit: () => {},
    drain: () => Promise.resolve(),
  };
  await using pages = await servePages(statusRoutes(actions));
  const page = async () => {
    const response = await fetch(`http://127.0.0.1:${pages.port}/debug/ndsz`);
    return [response.status, await response.json()];
  };
  try {
    await names.take(sent());
    assert.equal(await names.notReady(), "no name table has come yet");
    assert.deepEqual(await page(), [404, {}]);
    const table = encodeNameTable([encodeName({ host: "a.test", ips: ["10.0.0.1"], registry: "External" })]);
    await names.take(sent(table.value));
    assert.equal(await names.notReady(), undefined);
    const expected = [200, { table: { "a.test": { ips: ["10.0.0.1"], registry: "External" } } }];
    assert.deepEqual(await page(), expected);
    await names.take(sent());
    assert.throws(() => void names.take(sent(Uint8Array.of(10, 200))), /NameTable/);
    assert.deepEqual(await page(), expected);
  } finally {
    await names.close();
  }
});

Deno.test("a port that another program has is an error that names variable and port", async () => {
  await withPorts(1, async ([port]) => {
    const own = { MESH_META_DNS_CAPTURE: true, DNS_PROXY_ADDR: `127.0.0.1:${port}` };
    const first = await start(own);
    try {
      await assert.rejects(
        start(own),
        { message: new RegExp(`^DNS_PROXY_ADDR: cannot listen on 127\\.0\\.0\\.1 port ${port}: `) },
      );
    } finally {
      await first!.close();
    }
    await (await start(own))!.close();
  });
});
