/**
 * The duties of a server at its orchestrator: what one of several servers does for all of them.
 *
 * @module
 */
import type { Fact } from "../../config/facts/types.ts";
import { isOfRevision } from "../../config/revision.ts";
import { IngressStatuses } from "../../ingress/status.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { DefaultRevision, goesBeforeKey } from "../../orch/leader/default_revision.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import { DutyRunner, type LockState } from "../../orch/leader/duty_runner.ts";
import type { TrustBundle } from "../../pki/current.ts";
import type { XdsServer } from "../../xds/server.ts";
import type { AnalysisRunner } from "../analysis_runner.ts";
import type { Configuration } from "../configuration.ts";
import type { MeshSource } from "../mesh_source.ts";
import type { Pipeline } from "../pipeline.ts";
import { registrationDuty } from "../registration/start.ts";
import { startStatus } from "../status/start.ts";
import type { DiscoverySettings } from "../settings.ts";
import { ingressStatus } from "./ingress_status.ts";
import type { OrchScope } from "./orchestrator.ts";
import { rootMaps } from "./root_maps.ts";
import { trustBundle } from "./trust_bundle.ts";
import { untaintNodes } from "./untaint.ts";
import { validationWebhook } from "./validation_webhook.ts";

/** What duties work on. */
export interface DutyParts {
  readonly configuration: Configuration;
  readonly mesh: Pick<MeshSource, "state" | "onChange">;
  readonly pipeline: Pipeline;
  readonly analysis: AnalysisRunner;
  readonly xds: XdsServer;
  /** By what others verify this server; undefined: it has no authority. */
  readonly roots: TrustBundle | undefined;
  /** By what the API verifies the webhooks; undefined: they are not served over TLS. */
  readonly webhookRoots: TrustBundle | undefined;
  /** What is read of the orchestrator. */
  readonly orch?: Pick<OrchScope, "namespace" | "kinds" | "services"> | undefined;
  /** Namespace of the node plugin. Default: that of the server. */
  readonly cniNamespace?: string | undefined;
  /** That of the server, where the locks are. */
  readonly systemNamespace: string;
  /** Longest life of a connection, milliseconds. */
  readonly keepaliveMaxServerConnectionAge: number;
}

/** The list: a duty more is a line more. */
function dutiesOf(
  client: ApiClient,
  parts: DutyParts,
  settings: DiscoverySettings,
  kernel: Kernel,
): readonly Duty[] {
  const { configuration, mesh, roots, webhookRoots, orch, systemNamespace: namespace } = parts;
  const maxConnectionAge = parts.keepaliveMaxServerConnectionAge;
  const watched = orch?.namespace ?? "";
  const { facts, discovered, store } = configuration;
  const metrics = queueMetrics(settings, kernel);
  const duties: Duty[] = [];
  const log = kernel.log.scope("rootcertrotator");
  if (roots !== undefined && settings.ENABLE_CLUSTER_TRUST_BUNDLE_API) {
    duties.push(trustBundle({ client, roots, log, metrics }));
  } else if (roots !== undefined) {
    const namespaces = {
      has: (name: string) => (watched === "" || name === watched) && discovered.has(name),
      onChange: (listener: () => void) => discovered.onChange(listener),
    };
    const name = settings.PILOT_CA_CERT_CONFIGMAP;
    duties.push(rootMaps({ client, facts, namespaces, roots, name, log, metrics }));
  }
  // Ingresses are read where services are.
  if (orch?.services) {
    const { ORCH_INGRESS_NS, REVISION } = settings;
    const isOurs = ({ origin, meta }: Fact) => origin.from === "api" && isOfRevision(meta.labels, REVISION);
    // Followed by every server: one that comes to lead has to know which have left.
    const statuses = new IngressStatuses({ facts, mesh: mesh.state.mesh, namespace: ORCH_INGRESS_NS, isOurs });
    mesh.onChange((state) => statuses.meshChanged(state.mesh));
    duties.push(ingressStatus({ client, facts, statuses, log: kernel.log.scope("status"), metrics }));
  }
  // Kinds of a folder have nobody to whom their status could be written.
  if (orch?.kinds) duties.push(...startStatus({ ...parts, client, namespace }, settings, kernel));
  if (settings.PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION) {
    duties.push(registrationDuty({ store, client, maxConnectionAge }, settings, kernel));
  }
  const webhook = settings.VALIDATION_WEBHOOK_CONFIG_NAME;
  if (webhookRoots !== undefined && webhook !== "") {
    const log = kernel.log.scope("validationController");
    const own = { name: webhook, namespace, roots: webhookRoots };
    duties.push(validationWebhook({ client, ...own, log, metrics: kernel.metrics, queueMetrics: metrics }));
  }
  if (settings.PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS) {
    const of = parts.cniNamespace ?? namespace;
    duties.push(untaintNodes({ client, namespace: of, log: kernel.log.scope("untaint"), metrics }));
  }
  return duties;
}

/** The metrics of work queues; undefined: they are not wanted. */
export function queueMetrics(
  settings: Pick<DiscoverySettings, "MESH_ENABLE_CONTROLLER_QUEUE_METRICS">,
  kernel: Kernel,
): Metrics | undefined {
  return settings.MESH_ENABLE_CONTROLLER_QUEUE_METRICS ? kernel.metrics : undefined;
}

/** Duties that are done while the server runs. */
export interface ServerDuties {
  /** Who leads under which lock. */
  states(): readonly LockState[];
}

/**
 * Begins the duties; at the stop of the kernel they end, and their locks are given back.
 *
 * @param client Undefined: there is no orchestrator, and no duty.
 */
export function startDuties(
  client: ApiClient | undefined,
  parts: DutyParts,
  settings: DiscoverySettings,
  kernel: Kernel,
): ServerDuties {
  if (client === undefined) return { states: () => [] };
  const duties = dutiesOf(client, parts, settings, kernel);
  const log = kernel.log.scope("orch");
  const revision = settings.REVISION;
  const elect = settings.ENABLE_LEADER_ELECTION;
  const byDefault = new DefaultRevision(client, log);
  if (elect && duties.length > 0) byDefault.start();
  const runner = new DutyRunner(client, duties, {
    ...{ namespace: parts.systemNamespace, elect, log, key: revision },
    // A name that no process had before: one that is restarted must not take the lock of the one before it for its own.
    identity: `${settings.POD_NAME || Deno.hostname()}_${crypto.randomUUID()}`,
    goesBefore: (key) => goesBeforeKey(revision, byDefault.current, key),
  });
  kernel.stopper.add("duties", async () => {
    await runner.stop();
    await byDefault.stop();
  });
  return runner;
}
