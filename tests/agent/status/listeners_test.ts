import assert from "node:assert/strict";
import { listenersCheck, listenersOf } from "../../../lib/agent/status/listeners.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { application } from "../support/status_pages.ts";

function statuses(listeners: readonly (readonly [name: string, address: string, port: number])[]): string {
  return JSON.stringify({
    listener_statuses: listeners.map(([name, address, port_value]) => ({
      name,
      local_address: { socket_address: { address, port_value } },
    })),
  });
}

Deno.test("listeners that clients reach must take connections; with redirected traffic, listeners without a socket are left out", async () => {
  const open = await application(() => {});
  const closed = await application(() => {});
  await closed[Symbol.asyncDispose]();
  const page = statuses([
    ["virtualInbound", "0.0.0.0", open.port],
    ["0.0.0.0_15021", "0.0.0.0", open.port],
    ["10.0.0.1_80", "127.0.0.1", closed.port],
    ["10.0.0.2_80", "10.0.0.2", closed.port],
    ["udp_0.0.0.0_443", "0.0.0.0", closed.port],
  ]);
  const dump = JSON.stringify({
    configs: [{ name: "10.0.0.1_80", active_state: { listener: { bind_to_port: false } } }],
  });
  const check = (isRedirected: boolean, text = page) =>
    listenersCheck({
      ...{ isRedirected, addresses: ["10.0.0.9"], ownPorts: [15021, 15090], clock: systemClock },
      admin: { page: (path) => Promise.resolve(path.startsWith("listeners") ? text : dump) },
    })();
  assert.equal(await check(true), undefined);
  assert.match(await check(false) ?? "", /the listener 10\.0\.0\.1_80 takes no connections: .*refused/i);
  assert.match(
    await check(true, statuses([["virtualOutbound", "0.0.0.0", closed.port]])) ?? "",
    /the listener virtualOutbound takes no connections/,
  );
  await open[Symbol.asyncDispose]();
});

Deno.test("only Envoy's listeners on TCP are read, and wildcard addresses are read as the loopback", () => {
  const other = [{ name: "pipe", local_address: { pipe: { path: "/x" } } }, {
    name: "internal",
    local_address: { envoy_internal_address: { server_listener_name: "x" } },
  }];
  const text = JSON.parse(statuses([["a", "::", 1], ["b", "0.0.0.0", 2], ["c", "10.0.0.1", 3]]));
  assert.deepEqual(listenersOf(JSON.stringify({ listener_statuses: [...text.listener_statuses, ...other] })), [
    { name: "a", host: "::1", port: 1 },
    { name: "b", host: "127.0.0.1", port: 2 },
    { name: "c", host: "10.0.0.1", port: 3 },
  ]);
  assert.deepEqual(listenersOf("{}"), []);
});
