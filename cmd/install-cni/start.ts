/**
 * From a parsed command line to an installer at work: settings, options, logs, signals.
 *
 * Permissions: env (the program's variables), write (log files, when named), and the permissions of
 * `lib/cni/node_agent.ts`.
 *
 * @module
 */
import { readRegularTextSync } from "../../lib/kernel/files/regular.ts";
import { showAddress } from "../../lib/cli/address.ts";
import { UsageError } from "../../lib/cli/command.ts";
import { logOptions } from "../../lib/cli/log_flags.ts";
import { Refusals } from "../../lib/cli/refusals.ts";
import { programVariables, readProgramSettings, stopOnSignals } from "../../lib/cli/startup.ts";
import { AGENT_PODS } from "../../lib/cni/config/plugin_config.ts";
import type { Executable } from "../../lib/cni/install/executable.ts";
import { launcherScript } from "../../lib/cni/install/launcher.ts";
import { currentDesiredState, type DesiredStateOptions, TemplateError } from "../../lib/cni/install/desired_state.ts";
import { type NodeAgent, type NodeAgentOptions, startNodeAgent } from "../../lib/cni/node_agent.ts";
import { type NodeAgentOption, NodeAgentStartError } from "../../lib/cni/serve/start_error.ts";
import { buildInfo } from "../../lib/kernel/program/build_info.ts";
import { type Kernel, startKernel, untilStopped } from "../../lib/kernel/kernel.ts";
import { flagsNotBuilt, settingsWithoutEffect } from "../../lib/kernel/not_built/catalogue.ts";
import { type SettingsOf, settingsUsedBy } from "../../lib/kernel/settings/catalogue.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { currentBundle } from "../program_bundle.ts";
import { PLUGIN_BUNDLE, PLUGIN_FILE } from "./bundle.ts";
import type { InstallFlagValues } from "./flags.ts";
import { commaList } from "../../lib/kernel/text/comma_list.ts";
import { ambientOptions, selectorsOf } from "./ambient.ts";
import { type InstallOptions, installOptions } from "./options.ts";

/** Time for an ordered stop, ms. */
const STOP_TIME = 10_000;

/** Time after which the process ends even if a part hangs, ms. */
const LAST_TIME = 500;

/** Runs the installer until a stop; resolves with the exit code. */
export async function startInstaller(flags: InstallFlagValues, given: ReadonlySet<string>): Promise<number> {
  const start = readInstallStart(flags, given);
  if ("refusals" in start) throw start.refusals.error();
  const { settings, options, desired, ambient } = start;
  const kernel = startKernel("install-cni", start.log, { stopDeadline: STOP_TIME });
  const log = kernel.log.scope("cni-agent");
  const idle = flagsNotBuilt("install-cni", given);
  if (idle.length > 0) log.warn("flags without effect in this version", { flags: idle });
  const environment = programVariables(settingsUsedBy("install-cni").map(([name]) => name));
  const variables = settingsWithoutEffect(Object.keys(environment));
  if (variables.length > 0) log.warn("variables without effect in this version", { variables });
  if (settings.POD_NAME === "") {
    log.warn(
      `POD_NAME is not set: only pods named ${AGENT_PODS}... count as node agents, which never wait for one; and an end counts as a restart`,
    );
  }
  if (settings.AMBIENT_DISABLE_SAFE_UPGRADE) {
    log.warn(
      "AMBIENT_DISABLE_SAFE_UPGRADE=true: each end takes the plugin away, and pods that start before the next start are outside of the mesh",
    );
  }
  const release = stopOnSignals(kernel.drain, STOP_TIME + LAST_TIME);
  try {
    const { ports } = await startOrSayWhy({
      folders: { net: options.mountedNetDir, bin: settings.MESH_CNI_BIN_DIR, run: options.agentRunDir },
      desired,
      healthPort: settings.MESH_CNI_HEALTH_PORT,
      monitoringPort: options.monitoringPort,
      metricsLocalOnly: settings.METRICS_LOCALHOST_ACCESS_ONLY,
      names: commaList(settings.MESH_DEBUG_HOSTS),
      introspection: {
        address: showAddress(options.introspection),
        required: given.has("ctrlz_port") || given.has("ctrlz_address"),
        later: async () => {
          const { introspectionRoutes } = await import("../../lib/debug/introspection.ts");
          return introspectionRoutes({
            ...{ program: kernel.program, log: kernel.log, args: Deno.args, environment },
            names: [Deno.hostname(), ...commaList(settings.MESH_DEBUG_HOSTS)],
            exit: () => kernel.drain.start("introspection"),
          });
        },
      },
      repair: options.repair.enabled ? options.repair : undefined,
      cluster: settings.CLUSTER_ID,
      ...ambient === undefined ? {} : { ambient },
    }, kernel);
    const { executable } = desired;
    if ("script" in executable && !executable.script.includes("plugin_entry")) {
      log.warn(
        "the plugin runs from its sources, which costs each pod 30 ms: cmd/install-cni/bundle.ts makes one file of it",
      );
    }
    const { health, monitoring, introspection } = ports;
    log.info("serving", { health, monitoring, introspection, node: settings.NODE_NAME });
    return await untilStopped(kernel);
  } finally {
    release();
    kernel.log.close();
  }
}

