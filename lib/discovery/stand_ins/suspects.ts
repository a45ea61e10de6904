/**
 * The ProxyFilters that may have caused the rejection of a resource, in the order of suspicion.
 *
 * @module
 */
import type { Mesh } from "../../mesh/mesh.ts";
import { compileFilter } from "../../patches/compile.ts";
import { mayRefuse } from "../../patches/guards.ts";
import type { CompiledPatch, PatchTarget } from "../../patches/types.ts";
import { CLUSTER, LISTENER, ROUTE, VIRTUAL_HOST } from "../../xds/protocol/types.ts";

/** The patch targets that change resources of a type. */
const OF_TYPE: Readonly<Record<string, readonly PatchTarget[]>> = {
  [CLUSTER]: ["CLUSTER"],
  [LISTENER]: [
    ...["LISTENER", "LISTENER_FILTER", "FILTER_CHAIN", "NETWORK_FILTER", "HTTP_FILTER"] as const,
    ...["ROUTE_CONFIGURATION", "VIRTUAL_HOST", "HTTP_ROUTE"] as const,
  ],
  [ROUTE]: ["ROUTE_CONFIGURATION", "VIRTUAL_HOST", "HTTP_ROUTE"],
  [VIRTUAL_HOST]: ["VIRTUAL_HOST", "HTTP_ROUTE"],
};

/** Filters, by whether a resource may be served without them. */
export interface Suspects {
  /** Filters that refuse nothing, the most suspicious first. */
  readonly harmless: readonly string[];
  /** Filters that may refuse requests. A resource is never served without a guard. */
  readonly guards: readonly string[];
}

/** The patches of some filters, by key, that change resources of a type. */
export function patchesOfType(mesh: Mesh, typeUrl: string, filters: readonly string[]): readonly CompiledPatch[] {
  return filters.flatMap((key) => mesh.proxyFilters.get(key) ?? [])
    .flatMap((filter) => compileFilter(filter).patches)
    .filter(({ applyTo }) => OF_TYPE[typeUrl]?.includes(applyTo));
}

/**
 * Sorts filters. Filters in a namespace that the message names come first, then recently changed filters.
 *
 * @param message The proxy's words.
 * @param changedIn The push in which an object last changed.
 */
export function suspects(
  mesh: Mesh,
  typeUrl: string,
  filters: readonly string[],
  message: string,
  changedIn: (key: string) => number,
): Suspects {
  const guards = new Set(patchesOfType(mesh, typeUrl, filters).filter(mayRefuse).map(({ filter }) => filter));
  const words = new Set(message.split(/[^A-Za-z0-9-]+/));
  const isNamed = (key: string) => words.has(key.split("/")[1] ?? "") ? 1 : 0;
  const made = (key: string) => mesh.proxyFilters.get(key)?.meta.creationTimestamp || 0;
  const harmless = filters.filter((key) => !guards.has(key)).sort((a, b) =>
    isNamed(b) - isNamed(a) || changedIn(b) - changedIn(a) || made(b) - made(a) || (a < b ? 1 : -1)
  );
  return { harmless, guards: [...guards] };
}
