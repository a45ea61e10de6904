/**
 * The locality rules of a destination: from the destination rule, else from the service's traffic distribution, else
 * from the mesh.
 *
 * @module
 */
import type { LocalityLbSetting } from "../../config/kinds/common/schema.ts";
import { NETWORK_LABEL, NODE_LABEL, REGION_LABEL, SUBZONE_LABEL, ZONE_LABEL } from "../../registry/labels.ts";
import type { Reader } from "../reader/reader.ts";
import type { DestinationPlan } from "./plan.ts";

/** From the widest place to the narrowest. */
const sameZone: LocalityLbSetting = { failoverPriority: [NETWORK_LABEL, REGION_LABEL, ZONE_LABEL] };
const sameNode: LocalityLbSetting = {
  failoverPriority: [NETWORK_LABEL, REGION_LABEL, ZONE_LABEL, SUBZONE_LABEL, NODE_LABEL],
};

/** Locality rules of a destination. */
export interface LocalityPlan {
  /** Absent: places do not matter. */
  readonly setting?: LocalityLbSetting;
  /**
   * Whether priorities may be given. Without detection of bad endpoints the proxy never falls back, so priorities need
   * outlier detection or, with traffic distribution, the health of endpoints from the registry.
   */
  readonly failover: boolean;
}

/** Decides the locality rules of a destination. Reads the mesh configuration only if rule and service set nothing. */
export function localityPlan(read: Reader, destination: DestinationPlan): LocalityPlan {
  const outlier = destination.policy.outlierDetection !== undefined;
  const own = destination.policy.loadBalancer?.localityLbSetting;
  if (own !== undefined) return own.enabled === false ? { failover: outlier } : { setting: own, failover: outlier };
  const distribution = destination.service.trafficDistribution;
  if (distribution === "preferSameZone") return { setting: sameZone, failover: true };
  if (distribution === "preferSameNode") return { setting: sameNode, failover: true };
  const mesh = read.mesh().localityLbSetting;
  return mesh.enabled === false ? { failover: outlier } : { setting: mesh, failover: outlier };
}

/** Whether localities carry weights: by setting, by distribution, or where the user orders localities. */
export function weighsLocalities(read: Reader, plan: LocalityPlan): boolean {
  if (read.settings.enableLocalityWeightedLb) return true;
  const { setting, failover } = plan;
  if (setting?.distribute !== undefined) return true;
  return failover && (setting?.failover !== undefined || setting?.failoverPriority !== undefined);
}
