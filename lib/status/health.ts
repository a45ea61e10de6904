/**
 * The health of a workload in the status of its entry.
 *
 * @module
 */
import { HEALTHY, readHealth } from "../config/kinds/workload_entry/health_condition.ts";
import { type ApiJson, isApiJson } from "../orch/client/answer.ts";

/** The health of a workload for its entry's status. */
export interface WrittenHealth {
  readonly healthy: boolean;
  /** Why the workload is unhealthy. */
  readonly reason: string;
  /** RFC 3339, time of the report. See `HealthCondition.lastProbeTime`. */
  readonly at: string;
}

/**
 * The change of a status that writes the health. Conditions of other writers stay. Undefined: the status already has
 * the health of this report.
 */
export function healthChange({ healthy, reason, at }: WrittenHealth, present: ApiJson): ApiJson | undefined {
  const before = readHealth(present);
  if (before?.healthy === healthy && before.lastProbeTime === at) return undefined;
  const old = conditionsOf(present).find(isHealth);
  const stays = before?.healthy === healthy ? old?.["lastTransitionTime"] : undefined;
  const condition = {
    type: HEALTHY,
    status: healthy ? "True" : "False",
    lastProbeTime: at,
    lastTransitionTime: typeof stays === "string" ? stays : at,
    ...(reason !== "" && { message: reason }),
  };
  return { conditions: [...conditionsOf(present).filter((one) => !isHealth(one)), condition] };
}

/**
 * The change of a status that removes a report; undefined: another report has replaced the report, or the status has no
 * report.
 */
export function healthRemoval(at: string, present: ApiJson): ApiJson | undefined {
  if (readHealth(present)?.lastProbeTime !== at) return undefined;
  return { conditions: conditionsOf(present).filter((one) => !isHealth(one)) };
}

function conditionsOf({ conditions }: ApiJson): readonly ApiJson[] {
  return Array.isArray(conditions) ? conditions.filter(isApiJson) : [];
}

function isHealth({ type }: ApiJson): boolean {
  return type === HEALTHY;
}
