/**
 * From an agent's input to a running Envoy: bootstrap file, command line, process.
 *
 * Permissions: read, write (the proxy's folder), run (Envoy), net (its admin page).
 *
 * @module
 */
import type { Log } from "../../kernel/log/log.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { bootstrap } from "../bootstrap/bootstrap.ts";
import { familiesOf } from "../bootstrap/families.ts";
import type { AgentInput } from "../start/agent_input.ts";
import { envoyAdmin } from "./admin.ts";
import { envoyArguments } from "./arguments.ts";
import { EnvoyProcess, startProcess } from "./envoy_process.ts";

/** Name of the bootstrap in the proxy's folder. */
const BOOTSTRAP_FILE = "envoy-rev.json";

/**
 * Writes the bootstrap and starts Envoy.
 *
 * @param identityElsewhere Whether the workload's identity comes from another program than the agent.
 * @throws Error when a file cannot be read or written, or Envoy cannot be started
 */
export async function startEnvoyProcess(
  input: AgentInput,
  identityElsewhere: boolean,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<EnvoyProcess> {
  const { proxy, settings, workload, envoyLog } = input;
  const { localhost } = familiesOf(workload.addresses, settings.MESH_DUAL_STACK);
  const configFile = proxy.customConfigFile ?? await writeBootstrap(input, identityElsewhere, log);
  const override = settings.MESH_BOOTSTRAP_OVERRIDE === ""
    ? {}
    : { override: await Deno.readTextFile(settings.MESH_BOOTSTRAP_OVERRIDE) };
  const child = startProcess({
    binary: proxy.binaryPath,
    arguments: envoyArguments({
      configFile,
      ...override,
      drainDuration: proxy.drainDuration,
      concurrency: input.concurrency,
      logLevel: envoyLog.level,
      componentLevels: envoyLog.components,
      logAsJson: envoyLog.asJson,
      skipDeprecatedLogs: settings.PROXY_SKIP_DEPRECATED_LOGS,
      coreDump: settings.MESH_PROXY_ENABLE_CORE_DUMP,
      ipv6: localhost.includes(":"),
    }),
    ...(input.proxyUser === undefined ? {} : { user: input.proxyUser }),
  });
  const admin = envoyAdmin({
    address: `${localhost.includes(":") ? `[${localhost}]` : localhost}:${proxy.proxyAdminPort}`,
    ownPorts: [settings.PROXY_STATUS_PORT, settings.PROXY_METRICS_PORT],
  });
  return new EnvoyProcess(child, admin, clock, log.scope("default"));
}

async function writeBootstrap(input: AgentInput, identityElsewhere: boolean, log: Log): Promise<string> {
  const { proxy, settings, workload, paths, envoyLog } = input;
  const { config, problems } = bootstrap({
    node: workload.node,
    proxy,
    annotations: input.annotations,
    addresses: workload.addresses,
    dualStack: settings.MESH_DUAL_STACK,
    delta: settings.MESH_DELTA_XDS,
    readinessPort: settings.PROXY_STATUS_PORT,
    metricsPort: settings.PROXY_METRICS_PORT,
    countsConnections: settings.EXIT_ON_ZERO_ACTIVE_CONNECTIONS,
    outlierLogPath: input.outlierLogPath,
    logAsJson: envoyLog.asJson,
    sockets: {
      xds: input.xdsSocket,
      sds: identityElsewhere ? `${paths.identitySockets}/${settings.WORKLOAD_IDENTITY_SOCKET_FILE}` : paths.sdsSocket,
      data: paths.data,
      ...(identityElsewhere ? { files: paths.filesSocket } : {}),
    },
  });
  for (const { field, value, expected } of problems) {
    log.scope("default").warn(`${field}: got ${JSON.stringify(value)}, expected ${expected}; it has no effect`);
  }
  const file = `${proxy.configPath}/${BOOTSTRAP_FILE}`;
  await Deno.mkdir(proxy.configPath, { recursive: true, mode: 0o755 });
  await Deno.writeTextFile(file, JSON.stringify(config));
  return file;
}
