import assert from "node:assert/strict";
import { type EnvoyAdmin, envoyAdmin } from "../../../lib/agent/envoy/admin.ts";
import { envoyArguments } from "../../../lib/agent/envoy/arguments.ts";
import type { DrainRules } from "../../../lib/agent/envoy/drain.ts";
import { EnvoyProcess, exitCodeOf, startProcess } from "../../../lib/agent/envoy/envoy_process.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { envoyPath } from "../../envoy/path.ts";
import { until } from "../../patience.ts";

const binary = envoyPath();
const log = silentLog().scope("test");

const socket = (port_value: number) => ({ socket_address: { address: "127.0.0.1", port_value } });

/** A listener with a fixed response. */
function listener(port: number, traffic_direction: "INBOUND" | "OUTBOUND"): unknown {
  const route_config = {
    virtual_hosts: [{
      name: "all",
      domains: ["*"],
      routes: [{ match: { prefix: "/" }, direct_response: { status: 200, body: { inline_string: "here" } } }],
    }],
  };
  const extension = "type.googleapis.com/envoy.extensions.filters";
  const typed_config = {
    "@type": `${extension}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: "test",
    route_config,
    http_filters: [{
      name: "envoy.filters.http.router",
      typed_config: { "@type": `${extension}.http.router.v3.Router` },
    }],
  };
  const filters = [{ name: "envoy.filters.network.http_connection_manager", typed_config }];
  return { name: `127.0.0.1_${port}`, address: socket(port), traffic_direction, filter_chains: [{ filters }] };
}

interface RealEnvoy {
  readonly envoy: EnvoyProcess;
  readonly admin: EnvoyAdmin;
  readonly inbound: number;
  readonly outbound: number;
}

/** Runs a test with an Envoy listening on both sides. */
async function withEnvoy(test: (real: RealEnvoy) => Promise<void>): Promise<void> {
  await withPorts(3, async ([admin = 0, inbound = 0, outbound = 0]) => {
    const folder = await Deno.makeTempDir();
    const configFile = `${folder}/envoy.json`;
    const listeners = [listener(inbound, "INBOUND"), listener(outbound, "OUTBOUND")];
    const config = { admin: { address: socket(admin) }, static_resources: { listeners } };
    await Deno.writeTextFile(configFile, JSON.stringify(config));
    const args = envoyArguments({
      ...{ configFile, drainDuration: 45_000, concurrency: 1, logLevel: "off", componentLevels: {} },
      ...{ logAsJson: false, skipDeprecatedLogs: true, coreDump: false, ipv6: false },
    });
    const child = startProcess({ binary: binary!, arguments: args });
    const page = envoyAdmin({ address: `127.0.0.1:${admin}`, ownPorts: [] });
    const envoy = new EnvoyProcess(child, page, systemClock, log);
    try {
      await until("Envoy is live", () => page.page("ready").then((text) => text === "LIVE\n", () => false));
      await test({ envoy, admin: page, inbound, outbound });
    } finally {
      await envoy.end();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

const rules: DrainRules = {
  inboundOnly: true,
  terminationDrainDuration: 60_000,
  untilIdle: true,
  minimumDrainDuration: 0,
};

/** Sends a request on a new connection. @returns the response as text */
async function ask(port: number, keep?: (connection: Deno.TcpConn) => void): Promise<string> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode("GET / HTTP/1.1\r\nhost: a\r\n\r\n"));
  const bytes = new Uint8Array(4096);
  let text = "";
  while (!text.endsWith("here")) {
    const length = await connection.read(bytes);
    if (length === null) break;
    text += new TextDecoder().decode(bytes.subarray(0, length));
  }
  if (keep === undefined) connection.close();
  else keep(connection);
  return text;
}

Deno.test({
  name:
    "a drain sends clients of the inbound side away, still answers new ones, leaves the outbound side alone, and ends when the last client has gone",
  ignore: binary === undefined,
  async fn() {
    await withEnvoy(async ({ envoy, admin, inbound, outbound }) => {
      let client: Deno.TcpConn | undefined;
      assert.match(await ask(outbound, (connection) => client = connection), /^HTTP\/1\.1 200/);
      const ended = envoy.drain(rules);
      await until("clients are sent away", async () => /^connection: close/mi.test(await ask(inbound)));
      assert.doesNotMatch(await ask(outbound), /^connection: close/mi);
      await until("one client is left", async () => await admin.activeConnections() === 1);
      client!.close();
      assert.equal(exitCodeOf(await ended), 0);
    });
  },
});

Deno.test({
  name: "an Envoy that is told to end now ends in the midst of draining",
  ignore: binary === undefined,
  async fn() {
    await withEnvoy(async ({ envoy }) => {
      const ended = envoy.drain({ ...rules, untilIdle: false });
      await envoy.end();
      assert.equal(exitCodeOf(await ended), 0);
    });
  },
});

Deno.test({
  name: "an Envoy that dies is reported with its own exit code, and draining ends with it",
  ignore: binary === undefined,
  async fn() {
    await withEnvoy(async ({ envoy, admin }) => {
      const ended = envoy.drain({ ...rules, untilIdle: false });
      await admin.page("quitquitquit", "POST");
      assert.equal(exitCodeOf(await ended), 0);
    });
    const child = startProcess({ binary: binary!, arguments: ["-c", "/nowhere/envoy.json", "-l", "off"] });
    assert.equal(exitCodeOf(await child.ended), 1);
    assert.throws(() => startProcess({ binary: "/nowhere/envoy", arguments: [] }), /^Error: \/nowhere\/envoy cannot/);
  },
});

Deno.test({
  name: "an admin page that does not answer is given up in time",
  async fn() {
    using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const admin = envoyAdmin({ address: `127.0.0.1:${silent.addr.port}`, ownPorts: [], deadline: 50 });
    await assert.rejects(admin.drain(true), /drain_listeners.*: no answer within 0.05 s/);
  },
});
