/**
 * The discovery server: wires folder, orchestrator, registry, translation and wire together.
 *
 * Permissions: net, read, env as in the permission set `pilot-discovery`.
 *
 * @module
 */
import { type Address, showAddress } from "../../lib/cli/address.ts";
import { UsageError } from "../../lib/cli/command.ts";
import type { Explainer } from "../../lib/debug/runners.ts";
import { authenticationProblems } from "../../lib/discovery/identity/authentication.ts";
import { authorityProblems } from "../../lib/discovery/identity/authority.ts";
import type { IntrospectionOptions } from "../../lib/discovery/ports.ts";
import { startDiscoveryServer } from "../../lib/discovery/server.ts";
import type { DiscoveryServerOptions } from "../../lib/discovery/server_options.ts";
import { StartError, type StartOption, type StartVariable } from "../../lib/discovery/settings/start_error.ts";
import { type Kernel, untilStopped } from "../../lib/kernel/kernel.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { WorkerPreviews } from "../../lib/offline/preview/runner.ts";
import { orchAccess, type OrchOptions } from "../../lib/discovery/sources/orchestrator.ts";
import { type AccessPlace, findAccess } from "../../lib/orch/access/find.ts";
import { MockRegistry } from "../../lib/registry/mock.ts";
import { commaList } from "../../lib/kernel/text/comma_list.ts";
import type { DiscoveryOptions } from "./discovery_options.ts";

/**
 * Runs the server until a stop. Resolves with the exit code.
 * @param process Facts about this process for introspection pages.
 * @param place Where access to the orchestrator is described. Default: the orchestrator is not read.
 * @throws {UsageError} When the server cannot start with the paths and addresses of its flags.
 */
export async function runDiscovery(
  options: DiscoveryOptions,
  settings: SettingsOf<"pilot-discovery">,
  kernel: Kernel,
  process: Omit<IntrospectionOptions, "address">,
  place?: AccessPlace,
): Promise<number> {
  const problems = [...authenticationProblems(settings), ...authorityProblems(settings)];
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  const orch = place && await usableOrch(place, options, settings, kernel);
  if (orch === undefined && options.registries.includes("Orch")) {
    kernel.log.scope("default").warn("no access to an orchestrator is given; services come only from the folder");
  }
  const manifestServices = options.registries.includes("File");
  const address = (at: Address | undefined) => at && showAddress(at);
  const starting = startOrSayWhy(
    {
      grpc: address(options.grpcAddr),
      secureGrpc: address(options.secureGrpcAddr),
      tls: options.tls,
      http: showAddress(options.httpAddr),
      webhooks: webhookAddress(options.httpsAddr, orch !== undefined || options.httpsAddrGiven),
      monitoring: address(options.monitoringAddr),
      introspection: { address: showAddress(options.introspection), ...process },
      profiling: options.profile,
      configDir: options.configDir,
      orch,
      meshConfig: options.meshConfig,
      networksConfig: options.networksConfig,
      mustExist: options.mustExist,
      domain: options.domain,
      clusterId: options.clusterId,
      clusterAliases: options.clusterAliases,
      systemNamespace: options.namespace,
      cniNamespace: options.cniNamespace,
      clusterRegistriesNamespace: options.clusterRegistriesNamespace,
      clusterSecrets: clusterSecrets(settings),
      registries: options.registries.includes("Mock") ? [new MockRegistry()] : [],
      manifestServices,
      variable: (name) => Deno.env.get(name),
      keepaliveInterval: options.keepaliveInterval,
      keepaliveTimeout: options.keepaliveTimeout,
      keepaliveMaxServerConnectionAge: options.keepaliveMaxServerConnectionAge,
      shutdownDuration: options.shutdownDuration,
      cores: navigator.hardwareConcurrency,
      explainer: laterExplainer(options.domain),
      ...(options.configDir === undefined ? {} : {
        preview: new WorkerPreviews({
          settings,
          domain: options.domain,
          folder: options.configDir,
          manifestServices,
        }),
      }),
    },
    settings,
    kernel,
  );
  // A stop during the start does not wait for the start: the started parts end, and then the process.
  await Promise.race([starting, kernel.drain.whenStarted]);
  starting.catch(() => {}); // From here on the start can only fail because parts of the server have ended.
  return await untilStopped(kernel);
}

