/**
 * From flags, variables and files to an agent's input.
 *
 * Permissions: read (the mesh file, the pod's files, the machine's firmware), net (a cloud's metadata server), env (all: variables become metadata), sys (hostname,
 * networkInterfaces, uid).
 *
 * @module
 */
import { readRegularText } from "../../lib/kernel/files/regular.ts";
import { UsageError } from "../../lib/cli/command.ts";
import { concurrencyOf } from "../../lib/agent/envoy/arguments.ts";
import { findCloud, readFirmware } from "../../lib/agent/cloud/cloud.ts";
import { parseDownwardFile } from "../../lib/agent/node/downward_file.ts";
import { workloadOf } from "../../lib/agent/node/workload.ts";
import { type AgentInput, drainRulesOf, XDS_SOCKET } from "../../lib/agent/start/agent_input.ts";
import { AGENT_PATHS, type AgentPaths } from "../../lib/agent/start/agent_paths.ts";
import { readProxyConfig } from "../../lib/config/agent_texts/proxy_config.ts";
import { buildInfo } from "../../lib/kernel/program/build_info.ts";
import { inOurSpelling } from "../../lib/kernel/settings/border.ts";
import { readSettings, SettingsError } from "../../lib/kernel/settings/read.ts";
import type { ProxyStart } from "./read_proxy.ts";

/** User and group of the proxy if the agent is root and answers DNS. The traffic of this user is not redirected. */
const PROXY_USER = { uid: 1337, gid: 1337 };

/** An agent's input, and warnings about it. */
export interface ReadAgent {
  readonly input: AgentInput;
  readonly warnings: readonly string[];
}

/**
 * Reads all input once.
 * @throws {UsageError} With all mistakes, a line each.
 */
export async function readAgent(start: ProxyStart, paths: AgentPaths = AGENT_PATHS): Promise<ReadAgent> {
  const { options, role, log } = start;
  const given = inOurSpelling(Deno.env.toObject()).env;
  const labels = await podFile(paths, "labels");
  const annotations = await podFile(paths, "annotations");
  const { proxy, errors, warnings } = readProxyConfig({
    mesh: await optionalText(options.meshConfig) ?? "",
    meshFile: options.meshConfig,
    variable: start.settings.PROXY_CONFIG,
    annotations,
  });
  if (proxy === undefined) throw new UsageError(errors.join("\n"));
  // The settings of a proxy may hold variables. The process's own variables override them.
  const variables = { ...inOurSpelling(proxy.proxyMetadata).env, ...given };
  const settings = settingsOf(variables);
  const addresses = machineAddresses();
  const cloud = await findCloud({
    settings,
    firmware: await readFirmware(),
    ipv6: addresses.length > 0 && addresses.every((address) => address.includes(":")),
  });
  const workload = workloadOf({
    ...{ role, settings, variables, labels, annotations, proxy },
    machine: { hostname: Deno.hostname(), addresses },
    cloud,
    domain: options.domain,
    serviceCluster: options.serviceCluster,
    outlierLogPath: options.outlierLogPath,
    stsPort: options.stsPort,
    version: buildInfo().version,
  });
  const asProxy = Deno.uid() === 0 && settings.DNS_PROXY_ADDR.endsWith(":53");
  const input: AgentInput = {
    ...{ settings, variables, annotations, proxy, workload, paths },
    xdsSocket: `${proxy.configPath}/${XDS_SOCKET}`,
    concurrency: concurrencyOf({
      flag: options.concurrency,
      setting: proxy.concurrency,
      cpuLimit: settings.MESH_CPU_LIMIT,
    }),
    envoyLog: { level: options.log.level, components: options.log.components, asJson: log.json },
    outlierLogPath: options.outlierLogPath,
    templateFile: options.templateFile,
    profiling: options.profiling,
    cloud,
    tokenService: { port: options.stsPort, plugin: options.tokenManagerPlugin },
    drainRules: drainRulesOf(role, proxy, settings),
    ...(asProxy ? { proxyUser: PROXY_USER } : {}),
  };
  const ofNode = workload.problems.map(({ variable, expected }) => `variable ${variable}: expected ${expected}`);
  return { input, warnings: [...warnings, ...cloud.warnings, ...ofNode] };
}

function settingsOf(variables: Readonly<Record<string, string>>) {
  try {
    return readSettings("pilot-agent", variables);
  } catch (error) {
    if (error instanceof SettingsError) throw new UsageError(error.message);
    throw error;
  }
}

async function podFile({ pod }: AgentPaths, name: "labels" | "annotations"): Promise<Record<string, string>> {
  for (const folder of pod) {
    const text = await optionalText(`${folder}/${name}`);
    if (text !== undefined) return parseDownwardFile(text);
  }
  return {};
}

async function optionalText(path: string): Promise<string | undefined> {
  try {
    return await readRegularText(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** Addresses of the machine that other machines reach, IPv4 first. */
function machineAddresses(): string[] {
  const found = Deno.networkInterfaces().filter(({ address }) =>
    !/^(?:127\.|169\.254\.|::1$|fe80:)/i.test(address) && address !== "0.0.0.0"
  );
  const of = (family: "IPv4" | "IPv6") => found.filter((one) => one.family === family).map(({ address }) => address);
  return [...of("IPv4"), ...of("IPv6")];
}
