/**
 * The health of a workload in the status of its WorkloadEntry: the condition `Healthy`, which Istio writes too. By the
 * condition, all servers learn what an agent reported to one server.
 *
 * @module
 */
import * as z from "zod";

/** Type of the condition. */
export const HEALTHY = "Healthy";

const status = z.object({ conditions: z.array(z.unknown()) });
const condition = z.object({ type: z.literal(HEALTHY), status: z.string(), lastProbeTime: z.string().nullish() });

/** Content of the condition. */
export interface HealthCondition {
  readonly healthy: boolean;
  /** Time of the last write, as text; empty: unknown. A server recognizes its own writes by the time. */
  readonly lastProbeTime: string;
}

/** The condition in a status; undefined: there is none. */
export function readHealth(tree: unknown): HealthCondition | undefined {
  const list = status.safeParse(tree).data?.conditions ?? [];
  const found = list.map((one) => condition.safeParse(one).data).find((one) => one !== undefined);
  return found && { healthy: found.status === "True", lastProbeTime: found.lastProbeTime ?? "" };
}