/**
 * The account of the pod, if the secrets of remote clusters are in the cluster of another operator's control plane.
 * Undefined: the secrets are in the configuration's cluster.
 * @throws {UsageError} Outside of a pod.
 */
function clusterSecrets(settings: SettingsOf<"pilot-discovery">): AccessPlace | undefined {
  if (!settings.EXTERNAL_MESHD || !settings.LOCAL_CLUSTER_SECRET_WATCHER) return undefined;
  const { ORCH_SERVICE_HOST: host, ORCH_SERVICE_PORT: port } = settings;
  const place = findAccess({ flag: undefined, variable: "", host, port, home: "" });
  if (place !== undefined) return place;
  throw new UsageError("LOCAL_CLUSTER_SECRET_WATCHER: got true, expected a pod, whose account reads the secrets");
}

/** An explainer, loaded with the first question. */
function laterExplainer(domain: string): Explainer {
  return {
    explain: async (asked, view) => {
      const { serverExplainer } = await import("../../lib/offline/explain/of_server.ts");
      return await serverExplainer(domain).explain(asked, view);
    },
    describe: async (asked, view) => {
      const { serverExplainer } = await import("../../lib/offline/explain/of_server.ts");
      return await serverExplainer(domain).describe(asked, view);
    },
  };
}

/**
 * The access to the orchestrator.
 * @throws {UsageError} For files that describe no access. A pod's account may come later.
 */
async function usableOrch(
  place: AccessPlace,
  options: DiscoveryOptions,
  settings: SettingsOf<"pilot-discovery">,
  kernel: Kernel,
): Promise<OrchOptions> {
  const allowed = commaList(settings.PILOT_INSECURE_MULTICLUSTER_ORCHCONFIG_OPTIONS);
  const log = kernel.log.scope("orch");
  const access = orchAccess({ place, allowed }, kernel);
  try {
    if (place.from === "files") await access.current();
  } catch (error) {
    throw new UsageError(`${place.by}: ${error instanceof Error ? error.message : error}`);
  }
  log.info("the orchestrator's objects are read", { accessBy: place.by });
  return {
    ...{ place, access, allowed, qps: options.orchApiQps, burst: options.orchApiBurst },
    namespace: settings.MESH_WATCH_NAMESPACE,
    kinds: options.configDir === undefined,
    services: options.registries.includes("Orch"),
  };
}

/** The address of webhooks. Undefined: webhooks are not served. */
function webhookAddress(address: Address | undefined, wanted: boolean): string | undefined {
  if (!wanted) return undefined;
  return address === undefined ? "" : showAddress(address);
}

/** The flag of each option without a variable. */
const FLAGS: Readonly<Record<Exclude<StartOption, StartVariable>, string>> = {
  configDir: "configDir",
  meshConfig: "meshConfig",
  networksConfig: "networksConfig",
  tlsCertFile: "tlsCertFile",
  tlsKeyFile: "tlsKeyFile",
  caCertFile: "caCertFile",
  grpc: "grpcAddr",
  secureGrpc: "secureGRPCAddr",
  http: "httpAddr",
  webhooks: "httpsAddr",
  monitoring: "monitoringAddr",
  introspection: "ctrlz_port",
};

/** Starts the server. Faults that the user can correct are reported by flag, without a stack. */
async function startOrSayWhy(
  options: DiscoveryServerOptions,
  settings: SettingsOf<"pilot-discovery">,
  kernel: Kernel,
): Promise<void> {
  try {
    await startDiscoveryServer(options, settings, kernel);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const named = (option: StartOption) => Object.hasOwn(FLAGS, option) ? `flag --${FLAGS[option as "http"]}` : option;
    throw new UsageError(error.faults.map(({ option, text }) => `${named(option)}: ${text}`).join("\n"));
  }
}
