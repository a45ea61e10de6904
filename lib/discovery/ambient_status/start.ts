/**
 * What ambient mode does with objects, written into their status (`AMBIENT_ENABLE_STATUS`).
 *
 * Permissions: the permissions of the client; see `./policy_duty.ts` and `./binding_duty.ts`.
 *
 * @module
 */
import type { MeshConfig } from "../../config/mesh/types.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { TokenBucket } from "../../orch/client/token_bucket.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import type { DiscoverySettings } from "../settings/settings.ts";
import type { Configuration } from "../sources/configuration.ts";
import { bindingDuty } from "./binding_duty.ts";
import { policyDuty } from "./policy_duty.ts";

/** The settings in use. */
type AmbientStatusVariables = Pick<
  DiscoverySettings,
  | "AMBIENT_ENABLE_STATUS"
  | "ENABLE_INGRESS_WAYPOINT_ROUTING"
  | "ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES"
  | "MESH_ENABLE_CONTROLLER_QUEUE_METRICS"
  | "MESH_WAYPOINT_FAIL_OPEN"
  | "PILOT_ENABLE_AMBIENT"
  | "PILOT_STATUS_BURST"
  | "PILOT_STATUS_MAX_WORKERS"
  | "PILOT_STATUS_QPS"
>;

/** Inputs of the duties. */
interface AmbientStatusParts {
  /** Undefined: there is no orchestrator. */
  readonly client: ApiClient | undefined;
  /** `kinds`: whether configuration is read from the orchestrator. Other objects have no status. */
  readonly orch?: { readonly kinds: boolean } | undefined;
  readonly configuration: Pick<Configuration, "facts" | "placeOf" | "store">;
  readonly mesh: () => MeshConfig;
}

/** The duties of the server that writes status. */
export function ambientStatusDuties(
  { client, orch, configuration, mesh }: AmbientStatusParts,
  settings: AmbientStatusVariables,
  { log, metrics, clock }: Pick<Kernel, "clock" | "log" | "metrics">,
): Duty[] {
  if (!settings.PILOT_ENABLE_AMBIENT || !settings.AMBIENT_ENABLE_STATUS) return [];
  if (client === undefined || !orch?.kinds) return [];
  const limit = new TokenBucket(settings.PILOT_STATUS_QPS, settings.PILOT_STATUS_BURST, clock);
  const writingAs = (id: string) => ({
    ...{ id, limit, workers: settings.PILOT_STATUS_MAX_WORKERS },
    metrics: settings.MESH_ENABLE_CONTROLLER_QUEUE_METRICS ? metrics : undefined,
    ...{ clock, client, log: log.scope("status") },
  });
  const { store, facts } = configuration;
  const placeOf = configuration.placeOf.bind(configuration);
  const shared = { client, store, placeOf };
  const opensWithoutWaypoint = settings.MESH_WAYPOINT_FAIL_OPEN;
  const layered = settings.ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES;
  const rootNamespace = () => mesh().rootNamespace;
  const waypoints = { rootNamespace, opensWithoutWaypoint, usesIngress: settings.ENABLE_INGRESS_WAYPOINT_ROUTING };
  return [
    policyDuty({ ...shared, mesh, layered, writing: writingAs("ambient-status") }),
    bindingDuty({ ...shared, facts, ...waypoints, writing: writingAs("waypoint-status") }),
  ];
}
