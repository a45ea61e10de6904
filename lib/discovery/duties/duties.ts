/**
 * The duties of a server at its orchestrator: work that one server of several does for all servers.
 *
 * @module
 */
import type { Fact } from "../../config/facts/types.ts";
import { isOfRevision } from "../../config/revision.ts";
import { IngressStatuses } from "../../ingress/status.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { DefaultRevision, goesBeforeKey, remoteKey } from "../../orch/leader/default_revision.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import { DutyRunner, type LockState } from "../../orch/leader/duty_runner.ts";
import type { TrustBundle } from "../../pki/current.ts";
import type { XdsServer } from "../../xds/server.ts";
import type { AnalysisRunner } from "../findings/analysis_runner.ts";
import type { ClusterConnection } from "../clusters/connection.ts";
import type { LedDuties } from "../clusters/leading.ts";
import type { Configuration } from "../sources/configuration.ts";
import type { MeshSource } from "../sources/mesh_source.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { RemoteLockState, ServerClusters } from "../clusters/remote_clusters.ts";
import { cleansEntries, registrationDuty } from "../registration/start.ts";
import type { PipelineProxy } from "../status/gateway_api_start.ts";
import { startStatus, type StatusVariables } from "../status/start.ts";
import type { DiscoverySettings, SharingApi } from "../settings/settings.ts";
import { profileOf } from "../../translate/reader/proxy_profile.ts";
import { isClusterLocal } from "../../translate/endpoint/cluster_local.ts";
import { ingressStatus } from "./ingress_status.ts";
import { keepInjectionWebhook } from "./injection_webhook.ts";
import type { OrchScope } from "../sources/orchestrator.ts";
import { rootMaps } from "./root_maps.ts";
import { serviceExports } from "./service_exports.ts";
import { trustBundle } from "./trust_bundle.ts";
import { untaintNodes } from "./untaint.ts";
import { validationWebhook } from "./validation_webhook.ts";

export interface DutyParts {
  readonly configuration: Configuration;
  readonly mesh: Pick<MeshSource, "state" | "onChange">;
  readonly pipeline: Pipeline;
  readonly analysis: AnalysisRunner;
  readonly xds: XdsServer;
  /** Roots that verify this server's certificate; undefined: the server has no authority. */
  readonly roots: TrustBundle | undefined;
  /** Roots with which the API verifies the webhooks; undefined: the webhooks are not served over TLS. */
  readonly webhookRoots: TrustBundle | undefined;
  /** The parts of the orchestrator that the server reads. */
  readonly orch?: Pick<OrchScope, "namespace" | "kinds" | "services"> | undefined;
  /** Namespace of the node plugin. Default: the server's namespace. */
  readonly cniNamespace?: string | undefined;
  /** DNS suffix of services. */
  readonly domain: string;
  /** Where exports of services may be. */
  readonly sharing: Pick<SharingApi, "groups" | "version">;
  /** Namespace of the server and of the locks. */
  readonly systemNamespace: string;
  /** Longest life of a connection, milliseconds. */
  readonly keepaliveMaxServerConnectionAge: number;
  /** Duties that other parts of the server make. Default: there are none. */
  readonly others?: readonly Duty[];
  /** Remote clusters. Default: there are none. */
  readonly remote?: Pick<ServerClusters, "lead" | "led"> | undefined;
}

/** The inputs of duties, and listeners that end with a term. */
interface WorkingParts extends DutyParts {
  /** Calls a listener when the mesh configuration has changed; returns a function that ends the calls. */
  readonly onMeshChange: (listener: () => void) => () => void;
}

