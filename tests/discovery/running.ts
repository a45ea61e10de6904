/**
 * A running discovery server over a temporary folder, for tests.
 * @module
 */
import assert from "node:assert/strict";
import { type DiscoveryServer, startDiscoveryServer } from "../../lib/discovery/server.ts";
import type { DiscoveryServerOptions } from "../../lib/discovery/server_options.ts";
import { type Kernel, startKernel } from "../../lib/kernel/kernel.ts";
import { type Log, silentLog } from "../../lib/kernel/log/log.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import type { Clock } from "../../lib/kernel/time/clock.ts";

/** How a test's server differs from the default server. */
export interface ServerChanges {
  readonly options?: Partial<DiscoveryServerOptions>;
  readonly settings?: Partial<SettingsOf<"pilot-discovery">>;
  readonly log?: Log;
  readonly clock?: Clock;
}

/** Runs a server over the given files, and stops the server cleanly. */
export async function withServer(
  files: Readonly<Record<string, string>>,
  run: (server: DiscoveryServer, folder: string, kernel: Kernel) => Promise<void>,
  changes: ServerChanges = {},
): Promise<void> {
  const folder = await Deno.makeTempDir();
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, text);
  const { log = silentLog(), clock } = changes;
  const kernel = startKernel("pilot-discovery", undefined, clock ? { log, clock } : { log });
  try {
    const options: DiscoveryServerOptions = {
      grpc: "127.0.0.1:0",
      http: "127.0.0.1:0",
      monitoring: "127.0.0.1:0",
      configDir: folder,
      meshConfig: `${folder}/absent`,
      networksConfig: `${folder}/absent`,
      domain: "cluster.local",
      clusterId: "Orch",
      clusterAliases: {},
      systemNamespace: "mesh-system",
      registries: [],
      keepaliveInterval: 30_000,
      keepaliveTimeout: 10_000,
      keepaliveMaxServerConnectionAge: Infinity,
      shutdownDuration: 1000,
      cores: 2,
      ...changes.options,
    };
    const settings = defaultSettings("pilot-discovery", { MESH_CALLS_DIR: "", ...changes.settings });
    await run(await startDiscoveryServer(options, settings, kernel), folder, kernel);
  } finally {
    const outcomes = await kernel.stopper.stop();
    await Deno.remove(folder, { recursive: true });
    assert.deepEqual(outcomes.filter((o) => o.result !== "done"), []);
  }
}

/** Fetches a page of a server. */
export async function page(port: number, path: string, host = "127.0.0.1"): Promise<{ status: number; body: string }> {
  const response = await fetch(`http://${host}:${port}${path}`);
  return { status: response.status, body: await response.text() };
}
