/** An open status port: the effect of settings of probes on the application, and the time of the start. */
import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";
import { openStatusPort, planStatus } from "../../../lib/agent/start/status_port.ts";
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { agentInput } from "../support/agent_input.ts";
import { TestAuthority } from "../support/authority.ts";

const PATH = "/app-health/cart/livez";
/** Address of the workload, different from `localhost`. */
const WORKLOAD = "127.0.0.2";
const PROBES = 3;

/** Asks an agent with the given settings for probes, in turn. @returns the statuses of the answers */
async function probed(
  settings: Partial<SettingsOf<"pilot-agent">>,
  httpGet: { readonly port: number; readonly scheme?: string },
): Promise<readonly number[]> {
  const statuses: number[] = [];
  await withPorts(1, async ([statusPort = 0]) => {
    const input = agentInput("/nowhere", {
      settings: { ...settings, MESH_ORCH_APP_PROBERS: JSON.stringify({ [PATH]: { httpGet, timeoutSeconds: 10 } }) },
      proxy: { statusPort },
    });
    const own = { ...input, workload: { ...input.workload, addresses: [WORKLOAD] } };
    const actions = {
      nameTable: () => undefined,
      notReady: () => Promise.resolve(undefined),
      quit() {},
      drain: () => Promise.resolve(),
    };
    const parts = { clock: systemClock, log: silentLog(), metrics: createMetrics("pilot-agent") };
    const port = await openStatusPort(await planStatus(own), actions, own, parts);
    try {
      for (let i = 0; i < PROBES; i++) {
        const response = await fetch(`http://127.0.0.1:${statusPort}${PATH}`);
        await response.body?.cancel();
        statuses.push(response.status);
      }
    } finally {
      await port.close();
    }
  });
  return statuses;
}

/** Runs with an application on all addresses of the machine. */
async function withApplication<T>(server: net.Server, use: (port: number) => Promise<T>): Promise<T> {
  server.listen(0, "0.0.0.0");
  await once(server, "listening");
  try {
    return await use((server.address() as net.AddressInfo).port);
  } finally {
    server.close();
  }
}

/** Dialled addresses of an application with lasting connections, one address for each connection. */
async function dialled(settings: Partial<SettingsOf<"pilot-agent">>): Promise<readonly string[]> {
  const addresses: string[] = [];
  const server = net.createServer((socket) => {
    addresses.push(socket.localAddress!);
    socket.on("error", () => {});
    socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"));
  });
  assert.deepEqual(await withApplication(server, (port) => probed(settings, { port })), Array(PROBES).fill(200));
  return addresses;
}

Deno.test("ENABLE_PROBE_KEEPALIVE_CONNECTIONS: probes share one connection, and each has its own without it", async () => {
  assert.equal((await dialled({ ENABLE_PROBE_KEEPALIVE_CONNECTIONS: true })).length, 1);
  assert.equal((await dialled({ ENABLE_PROBE_KEEPALIVE_CONNECTIONS: false })).length, PROBES);
  assert.equal((await dialled({})).length, PROBES);
});

Deno.test("REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION: the loopback is probed, and the workload's address without it", async () => {
  const hosts = async (settings: Partial<SettingsOf<"pilot-agent">>) => [...new Set(await dialled(settings))];
  assert.deepEqual(await hosts({ REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION: true }), ["127.0.0.1"]);
  assert.deepEqual(await hosts({ REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION: false }), [WORKLOAD]);
  assert.deepEqual(await hosts({}), [WORKLOAD]);
});

Deno.test("MESH_ENABLE_HTTP2_PROBING: HTTPS probes speak HTTP/2 where the application does, and never without it", async () => {
  const { certificate, privateKey } = await (await TestAuthority.make()).serverCertificate("cart.test");
  const spoken = async (settings: Partial<SettingsOf<"pilot-agent">>) => {
    const first: string[] = [];
    const options = { cert: String(certificate), key: String(privateKey), ALPNProtocols: ["h2", "http/1.1"] };
    const server = tls.createServer(options, (socket) => {
      socket.on("error", () => {}).once("data", (bytes) => {
        first.push(
          /^(?:PRI \* HTTP\/2\.0|GET \/ HTTP\/1\.1)\r\n/.exec(bytes.toString("latin1"))?.[0].trim() ?? "neither",
        );
        socket.destroy();
      });
    });
    await withApplication(server, (port) => probed(settings, { port, scheme: "HTTPS" }));
    return [...new Set(first)];
  };
  assert.deepEqual(await spoken({ MESH_ENABLE_HTTP2_PROBING: false }), ["GET / HTTP/1.1"]);
  assert.deepEqual(await spoken({ MESH_ENABLE_HTTP2_PROBING: true }), ["PRI * HTTP/2.0"]);
  assert.deepEqual(await spoken({}), ["PRI * HTTP/2.0"]);
});

Deno.test("startup_duration_seconds is the time of the first probe that found the proxy ready, and stays", () =>
  withPorts(1, async ([statusPort = 0]) => {
    let now = 0;
    let missing: string | undefined = "the proxy has had no listeners yet";
    const actions = {
      nameTable: () => undefined,
      notReady: () => Promise.resolve(missing),
      quit() {},
      drain: () => Promise.resolve(),
    };
    const clock = { ...systemClock, monotonic: () => now };
    const metrics = createMetrics("pilot-agent");
    const input = agentInput("/nowhere", { proxy: { statusPort } });
    const port = await openStatusPort(await planStatus(input), actions, input, { clock, log: silentLog(), metrics });
    try {
      const seen: string[] = [];
      for (const [ms, reason] of [[1500, missing], [2500, undefined], [3500, missing], [4500, undefined]] as const) {
        [now, missing] = [ms, reason];
        await (await fetch(`http://127.0.0.1:${statusPort}/healthz/ready`)).body?.cancel();
        seen.push(/^startup_duration_seconds (.*)$/m.exec((await metrics.scrape()).body)?.[1] ?? "");
      }
      assert.deepEqual(seen, ["0", "2.5", "2.5", "2.5"]);
    } finally {
      await port.close();
    }
  }));