/** Variables and flags, read and checked together, or all mistakes, a line each. */
export function readInstallStart(flags: InstallFlagValues, given: ReadonlySet<string>) {
  const refusals = new Refusals();
  const settings = refusals.attempt(() => readProgramSettings("install-cni"));
  const options = refusals.attempt(() => installOptions(flags, given, settings ?? defaultSettings("install-cni")));
  const desired = settings && options && refusals.attempt(() => desiredStateOptions(options, settings));
  if (desired) refusals.attempt(() => refuseBadTemplate(desired));
  const ambient = settings && options && refusals.attempt(() => ambientOptions(options, settings));
  const log = refusals.attempt(() => logOptions("install-cni", flags));
  const isRefused = refusals.problems.length > 0;
  return settings && options && desired && log && !isRefused
    ? { settings, options, desired, log, ambient }
    : { refusals };
}

/** The flag or variable of each option. */
const NAMES: Readonly<Record<NodeAgentOption, string>> = {
  runDir: "flag --cni-agent-run-dir",
  healthPort: "variable MESH_CNI_HEALTH_PORT",
  monitoringPort: "flag --monitoring-port",
  introspection: "flag --ctrlz_port",
};

/** Starts the service. Faults that the user can correct are reported by name, without a stack. */
async function startOrSayWhy(options: NodeAgentOptions, kernel: Kernel): Promise<NodeAgent> {
  try {
    return await startNodeAgent(options, kernel);
  } catch (error) {
    if (!(error instanceof NodeAgentStartError)) throw error;
    await kernel.stopper.stop();
    throw new UsageError(error.faults.map(({ option, text }) => `${NAMES[option]}: ${text}`).join("\n"));
  }
}

/**
 * The installer's options for the node.
 * @throws {UsageError} When the options ask for something impossible here.
 */
export function desiredStateOptions(options: InstallOptions, settings: SettingsOf<"install-cni">): DesiredStateOptions {
  const problems: string[] = [];
  if (settings.ORCH_SERVICE_HOST === "") {
    problems.push(
      "variable ORCH_SERVICE_HOST (or KUBERNETES_SERVICE_HOST): got none, expected the orchestrator's address; it is set in a pod",
    );
  }
  const selectors = selectorsOf(settings, problems);
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return {
    chained: options.chainedPlugin,
    owned: settings.MESH_OWNED_CNI_CONFIG,
    ownedName: settings.MESH_OWNED_CNI_CONFIG_FILENAME,
    confName: options.confName,
    template: options.networkConfig,
    templateFile: options.networkConfigFile,
    logLevel: options.pluginLogLevel,
    runDir: options.agentRunDir,
    ambientEnabled: options.ambientEnabled,
    ambientSelectors: settings.AMBIENT_ENABLEMENT_SELECTOR === "" ? undefined : selectors,
    scopedLock: settings.AMBIENT_USE_SCOPED_XTABLES_LOCKING,
    excludeNamespaces: commaList(settings.EXCLUDE_NAMESPACES),
    skipExecutables: commaList(settings.SKIP_CNI_BINARIES),
    podName: settings.POD_NAME,
    leavesForGood: settings.AMBIENT_DISABLE_SAFE_UPGRADE,
    podNamespace: settings.POD_NAMESPACE || ownNamespace(settings) || settings.SYSTEM_NAMESPACE,
    protocol: settings.ORCH_SERVICE_PROTOCOL,
    host: settings.ORCH_SERVICE_HOST,
    port: settings.ORCH_SERVICE_PORT,
    caFile: options.orchCaFile,
    skipTlsVerify: options.skipTlsVerify,
    credentials: settings.MESH_CNI_SERVICE_ACCOUNT_DIR,
    orchConfigMode: options.orchconfigMode,
    executable: ownExecutable(),
    version: buildInfo().version,
  };
}

/**
 * The program to install: the executable when compiled; of an image's bundle the runtime and the plugin, because nothing
 * of the image is on the node; otherwise a script that runs the tree's program, or its plugin, by the runtime.
 */
function ownExecutable(): Executable {
  const path = Deno.execPath();
  if (Deno.build.standalone) return { copyOf: path };
  if (import.meta.url.endsWith(".js")) {
    return { runtime: path, plugin: new URL(PLUGIN_FILE, import.meta.url).pathname };
  }
  const root = new URL("../../", import.meta.url).pathname;
  return { script: launcherScript(path, root, currentBundle(root, PLUGIN_BUNDLE)) };
}

/** The pod's own namespace, from the file beside the token. Empty outside of a pod. */
function ownNamespace(settings: SettingsOf<"install-cni">): string {
  try {
    return readRegularTextSync(`${settings.MESH_CNI_SERVICE_ACCOUNT_DIR}/namespace`).trim();
  } catch {
    // Outside of a pod. Where the token cannot be read either, the installer says so.
    return "";
  }
}

function refuseBadTemplate(desired: DesiredStateOptions): void {
  try {
    currentDesiredState(desired);
  } catch (error) {
    if (error instanceof TemplateError) throw new UsageError(error.message);
    // Credentials may come later. The installer waits for them, and says so.
  }
}
