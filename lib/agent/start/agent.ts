/**
 * An agent at work: sockets for the proxy first, then the proxy; the workload's certificate beside.
 *
 *     certificate ──> SDS socket ──┐
 *                                  ├──> Envoy ── ends ──> the agent ends with its exit code
 *     server ──> relay ─> XDS socket
 *     status port: is the proxy ready?
 *
 * Permissions: the permission set `pilot-agent` of deno.json.
 *
 * @module
 */
import type { WatchedFile } from "../../kernel/files/watch_file.ts";
import { GrpcServer } from "../../grpc/server.ts";
import type { Log, Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { listenUnix, type UnixListener } from "../../sockets/listen/unix.ts";
import { startEnvoyProcess } from "../envoy/start_envoy.ts";
import { type EnvoyProcess, exitCodeOf } from "../envoy/envoy_process.ts";
import type { OwnResponse } from "../relay/messages.ts";
import { Relay } from "../relay/relay.ts";
import { upstreamOpener } from "../relay/upstream.ts";
import { followRevocationFiles } from "../secrets/revocation_files.ts";
import { sdsService } from "../secrets/sds_service.ts";
import type { WorkloadCertificate } from "../secrets/workload_certificate.ts";
import type { AgentInput } from "./agent_input.ts";
import { discoveryServer, workloadCertificate } from "./control_plane.ts";
import { failureReports } from "./failure_reports.ts";
import { grpcBootstrapFaults, missingForGrpc, writeGrpcBootstrap } from "./grpc_clients.ts";
import { sentSettings } from "./sent_settings.ts";
import { planSecrets, takesConnections } from "./secret_plan.ts";
import { secretSource } from "./secret_sources.ts";
import { type MeshNameServer, NAME_TABLE_TYPE, startNameServer, wantsNameServer } from "./name_server.ts";
import { openTapPort } from "./tap_port.ts";
import { machineToken, startTokenService, tokenFaults } from "./tokens.ts";
import type { GoogleIdentity } from "../tokens/google_identity.ts";
import type { ReadinessCheck } from "../status/readiness.ts";
import type { StatusActions } from "../status/routes.ts";
import { EXTENSION_CONFIG_TYPE } from "../wasm/extension_type.ts";
import type { WasmModules } from "./load_wasm.ts";
import { wasmModules } from "./wasm_modules.ts";
import { startWorkloadHealth } from "./workload_probe.ts";
import { openStatusPort, planStatus } from "./status_port.ts";

/** Parts that an agent shares with its program. */
export interface AgentParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface RunningAgent {
  readonly relay: Relay;
  /** Absent where certificates come from files or from another program. */
  readonly certificate: WorkloadCertificate | undefined;
  /** Absent where the agent has no proxy. */
  readonly envoy: EnvoyProcess | undefined;
  /** Resolves with the agent's exit code when its proxy, or the agent itself, has ended. */
  readonly ended: Promise<number>;
  /** Drains the proxy and ends; resolves when all is over. */
  drain(): Promise<void>;
  /** Ends now; resolves when all is over. */
  stop(): Promise<void>;
}

/**
 * Starts an agent.
 *
 * @throws {AgentStartError} with everything that keeps it from starting; Error when the proxy cannot be started or a socket
 * cannot be had.
 */
export async function startAgent(input: AgentInput, parts: AgentParts): Promise<RunningAgent> {
  const { settings, paths, workload } = input;
  const { clock, log, metrics } = parts;
  const statusPlan = await planStatus(input);
  const faults = [
    ...statusPlan.faults,
    ...tokenFaults(settings, input.tokenService),
    ...await grpcBootstrapFaults(input),
  ];
  const plan = await planSecrets(settings, paths, faults);
  const machine = await machineToken(input, parts);
  const certificate = plan.from === "authority" ? workloadCertificate(input, parts, machine) : undefined;
  let names: MeshNameServer | undefined;
  const open = upstreamOpener({
    server: discoveryServer(input, machine),
    keepaliveInterval: settings.GRPC_KEEPALIVE_INTERVAL,
    keepaliveTimeout: settings.GRPC_KEEPALIVE_TIMEOUT,
  });
  const wasm = wasmModules(input, parts);
  const relay = new Relay({
    ...(wasm === undefined ? {} : { rewriters: new Map([[EXTENSION_CONFIG_TYPE, wasm.open]]) }),
    open,
    own: new Map([
      ...(wantsNameServer(input) ? [[NAME_TABLE_TYPE, (sent: OwnResponse) => names?.take(sent)] as const] : []),
      ...sentSettings(input, certificate),
    ]),
    ...{ clock, metrics, node: workload.node.id, log: log.scope("xdsproxy") },
  });
  const isElsewhere = plan.from === "another program";
  const secrets = {
    path: isElsewhere ? paths.filesSocket : paths.sdsSocket,
    service: sdsService(secretSource(plan, certificate, input, parts), { log: log.scope("sds"), metrics }),
  };
  const xds = { path: input.xdsSocket, service: relay.service };
  // An application without a proxy asks the relay, too; its certificates are in files.
  const sockets = await openSockets(settings.DISABLE_PROXY ? [xds] : [secrets, xds], input, parts);
  const revocations = certificate && await followRevocationFiles({
    ...{ paths: paths.revocationLists, clock, log: log.scope("cache") },
    onLists: (lists) => certificate.revoke(lists),
  });
  machine?.start();
  certificate?.start();
  let agent: RunningAgent | undefined;
  const pages: ClosablePages[] = [];
  const runtime: AgentRuntime = { relay, wasm, certificate, revocations, machine, sockets, pages };
  try {
    await writeGrpcBootstrap(input, plan, log.scope("default"));
    names = await startNameServer(input, parts);
    if (names !== undefined) pages.push(names);
    const actions = statusActions(() => agent, input, names, () => missingForGrpc(input, plan));
    pages.push(await openStatusPort(statusPlan, actions, input, parts));
    const tap = await openTapPort(input, open, parts);
    if (tap !== undefined) pages.push(tap);
    if (input.tokenService.port > 0) pages.push(await startTokenService(input, parts));
    const others = { identity: isElsewhere, credentials: await takesConnections(paths.credentialSocket) };
    const envoy = settings.DISABLE_PROXY ? undefined : await startEnvoyProcess(input, others, {
      ...{ clock, log },
      checks: names === undefined ? [] : [names.notReady],
    });
    const health = envoy && await startWorkloadHealth(input, envoy, relay, { clock, log });
    envoy?.ended.then(() => health?.stop());
    return agent = running(envoy, runtime, input, log.scope("default"));
  } catch (error) {
    await closeAll(runtime);
    throw error;
  }
}

/** The parts of an agent beside its proxy. */
interface AgentRuntime {
  readonly relay: Relay;
  /** Absent where modules are left to the proxy. */
  readonly wasm: WasmModules | undefined;
  readonly certificate: WorkloadCertificate | undefined;
  /** The files of revocation lists; absent as the certificate. */
  readonly revocations: WatchedFile | undefined;
  /** Absent where the machine has no token of its own. */
  readonly machine: GoogleIdentity | undefined;
  readonly sockets: readonly OpenSocket[];
  /** Servers of pages, and of names. */
  readonly pages: readonly ClosablePages[];
}

interface ClosablePages {
  close(): Promise<void>;
}

/**
 * @param agent undefined until it has started
 * @param withoutProxy decides where there is no proxy
 */
function statusActions(
  agent: () => RunningAgent | undefined,
  { drainRules }: AgentInput,
  names: MeshNameServer | undefined,
  withoutProxy: ReadinessCheck,
): StatusActions {
  const notStarted = "the proxy has not been started yet";
  return {
    nameTable: () => names?.table,
    notReady: async () => {
      const started = agent();
      if (started === undefined) return notStarted;
      return await (started.envoy === undefined ? withoutProxy() : started.envoy.readiness.reason());
    },
    quit: () => void agent()?.stop(),
    drain: async () => {
      const started = agent();
      if (started === undefined) throw new Error(notStarted);
      await started.envoy?.drainAndStay(drainRules);
    },
  };
}

interface OpenSocket {
  readonly server: GrpcServer;
  readonly listener: UnixListener;
}

/** One server for each socket. They are open to the user of the proxy, and to nobody else. */
async function openSockets(
  wanted: readonly { readonly path: string; readonly service: Relay["service"] }[],
  { settings, proxyUser }: AgentInput,
  parts: AgentParts,
): Promise<OpenSocket[]> {
  const open: OpenSocket[] = [];
  for (const { path, service } of wanted) {
    const server = new GrpcServer([service], {
      maxMessageSize: settings.MESH_GPRC_MAXRECVMSGSIZE,
      ...failureReports(parts),
    });
    try {
      const folder = path.slice(0, path.lastIndexOf("/"));
      await Deno.mkdir(folder, { recursive: true, mode: 0o755 });
      const listener = await listenUnix(path, (transport) => server.accept(transport), { mode: 0o660 });
      open.push({ server, listener });
      if (proxyUser !== undefined) await Deno.chown(path, proxyUser.uid, proxyUser.gid);
    } catch (error) {
      await server.stop(0);
      await closeSockets(open);
      throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
    }
  }
  return open;
}

async function closeSockets(sockets: readonly OpenSocket[]): Promise<void> {
  for (const { server, listener } of sockets) {
    await listener.close();
    await server.stop(0);
  }
}

async function closeAll(runtime: AgentRuntime): Promise<void> {
  const { relay, wasm, certificate, revocations, machine, sockets, pages } = runtime;
  relay.stop();
  wasm?.stop();
  certificate?.stop();
  machine?.stop();
  await revocations?.stop();
  await closeSockets(sockets);
  await Promise.all(pages.map((server) => server.close()));
}

function running(
  envoy: EnvoyProcess | undefined,
  runtime: AgentRuntime,
  { drainRules }: AgentInput,
  log: Logger,
): RunningAgent {
  let isAsked = false;
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  let over: Promise<void> | undefined;
  const close = (code: number) => over ??= closeAll(runtime).then(() => resolve(code));
  // An end that was asked for counts as success, even where a signal brought it.
  envoy?.ended.then(({ code, signal }) => {
    if (isAsked) return close(0);
    log.error("Envoy ended by itself, and the agent with it", signal === null ? { code } : { signal });
    return close(exitCodeOf({ code, signal }));
  });
  return {
    relay: runtime.relay,
    certificate: runtime.certificate,
    envoy,
    ended,
    async drain() {
      isAsked = true;
      await envoy?.drain(drainRules);
      await close(0);
    },
    async stop() {
      isAsked = true;
      await envoy?.end();
      await close(0);
    },
  };
}
