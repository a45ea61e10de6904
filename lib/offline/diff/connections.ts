/**
 * The effect of changed resources on open connections of an Envoy. `tests/e2e/connections_test.ts` shows the effect on
 * a real Envoy.
 *
 * - Routes, virtual hosts, endpoints and secrets are replaced in place. Connections stay until either end closes them,
 *   even connections to a removed endpoint.
 * - If only filter chains of a listener differ, the connections of these chains are drained. Any other change, or the
 *   removal, drains all connections of the listener: HTTP ends with the next response, other bytes when the drain time
 *   is over.
 * - A cluster with another definition is built again. Idle connections to its endpoints are closed; connections in use
 *   go on until they end. Clients' connections stay.
 *
 * @module
 */
import { CLUSTER, LISTENER } from "../../xds/protocol/types.ts";
import type { FieldDifference } from "./json_diff.ts";

/** Connections ended by a change. */
export interface EndedConnections {
  readonly of: "listener" | "cluster";
  readonly name: string;
  /** Names the ending connections, in words. */
  readonly which: string;
}

/** Known facts about a changed resource. */
export interface ConnectionQuestion {
  readonly typeUrl: string;
  readonly name: string;
  readonly isNew: boolean;
  readonly isGone: boolean;
  readonly differences: readonly FieldDifference[];
}

/** The connections ended by a change; undefined: none. */
export function connectionsEnded(change: ConnectionQuestion): EndedConnections | undefined {
  const { typeUrl, name, isNew, isGone, differences } = change;
  if (isNew) return undefined;
  if (typeUrl === CLUSTER) {
    return { of: "cluster", name, which: "to its endpoints that carry nothing; those in use go on until they end" };
  }
  if (typeUrl !== LISTENER) return undefined;
  const chains = new Set(differences.map(({ path }) => chainOf(path)));
  if (isGone || chains.has(undefined) || chains.size === 0) return { of: "listener", name, which: "all" };
  return { of: "listener", name, which: `of filter chain ${[...chains].join(", ")}` };
}

/** The filter chain that contains a path; undefined: none. */
function chainOf(path: string): string | undefined {
  if (/^default_filter_chain(?:\.|$)/.test(path)) return "default";
  return /^filter_chains\[([^\]]+)\]/.exec(path)?.[1]?.replace(/^"|"$/g, "");
}
