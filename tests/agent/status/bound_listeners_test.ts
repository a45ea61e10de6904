/** A real Envoy tells which listeners of a redirected sidecar have a socket. */
import assert from "node:assert/strict";
import { envoyAdmin } from "../../../lib/agent/envoy/admin.ts";
import { listenersCheck } from "../../../lib/agent/status/listeners.ts";
import { boundListeners } from "../../../lib/agent/status/bound_listeners.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { type EnvoyProcess, startEnvoyProcess } from "../../../scripts/envoy.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { envoyPath } from "../../envoy/path.ts";

const envoy = envoyPath();

function listener(name: string, address: string, port: number, bind?: boolean) {
  const typed_config = { "@type": "type.googleapis.com/envoy.extensions.filters.network.direct_response.v3.Config" };
  return {
    ...{ "@type": "type.googleapis.com/envoy.config.listener.v3.Listener", name },
    address: { socket_address: { address, port_value: port } },
    filter_chains: [{ filters: [{ name: "answer", typed_config }] }],
    ...(bind === undefined ? {} : { bind_to_port: bind }),
  };
}

async function withListeners(
  resources: readonly object[],
  use: (running: EnvoyProcess) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/listeners.json`;
    await Deno.writeTextFile(path, JSON.stringify({ resources }));
    const bootstrap = {
      node: { id: "a", cluster: "a" },
      admin: { address: { socket_address: { address: "127.0.0.1", port_value: 0 } } },
      dynamic_resources: { lds_config: { path_config_source: { path } } },
    };
    await using running = await startEnvoyProcess({ binary: envoy!, bootstrap, folder });
    await use(running);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test({
  name: "of a redirected sidecar the listeners with captureMode NONE must take connections, too, and no others",
  ignore: envoy === undefined,
  fn: () =>
    withPorts(4, async ([outbound = 0, redirected = 0, open = 0, closed = 0]) => {
      const listeners = [
        listener("virtualOutbound", "0.0.0.0", outbound),
        listener(`0.0.0.0_${redirected}`, "0.0.0.0", redirected, false),
        listener(`10.9.8.7_${redirected}`, "10.9.8.7", redirected, false),
        listener(`127.0.0.1_${open}`, "127.0.0.1", open, true),
        listener("by [default]|(a) socket", "127.0.0.2", open),
      ];
      await withListeners(listeners, async (running) => {
        const own = envoyAdmin({ address: `127.0.0.1:${running.adminPort}`, ownPorts: [] });
        await running.until("listeners", () =>
          own.page("listeners").then((text) => text.includes("socket"), () => false));
        assert.deepEqual(
          [
            ...await boundListeners(
              own,
              listeners.map(({ name }) =>
                name
              ),
            ),
          ],
          ["virtualOutbound", `127.0.0.1_${open}`, "by [default]|(a) socket"],
        );
        const check = (page: typeof own.page) =>
          listenersCheck({
            ...{ admin: { page }, isRedirected: true, addresses: ["10.0.0.1"], ownPorts: [], clock: systemClock },
          })();
        assert.equal(await check(own.page), undefined);
        // As if the socket were gone.
        const elsewhere = async (path: string) =>
          (await own.page(path)).replace(`"port_value": ${open}`, `"port_value": ${closed}`);
        assert.match(await check(elsewhere) ?? "", new RegExp(`the listener 127.0.0.1_${open} takes no connections`));
      });
    }),
});
