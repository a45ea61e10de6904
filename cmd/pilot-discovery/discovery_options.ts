/**
 * Flag values of `discovery` to the typed options of the server: checked, all problems at once.
 *
 * @module
 */
import { type Address, introspectionAddress, parseAddress } from "../../lib/cli/address.ts";
import { SHARED_DOMAIN } from "../../lib/registry/shared_domain.ts";
import { UsageError } from "../../lib/cli/command.ts";
import type { Settings } from "../../lib/kernel/settings/catalogue.ts";
import { readableDuration } from "../../lib/kernel/time/duration.ts";
import { policyOfSuites } from "../../lib/sockets/listen/tls_policy.ts";
import type { DiscoveryFlagValues } from "./discovery_flags.ts";

/** Everything the command line says about a discovery server. Durations are milliseconds. */
export interface DiscoveryOptions {
  readonly introspection: Address;
  /** Undefined: plain-text discovery is served on `httpAddr`. */
  readonly grpcAddr: Address | undefined;
  readonly httpAddr: Address;
  /** Undefined: webhooks are served on `httpAddr`. */
  readonly httpsAddr: Address | undefined;
  /** Whether `httpsAddr` was given: only the orchestrator asks webhooks, so without one they are served on request. */
  readonly httpsAddrGiven: boolean;
  /** Undefined: metrics are served on `httpAddr`. */
  readonly monitoringAddr: Address | undefined;
  /** Undefined: no discovery over TLS. */
  readonly secureGrpcAddr: Address | undefined;
  /** Alias to cluster. */
  readonly clusterAliases: Readonly<Record<string, string>>;
  readonly clusterId: string;
  readonly clusterRegistriesNamespace: string;
  readonly cniNamespace: string;
  readonly namespace: string;
  /** Undefined: objects come from the orchestrator. */
  readonly configDir: string | undefined;
  readonly domain: string;
  /** Undefined: the pod's own. */
  readonly orchconfig: string | undefined;
  readonly orchApiBurst: number;
  readonly orchApiQps: number;
  readonly meshConfig: string;
  readonly networksConfig: string;
  /** Those of the two files that were named, and so must exist. */
  readonly mustExist: readonly ("meshConfig" | "networksConfig")[];
  readonly registries: readonly ("Orch" | "File" | "Mock")[];
  readonly keepaliveInterval: number;
  readonly keepaliveTimeout: number;
  readonly keepaliveMaxServerConnectionAge: number;
  readonly shutdownDuration: number;
  readonly profile: boolean;
  readonly tls: DiscoveryTls;
}

/** Flags of files that belong together. */
type TlsFileFlag = "caCertFile" | "tlsCertFile" | "tlsKeyFile";

/** TLS material named on the command line. */
export interface DiscoveryTls {
  /** Absent: no certificate is named. */
  readonly files?: Readonly<Record<TlsFileFlag, string>>;
  /** Empty: those of the runtime. Names as in TLS's registry. */
  readonly cipherSuites: readonly string[];
}

/** Variables that stand in for flags that are not given, and those that a flag has to agree with. */
export type DiscoveryFallbacks = Pick<
  Settings,
  | "POD_NAMESPACE"
  | "CLUSTER_ID"
  | "GRPC_KEEPALIVE_INTERVAL"
  | "GRPC_KEEPALIVE_TIMEOUT"
  | "ENABLE_MCS_SERVICE_DISCOVERY"
  | "ENABLE_MCS_HOST"
>;

/**
 * Checks flag values and makes options of them.
 *
 * @param given Flags that the command line gave; for the others some have a variable as default.
 * @throws {UsageError} naming every flag at fault, its value and the expectation, one per line.
 */
export function discoveryOptions(
  flags: DiscoveryFlagValues,
  given: ReadonlySet<string>,
  settings: DiscoveryFallbacks,
): DiscoveryOptions {
  const problems: string[] = [];
  const namespace = given.has("namespace") ? flags.namespace : settings.POD_NAMESPACE;
  const options: DiscoveryOptions = {
    ...readAddresses(flags, problems),
    httpsAddrGiven: given.has("httpsAddr"),
    clusterAliases: flags.clusterAliases,
    clusterId: given.has("clusterID") ? flags.clusterID : settings.CLUSTER_ID,
    clusterRegistriesNamespace: given.has("clusterRegistriesNamespace") ? flags.clusterRegistriesNamespace : namespace,
    cniNamespace: given.has("cniNamespace") ? flags.cniNamespace : settings.POD_NAMESPACE,
    namespace,
    configDir: orNone(flags.configDir),
    domain: flags.domain,
    orchconfig: orNone(flags.orchconfig),
    orchApiBurst: flags.orchApiBurst,
    orchApiQps: flags.orchApiQPS,
    meshConfig: flags.meshConfig,
    networksConfig: flags.networksConfig,
    mustExist: (["meshConfig", "networksConfig"] as const).filter((name) => given.has(name)),
    registries: [...new Set(flags.registries)] as ("Orch" | "File" | "Mock")[],
    keepaliveInterval: given.has("keepaliveInterval") ? flags.keepaliveInterval : settings.GRPC_KEEPALIVE_INTERVAL,
    keepaliveTimeout: given.has("keepaliveTimeout") ? flags.keepaliveTimeout : settings.GRPC_KEEPALIVE_TIMEOUT,
    keepaliveMaxServerConnectionAge: flags.keepaliveMaxServerConnectionAge || Infinity,
    shutdownDuration: flags.shutdownDuration,
    profile: flags.profile,
    tls: readTls(flags, problems),
  };
  problems.push(
    ...durationProblems(flags),
    ...aliasProblems(flags.clusterAliases),
    ...otherProblems(flags, given, options),
    ...sharedNameProblems(options, settings),
  );
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return options;
}