/** Adds and removes listeners on top of a source whose listeners cannot be removed. */
function passingListeners({ onChange }: Pick<MeshSource, "onChange">): WorkingParts["onMeshChange"] {
  const listeners = new Set<() => void>();
  onChange(() => listeners.forEach((listener) => listener()));
  return (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
}

/** The settings in use. */
type DutyVariables =
  & StatusVariables
  & Pick<
    DiscoverySettings,
    | "ENABLE_CLUSTER_TRUST_BUNDLE_API"
    | "ENABLE_LEADER_ELECTION"
    | "ENABLE_MCS_AUTO_EXPORT"
    | "EXTERNAL_MESHD"
    | "INJECTION_WEBHOOK_CONFIG_NAME"
    | "INJECT_ENABLED"
    | "MESH_ENABLE_CONTROLLER_QUEUE_METRICS"
    | "MESH_GATEWAY_STATUS_BURST"
    | "MESH_GATEWAY_STATUS_PATIENCE"
    | "MESH_WORKLOAD_ENTRY_VALIDATE_IDENTITY"
    | "ORCH_INGRESS_NS"
    | "PILOT_ANALYSIS_INTERVAL"
    | "PILOT_CA_CERT_CONFIGMAP"
    | "PILOT_ENABLE_ANALYSIS"
    | "PILOT_ENABLE_GATEWAY_API_STATUS"
    | "PILOT_ENABLE_IP_AUTOALLOCATE"
    | "PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS"
    | "PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION"
    | "PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS"
    | "PILOT_STATUS_BURST"
    | "PILOT_STATUS_MAX_WORKERS"
    | "PILOT_STATUS_QPS"
    | "PILOT_STATUS_UPDATE_INTERVAL"
    | "PILOT_WORKLOAD_ENTRY_GRACE_PERIOD"
    | "POD_NAME"
    | "REVISION"
    | "VALIDATION_WEBHOOK_CONFIG_NAME"
  >;

/** The list: a duty more is a line more. */
function dutiesOf(
  client: ApiClient,
  parts: WorkingParts,
  settings: DutyVariables,
  kernel: Pick<Kernel, "log" | "metrics" | "clock" | "stopper">,
): readonly Duty[] {
  const { configuration, mesh, roots, webhookRoots, orch, systemNamespace: namespace } = parts;
  const maxConnectionAge = parts.keepaliveMaxServerConnectionAge;
  const { facts, discovered, store } = configuration;
  const metrics = queueMetrics(settings, kernel);
  const watched = orch?.namespace ?? "";
  const duties: Duty[] = [];
  if (roots !== undefined) {
    duties.push(rootsDuty({ client, facts, discovered }, roots, watched, settings, kernel));
  }
  // Ingresses are read where services are.
  if (orch?.services) {
    const { ORCH_INGRESS_NS, REVISION } = settings;
    const isOurs = (fact: Fact) => fact.origin.from === "api" && isOfRevision(fact, REVISION);
    // Every server follows the ingresses, because a new leader must know which ingresses have lost their addresses.
    const statuses = new IngressStatuses({ facts, mesh: mesh.state.mesh, namespace: ORCH_INGRESS_NS, isOurs });
    mesh.onChange((state) => statuses.meshChanged(state.mesh));
    duties.push(ingressStatus({ client, facts, statuses, log: kernel.log.scope("status"), metrics }));
  }
  // Objects from a folder have no API object whose status could be written.
  if (orch?.kinds) {
    const servesGateways = ({ proxy }: PipelineProxy) => {
      const { gateways, waypoint } = profileOf(proxy.properties.type);
      return gateways || waypoint;
    };
    duties.push(...startStatus({ ...parts, client, namespace, servesGateways }, settings, kernel));
  }
  if (cleansEntries(settings)) {
    duties.push(registrationDuty({ store, client, maxConnectionAge }, settings, kernel));
  }
  const webhook = settings.VALIDATION_WEBHOOK_CONFIG_NAME;
  if (webhookRoots !== undefined && webhook !== "") {
    const log = kernel.log.scope("validationController");
    const own = { name: webhook, namespace, roots: webhookRoots };
    duties.push(validationWebhook({ client, ...own, log, metrics: kernel.metrics, queueMetrics: metrics }));
  }
  if (orch?.services) duties.push(...exportDuties({ client, facts }, parts, settings, kernel));
  if (settings.PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS) {
    const of = parts.cniNamespace ?? namespace;
    duties.push(untaintNodes({ client, namespace: of, log: kernel.log.scope("untaint"), metrics }));
  }
  duties.push(...parts.others ?? []);
  return duties;
}

/**
 * The duty that distributes the mesh's roots in a cluster. @param watched Limits the duty to a namespace; empty: all.
 */
function rootsDuty(
  { client, facts, discovered }: Pick<ClusterConnection, "client" | "facts" | "discovered">,
  roots: TrustBundle,
  watched: string,
  settings: Pick<
    DiscoverySettings,
    "ENABLE_CLUSTER_TRUST_BUNDLE_API" | "MESH_ENABLE_CONTROLLER_QUEUE_METRICS" | "PILOT_CA_CERT_CONFIGMAP"
  >,
  kernel: Pick<Kernel, "log" | "metrics">,
): Duty {
  const parts = {
    ...{ client, roots, log: kernel.log.scope("rootcertrotator") },
    metrics: queueMetrics(settings, kernel),
  };
  if (settings.ENABLE_CLUSTER_TRUST_BUNDLE_API) return trustBundle(parts);
  const namespaces = {
    has: (name: string) => (watched === "" || name === watched) && discovered.has(name),
    onChange: (listener: () => void) => discovered.onChange(listener),
  };
  return rootMaps({ ...parts, facts, namespaces, name: settings.PILOT_CA_CERT_CONFIGMAP });
}

/** The duty that exports the services of a cluster; empty when `ENABLE_MCS_AUTO_EXPORT` is off. */
function exportDuties(
  { client, facts }: Pick<ClusterConnection, "client" | "facts">,
  { mesh, domain, sharing, onMeshChange }: Pick<WorkingParts, "mesh" | "domain" | "sharing" | "onMeshChange">,
  settings: Pick<DiscoverySettings, "ENABLE_MCS_AUTO_EXPORT" | "MESH_ENABLE_CONTROLLER_QUEUE_METRICS">,
  kernel: Pick<Kernel, "log" | "metrics">,
): readonly Duty[] {
  if (!settings.ENABLE_MCS_AUTO_EXPORT) return [];
  const isLocal = ({ namespace, name }: { readonly namespace: string; readonly name: string }) =>
    isClusterLocal(mesh.state.mesh, `${name}.${namespace}.svc.${domain}`, domain);
  const parts = { client, facts, api: sharing, isLocal, onChange: onMeshChange };
  return [serviceExports({ ...parts, log: kernel.log.scope("orch"), metrics: queueMetrics(settings, kernel) })];
}

/** The metrics of work queues; undefined: the setting is off. */
export function queueMetrics(
  settings: Pick<DiscoverySettings, "MESH_ENABLE_CONTROLLER_QUEUE_METRICS">,
  kernel: Pick<Kernel, "metrics">,
): Metrics | undefined {
  return settings.MESH_ENABLE_CONTROLLER_QUEUE_METRICS ? kernel.metrics : undefined;
}

export interface ServerDuties {
  /** The leaders of all locks. */
  states(): readonly (LockState | RemoteLockState)[];
}

/**
 * Begins the duties. When the kernel stops, the duties end, and their locks are given back.
 *
 * @param client Undefined: there is no orchestrator, and no duty.
 */
export function startDuties(
  client: ApiClient | undefined,
  given: DutyParts,
  settings: DutyVariables,
  kernel: Pick<Kernel, "log" | "metrics" | "clock" | "stopper">,
): ServerDuties {
  if (client === undefined) return { states: () => [] };
  const parts: WorkingParts = { ...given, onMeshChange: passingListeners(given.mesh) };
  const runner = startRunner(
    client,
    dutiesOf(client, parts, settings, kernel),
    settings.REVISION,
    parts,
    settings,
    kernel,
  );
  kernel.stopper.add("duties", () => runner.stop());
  const injection = keepInjectionWebhookOf(client, parts, settings, kernel);
  kernel.stopper.add("roots in the injection webhook", () => injection.stop());
  const { remote, roots, orch } = parts;
  const watched = orch?.namespace ?? "";
  if (settings.EXTERNAL_MESHD && roots !== undefined) {
    remote?.lead((connection) => {
      const { client } = connection;
      const duties = [
        rootsDuty(connection, roots, watched, settings, kernel),
        ...exportDuties(connection, parts, settings, kernel),
      ];
      const there = startRunner(client, duties, remoteKey(settings.REVISION), parts, settings, kernel);
      const injection = keepInjectionWebhookOf(client, parts, settings, kernel);
      return {
        states: () => there.states(),
        stop: async () => void await Promise.all([there.stop(), injection.stop()]),
      };
    });
  }
  return { states: () => [...runner.states(), ...remote?.led() ?? []] };
}

/**
 * Runs duties at the API of a cluster. @param key The key under which the locks are taken. See
 * {@linkcode goesBeforeKey}.
 */
function startRunner(
  client: ApiClient,
  duties: readonly Duty[],
  key: string,
  { systemNamespace: namespace }: Pick<DutyParts, "systemNamespace">,
  settings: Pick<DiscoverySettings, "ENABLE_LEADER_ELECTION" | "POD_NAME">,
  kernel: Pick<Kernel, "log">,
): LedDuties<LockState> {
  const log = kernel.log.scope("orch");
  const elect = settings.ENABLE_LEADER_ELECTION;
  const byDefault = new DefaultRevision(client, log);
  if (elect && duties.length > 0) byDefault.start();
  const runner = new DutyRunner(client, duties, {
    ...{ namespace, elect, log, key },
    // A name without a predecessor: a restarted process must not take the lock of the process before for its own lock.
    identity: `${settings.POD_NAME || Deno.hostname()}_${crypto.randomUUID()}`,
    goesBefore: (holder) => goesBeforeKey(key, byDefault.current, holder),
  });
  return {
    states: () => runner.states(),
    stop: async () => {
      await runner.stop();
      await byDefault.stop();
    },
  };
}

/** Keeps the injection webhook of the server's revision in a cluster, as every server does, without a lock. */
function keepInjectionWebhookOf(
  client: ApiClient,
  { webhookRoots: roots, systemNamespace: namespace }: Pick<DutyParts, "webhookRoots" | "systemNamespace">,
  settings: DutyVariables,
  kernel: Pick<Kernel, "log" | "metrics">,
): Pick<LedDuties, "stop"> {
  const name = settings.INJECTION_WEBHOOK_CONFIG_NAME;
  const { INJECT_ENABLED, REVISION: revision } = settings;
  if (!INJECT_ENABLED || name === "" || roots === undefined) return { stop: () => Promise.resolve() };
  const stop = new AbortController();
  const measured = { metrics: kernel.metrics, queueMetrics: queueMetrics(settings, kernel) };
  const parts = { client, name, revision, namespace, roots, log: kernel.log.scope("orch"), ...measured };
  const done = keepInjectionWebhook(parts, stop.signal);
  return {
    stop: async () => {
      stop.abort();
      await done;
    },
  };
}
