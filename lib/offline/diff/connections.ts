/**
 * The effect of changed resources on open connections of an Envoy. `tests/e2e/connections_test.ts` shows it on a real
 * one.
 *
 * - Routes, virtual hosts, endpoints and secrets are taken in place: connections stay, also to an endpoint that is gone,
 *   until one of their ends closes them.
 * - A listener of which only filter chains differ drains the connections of those chains; any other change, or removal,
 *   drains all of its connections: HTTP ends with the next response, bytes when the time to drain is over.
 * - A cluster with another definition is made anew: connections to its endpoints that carry nothing are closed, those in
 *   use go on until they end. Clients' connections stay.
 *
 * @module
 */
import { CLUSTER, LISTENER } from "../../xds/protocol/types.ts";
import type { FieldDifference } from "./json_diff.ts";

/** Connections that a change ends. */
export interface EndedConnections {
  readonly of: "listener" | "cluster";
  readonly name: string;
  /** Names the connections that end, in words. */
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

/** The connections that end with a change; undefined: none. */
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

/** The filter chain that a path is in; undefined: it is in none. */
function chainOf(path: string): string | undefined {
  if (/^default_filter_chain(?:\.|$)/.test(path)) return "default";
  return /^filter_chains\[([^\]]+)\]/.exec(path)?.[1]?.replace(/^"|"$/g, "");
}