function orNone(text: string): string | undefined {
  return text === "" ? undefined : text;
}

function readAddresses(flags: DiscoveryFlagValues, problems: string[]) {
  const read = (name: "grpcAddr" | "httpAddr" | "httpsAddr" | "monitoringAddr" | "secureGRPCAddr") => {
    const text = flags[name];
    if (text === "" && name !== "httpAddr") return undefined;
    const address = parseAddress(text);
    if (address === undefined) {
      problems.push(`flag --${name}: got ${JSON.stringify(text)}, expected host:port or :port, port from 0 to 65535`);
    }
    return address;
  };
  return {
    introspection: introspectionAddress(flags),
    grpcAddr: read("grpcAddr"),
    httpAddr: read("httpAddr") ?? { host: "", port: 0 },
    httpsAddr: read("httpsAddr"),
    monitoringAddr: read("monitoringAddr"),
    secureGrpcAddr: read("secureGRPCAddr"),
  };
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
  const atLeastZero = ["keepaliveMaxServerConnectionAge", "shutdownDuration"] as const;
  const say = (name: string, ms: number, expected: string) =>
    `flag --${name}: got ${readableDuration(ms)}, expected ${expected}`;
  return [
    ...atLeastZero.filter((n) => flags[n] < 0).map((n) => say(n, flags[n], "0s or more")),
    // Each ping costs every proxy a packet: this is also the least that Go's servers take.
    ...flags.keepaliveInterval < 1000 ? [say("keepaliveInterval", flags.keepaliveInterval, "1s or more")] : [],
    ...flags.keepaliveTimeout <= 0 ? [say("keepaliveTimeout", flags.keepaliveTimeout, "more than 0s")] : [],
  ];
}

/** A cluster with two aliases would make an alias mean nothing when it is looked up the other way. */
function aliasProblems(aliases: Readonly<Record<string, string>>): string[] {
  const byCluster = Map.groupBy(Object.entries(aliases), ([, cluster]) => cluster);
  return [...byCluster].flatMap(([cluster, rows]) => {
    const names = rows.map(([alias]) => alias).join(", ");
    if (cluster === "") return [`flag --clusterAliases: alias ${names} names no cluster, expected alias=cluster`];
    return rows.length > 1 ? [`flag --clusterAliases: cluster ${cluster} has aliases ${names}, expected one`] : [];
  });
}

function otherProblems(flags: DiscoveryFlagValues, given: ReadonlySet<string>, options: DiscoveryOptions): string[] {
  const problems = nameProblems(given, options);
  // Service entries of a folder are services too: with one, no registry is needed.
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
  if (flags.orchApiBurst < 0) problems.push(`flag --orchApiBurst: got ${flags.orchApiBurst}, expected 0 or more`);
  if (flags.orchApiQPS < 0) problems.push(`flag --orchApiQPS: got ${flags.orchApiQPS}, expected 0 or more`);
  return problems;
}

/** A service and what clusters share under its name would be one host, with the endpoints of both. */
function sharedNameProblems({ domain }: DiscoveryOptions, settings: DiscoveryFallbacks): string[] {
  if (!settings.ENABLE_MCS_SERVICE_DISCOVERY || !settings.ENABLE_MCS_HOST || domain !== SHARED_DOMAIN) return [];
  const expected =
    "the domain of one cluster, such as cluster.local: with ENABLE_MCS_HOST this one is for services that " +
    "clusters share (name another domain, or leave ENABLE_MCS_HOST off)";
  return [`flag --domain: got "${domain}", expected ${expected}`];
}

/** One label of a DNS name, as namespaces are; and names of several. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const MAX_LABEL = 63;
const isLabel = (text: string) => text.length <= MAX_LABEL && LABEL.test(text);

/** Names that end up in host names and identities. One that stands for a flag that is not given is its variable's. */
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
