/**
 * Variables of this project beyond the shared tables. Kept apart, so that each is a decision and not an accident.
 *
 * Permissions: none.
 *
 * @module
 */
import { bool, str } from "./define.ts";

/** Our own variables. */
export const ownSettings = {
  PILOT_ENABLE_VHDS: bool(
    "D",
    true,
    "Virtual hosts by VHDS to delta Envoys: one changed rule is one small resource. Off: whole route configurations.",
  ),
  MESH_AGENT_METRIC_PREFIX: str(
    "A",
    "",
    "Put before every metric name of the agent, for dashboards that expect one (`istio_agent_`).",
  ),
};
