/**
 * The health of a workload in the status of its entry.
 *
 * @module
 */
import { HEALTHY, readHealth } from "../config/kinds/workload_entry/health_condition.ts";
import { type ApiJson, isApiJson } from "../orch/client/answer.ts";

/** The health of a workload as it is to be written. */
export interface WrittenHealth {
  readonly healthy: boolean;
  /** Why it is not. */
  readonly reason: string;
  /** RFC 3339, of this report; see `HealthCondition.lastProbeTime`. */
  readonly at: string;
}

/** The change of a status that says so; conditions of others stay. Undefined: it says so already, by the same report. */
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

/** The change of a status that takes a report back; undefined: another one came since, or there is none. */
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
