/**
 * Flag values of `proxy`, checked.
 *
 * @module
 */
import { UsageError } from "../../lib/cli/command.ts";
import type { Settings } from "../../lib/kernel/settings/catalogue.ts";
import { readProxyLevels } from "../../lib/kernel/log/proxy_levels.ts";
import type { ProxyFlagValues } from "./proxy_flags.ts";

/** Level of the proxy's log, and of components of it. */
export interface ProxyLogLevels {
  readonly level: string;
  readonly components: Readonly<Record<string, string>>;
}

/** Everything the command line says about an agent. */
export interface ProxyOptions {
  readonly concurrency: number;
  readonly domain: string;
  readonly meshConfig: string;
  readonly outlierLogPath: string | undefined;
  readonly profiling: boolean;
  readonly log: ProxyLogLevels;
  readonly serviceCluster: string;
  /** 0: no token service. */
  readonly stsPort: number;
  readonly templateFile: string | undefined;
  readonly tokenManagerPlugin: string | undefined;
}

/**
 * Checks flag values and makes options of them.
 *
 * @throws {UsageError} naming every flag at fault, its value and the expectation, one per line.
 */
export function proxyOptions(flags: ProxyFlagValues, settings: Pick<Settings, "POD_NAMESPACE">): ProxyOptions {
  const problems: string[] = [];
  const log = readLevels(flags, problems);
  if (flags.concurrency < 0) problems.push(`flag --concurrency: got ${flags.concurrency}, expected 0 or more`);
  if (flags.stsPort < 0 || flags.stsPort > 65535) {
    problems.push(`flag --stsPort: got ${flags.stsPort}, expected a port from 0 to 65535`);
  }
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return {
    concurrency: flags.concurrency,
    domain: flags.domain || `${settings.POD_NAMESPACE}.svc.cluster.local`,
    meshConfig: flags.meshConfig,
    outlierLogPath: flags.outlierLogPath || undefined,
    profiling: flags.profiling,
    log,
    serviceCluster: flags.serviceCluster,
    stsPort: flags.stsPort,
    templateFile: flags.templateFile || undefined,
    tokenManagerPlugin: flags.tokenManagerPlugin || undefined,
  };
}

function readLevels(flags: ProxyFlagValues, problems: string[]): ProxyLogLevels {
  const ofComponents = readProxyLevels(flags.proxyComponentLogLevel, true);
  const ofProxy = readProxyLevels(flags.proxyLogLevel);
  problems.push(...ofComponents.problems.map((one) => `flag --proxyComponentLogLevel: ${one}`));
  problems.push(...ofProxy.problems.map((one) => `flag --proxyLogLevel: ${one}`));
  return { level: ofProxy.level ?? "warning", components: { ...ofComponents.components, ...ofProxy.components } };
}
