/**
 * Flag values of `discovery` to the typed options of the server: checked, all problems at once.
 *
 * @module
 */
import { type Address, introspectionAddress } from "../../lib/cli/address.ts";
import { SHARED_DOMAIN } from "../../lib/registry/shared_domain.ts";
import { UsageError } from "../../lib/cli/command.ts";
import { type FallbacksOf, type FlagOptions, readOptions } from "../../lib/cli/option.ts";
import type { Settings } from "../../lib/kernel/settings/catalogue.ts";
import { readableDuration } from "../../lib/kernel/time/duration.ts";
import { policyOfSuites } from "../../lib/sockets/listen/tls_policy.ts";
import { type DiscoveryFlagValues, discoveryRows } from "./discovery_flags.ts";

/** Everything the command line says about a discovery server. Durations are milliseconds. */
export interface DiscoveryOptions extends FlagOptions<typeof discoveryRows> {
  readonly introspection: Address;
  /**
   * Whether `httpsAddr` was given. The orchestrator asks webhooks. Without an orchestrator webhooks are served only on
   * request.
   */
  readonly httpsAddrGiven: boolean;
  /** The named files. A named file must exist. */
  readonly mustExist: readonly ("meshConfig" | "networksConfig")[];
  readonly tls: DiscoveryTls;
}

/** Flags of the files of TLS. */
type TlsFileFlag = "caCertFile" | "tlsCertFile" | "tlsKeyFile";

/** TLS material named on the command line. */
export interface DiscoveryTls {
  /** Absent: no certificate is named. */
  readonly files?: Readonly<Record<TlsFileFlag, string>>;
  /** Cipher suites by their names in TLS's registry. Empty: the runtime's suites. */
  readonly cipherSuites: readonly string[];
}

/** Settings for flags that are not given, and settings that must agree with a flag. */
export type DiscoveryFallbacks =
  & FallbacksOf<typeof discoveryRows>
  & Pick<Settings, "ENABLE_MCS_SERVICE_DISCOVERY" | "ENABLE_MCS_HOST">;

/**
 * Checks flag values and makes options of the values.
 * @param given Flags of the command line. Some other flags have a variable as their default.
 * @throws {UsageError} With every flag at fault, its value and the expectation, a line each.
 */
export function discoveryOptions(
  flags: DiscoveryFlagValues,
  given: ReadonlySet<string>,
  settings: DiscoveryFallbacks,
): DiscoveryOptions {
  const { options: read, problems } = readOptions(discoveryRows, flags, given, settings);
  const options: DiscoveryOptions = {
    ...read,
    introspection: introspectionAddress(flags),
    httpsAddrGiven: given.has("httpsAddr"),
    clusterRegistriesNamespace: given.has("clusterRegistriesNamespace")
      ? read.clusterRegistriesNamespace
      : read.namespace,
    mustExist: (["meshConfig", "networksConfig"] as const).filter((name) => given.has(name)),
    tls: readTls(flags, problems),
  };
  problems.push(
    ...durationProblems(flags),
    ...aliasProblems(flags.clusterAliases),
    ...otherProblems(given, options),
    ...sharedNameProblems(options, settings),
  );
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return options;
}

function readTls(flags: DiscoveryFlagValues, problems: string[]): DiscoveryTls {
  const { caCertFile, tlsCertFile, tlsKeyFile, "tls-cipher-suites": cipherSuites } = flags;
  const files = { caCertFile, tlsCertFile, tlsKeyFile };
  const named = Object.values(files).filter((file) => file !== "").length;
  if (named === 1 || named === 2) {
    problems.push(`flags --caCertFile, --tlsCertFile and --tlsKeyFile: got ${named}, expected all three or none`);
  }
  try {
    policyOfSuites(cipherSuites);
  } catch (error) {
    problems.push(`flag --tls-cipher-suites: ${(error as Error).message}`);
  }
  return { cipherSuites, ...(named === 3 ? { files } : {}) };
}

function durationProblems(flags: DiscoveryFlagValues): string[] {
  const say = (name: string, ms: number, expected: string) =>
    `flag --${name}: got ${readableDuration(ms)}, expected ${expected}`;
  return [
    // Each ping costs every proxy a packet. Go's servers accept no shorter interval either.
    ...flags.keepaliveInterval < 1000 ? [say("keepaliveInterval", flags.keepaliveInterval, "1s or more")] : [],
    ...flags.keepaliveTimeout <= 0 ? [say("keepaliveTimeout", flags.keepaliveTimeout, "more than 0s")] : [],
  ];
}

/** With two aliases for a cluster, the reverse look-up would be ambiguous. */
function aliasProblems(aliases: Readonly<Record<string, string>>): string[] {
  const byCluster = Map.groupBy(Object.entries(aliases), ([, cluster]) => cluster);
  return [...byCluster].flatMap(([cluster, rows]) => {
    const names = rows.map(([alias]) => alias).join(", ");
    if (cluster === "") return [`flag --clusterAliases: alias ${names} names no cluster, expected alias=cluster`];
    return rows.length > 1 ? [`flag --clusterAliases: cluster ${cluster} has aliases ${names}, expected one`] : [];
  });
}

function otherProblems(given: ReadonlySet<string>, options: DiscoveryOptions): string[] {
  const problems = nameProblems(given, options);
  // Service entries of a folder are services too: a server with a folder needs no registry.
  if (options.registries.length === 0 && options.configDir === undefined) {
    problems.push("flag --registries: got none, expected one or more of Orch, File, Mock (or --configDir)");
  }
  if (options.registries.includes("File")) {
    if (options.configDir === undefined) {
      problems.push("flag --registries: got File, expected --configDir beside it: the manifests lie there");
    }
    if (options.registries.includes("Orch")) {
      problems.push("flag --registries: got Orch and File, expected one of them: they are one cluster's services");
    }
  }
  return problems;
}

/**
 * A service of the cluster and a shared service of the same name would be the same host, with the endpoints of both.
 */
function sharedNameProblems({ domain }: DiscoveryOptions, settings: DiscoveryFallbacks): string[] {
  if (!settings.ENABLE_MCS_SERVICE_DISCOVERY || !settings.ENABLE_MCS_HOST || domain !== SHARED_DOMAIN) return [];
  const expected =
    "the domain of one cluster, such as cluster.local: with ENABLE_MCS_HOST this one is for services that " +
    "clusters share (name another domain, or leave ENABLE_MCS_HOST off)";
  return [`flag --domain: got "${domain}", expected ${expected}`];
}

/** One label of a DNS name, the form of a namespace's name. Names of several labels are split first. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const MAX_LABEL = 63;
const isLabel = (text: string) => text.length <= MAX_LABEL && LABEL.test(text);

/** Names that become part of host names and identities. If a flag is not given, the message names the variable. */
function nameProblems(given: ReadonlySet<string>, options: DiscoveryOptions): string[] {
  const named = new Set<string>();
  const say = (flag: string, variable: string, value: string, expected: string) => {
    named.add(`${given.has(flag) ? `flag --${flag}` : variable}: got ${JSON.stringify(value)}, expected ${expected}`);
  };
  for (const flag of ["namespace", "cniNamespace", "clusterRegistriesNamespace"] as const) {
    const value = options[flag];
    if (!isLabel(value)) say(flag, "POD_NAMESPACE", value, "the name of a namespace (a-z, 0-9, -)");
  }
  if (!options.domain.split(".").every(isLabel)) {
    say("domain", "domain", options.domain, "a DNS name such as cluster.local");
  }
  if (options.clusterId === "") say("clusterID", "CLUSTER_ID", "", "the name of a cluster");
  return [...named];
}
