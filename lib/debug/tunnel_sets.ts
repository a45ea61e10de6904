/**
 * The resources of node tunnels, as pages and explanations read them.
 *
 * @module
 */
import type { EncodedResource } from "../resource/encoded.ts";
import type { ResourceSet } from "../resource/set.ts";

/** The resources of node tunnels. */
export interface TunnelSets {
  /** All resources of a type; undefined: tunnels do not get the type. */
  sets(typeUrl: string): readonly ResourceSet[] | undefined;
}

/** The resources with the settings behind them. */
export interface ServedTunnels extends TunnelSets {
  /** The first part of the names of pods. */
  readonly clusterId: string;
  /** `MESH_WAYPOINT_FAIL_OPEN` */
  readonly opensWithoutWaypoint: boolean;
}

/**
 * Finds resources that may hold a name: false is certain. Looking for the bytes of a name costs far less than decoding,
 * and a mesh has tens of thousands of workloads.
 */
export function mayHold(name: string): (resource: Pick<EncodedResource, "value">) => boolean {
  const wanted = new TextEncoder().encode(name);
  return ({ value }) => holds(value, wanted);
}

/** A loop of its own: views for Buffer cost more than the search. */
function holds(value: Uint8Array, wanted: Uint8Array): boolean {
  const first = wanted[0] ?? 0;
  const end = value.length - wanted.length;
  for (let at = value.indexOf(first); at >= 0 && at <= end; at = value.indexOf(first, at + 1)) {
    let same = 1;
    while (same < wanted.length && value[at + same] === wanted[same]) same++;
    if (same >= wanted.length) return true;
  }
  return false;
}
