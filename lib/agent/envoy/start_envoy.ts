/**
 * From an agent's input to a running Envoy: bootstrap file, command line, process.
 *
 * Permissions: read, write (the proxy's folder), run (Envoy), net (its admin page).
 *
 * @module
 */
import { hostAndPort } from "../../kernel/text/host.ts";
import { PEER_METADATA } from "../../config/mesh/peer_metadata.ts";
import type { Log } from "../../kernel/log/log.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import type { BootstrapInput } from "../bootstrap/bootstrap.ts";
import { familiesOf } from "../bootstrap/families.ts";
import type { AgentInput } from "../start/agent_input.ts";
import { RESOURCE_ATTRIBUTES, resourceAttributes } from "../node/resource_attributes.ts";
import { listenersCheck } from "../status/listeners.ts";
import type { ReadinessCheck } from "../status/readiness.ts";
import { envoyAdmin } from "./admin.ts";
import { envoyArguments } from "./arguments.ts";
import { templateOf, textOfFile, writeBootstrap } from "./bootstrap_file.ts";
import { EnvoyProcess, startProcess } from "./envoy_process.ts";

/** The workload's sockets of other programs. */
export interface OtherServers {
  /** The socket of the workload's identity. */
  readonly identity: boolean;
  /** Another program serves credentials that configuration names. */
  readonly credentials: boolean;
}

/**
 * Writes the bootstrap and starts Envoy.
 *
 * @param others Sockets that other programs than the agent serve.
 * @throws Error when a file cannot be read or written, or Envoy cannot be started
 */
export async function startEnvoyProcess(
  input: AgentInput,
  others: OtherServers,
  { clock, log, checks }: { readonly clock: Clock; readonly log: Log; readonly checks: readonly ReadinessCheck[] },
): Promise<EnvoyProcess> {
  const { proxy, settings, workload, envoyLog } = input;
  const { localhost } = familiesOf(workload.addresses, settings.MESH_DUAL_STACK);
  const template = templateOf({ variable: settings.MESH_BOOTSTRAP, proxy, flag: input.templateFile });
  const own = bootstrapInput(input, others);
  const configFile = await writeBootstrap(own, template, proxy.configPath, log.scope("default"));
  const override = settings.MESH_BOOTSTRAP_OVERRIDE === ""
    ? {}
    : { override: await textOfFile("variable MESH_BOOTSTRAP_OVERRIDE", settings.MESH_BOOTSTRAP_OVERRIDE) };
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
    variables: {
      [RESOURCE_ATTRIBUTES]: resourceAttributes(input.variables[RESOURCE_ATTRIBUTES], workload.node.cluster),
      [PEER_METADATA]: workload.peerStatement,
    },
    ...(input.proxyUser === undefined ? {} : { user: input.proxyUser }),
  });
  const ownPorts = [settings.PROXY_STATUS_PORT, settings.PROXY_METRICS_PORT];
  const admin = envoyAdmin({
    address: hostAndPort(localhost, proxy.proxyAdminPort),
    ownPorts,
  });
  const isRedirected = workload.role === "sidecar" && workload.node.metadata.INTERCEPTION_MODE !== "NONE";
  const listeners = listenersCheck({ admin, isRedirected, addresses: workload.addresses, ownPorts, clock });
  return new EnvoyProcess(child, admin, clock, log.scope("default"), [...checks, listeners]);
}

/** An unused series exists for one interval at least, and for two at most. */
function evictionInterval(settings: AgentInput["settings"]): number {
  const rotation = settings.METRIC_ROTATION_INTERVAL;
  return rotation === 0 ? 0 : rotation + settings.METRIC_GRACEFUL_DELETION_INTERVAL;
}

function bootstrapInput(input: AgentInput, others: OtherServers): BootstrapInput {
  const { proxy, settings, workload, paths, envoyLog } = input;
  return {
    node: workload.node,
    proxy,
    annotations: input.annotations,
    addresses: workload.addresses,
    dualStack: settings.MESH_DUAL_STACK,
    delta: settings.MESH_DELTA_XDS,
    readinessPort: settings.PROXY_STATUS_PORT,
    metricsPort: settings.PROXY_METRICS_PORT,
    metricsLocalOnly: settings.METRICS_LOCALHOST_ACCESS_ONLY,
    evictionInterval: evictionInterval(settings),
    fips: settings.COMPLIANCE_POLICY === "fips-140-2",
    countsConnections: settings.EXIT_ON_ZERO_ACTIVE_CONNECTIONS,
    outlierLogPath: input.outlierLogPath,
    logAsJson: envoyLog.asJson,
    sockets: {
      xds: input.xdsSocket,
      sds: others.identity ? `${paths.identitySockets}/${settings.WORKLOAD_IDENTITY_SOCKET_FILE}` : paths.sdsSocket,
      data: paths.data,
      ...(others.identity ? { files: paths.filesSocket } : {}),
      ...(others.credentials ? { credentials: paths.credentialSocket } : {}),
    },
  };
}
