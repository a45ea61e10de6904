/**
 * Patches of clusters.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import type { ClusterMatch } from "../config/kinds/proxy_filter/schema.ts";
import { mergedUnderName } from "../pb/merge.ts";
import { attempted } from "./attempt.ts";
import { PATCHED_MESSAGE } from "./messages.ts";
import { mergedSocket } from "./transport_socket.ts";
import { type CompiledPatch, isFor, type PatchContext, type ReportPatch } from "./types.ts";

type Cluster = envoy.config.cluster.v3.Cluster;

/** The purpose of a cluster. */
export interface PatchedCluster {
  readonly context: PatchContext;
  /** Service hosts of an inbound cluster, which are not in the cluster's name. */
  readonly hosts: readonly string[];
}

/**
 * A cluster with matching patches applied.
 *
 * @param patches All patches of a proxy. Patches of other targets are skipped.
 * @returns The same object if no patch matches. Undefined for a removed cluster.
 */
export function patchCluster(
  cluster: Cluster,
  patches: readonly CompiledPatch[],
  of: PatchedCluster,
  report: ReportPatch,
): Cluster | undefined {
  let now = cluster;
  for (const patch of patches) {
    if (patch.applyTo !== "CLUSTER" || !isFor(patch, of.context)) continue;
    const { operation } = patch;
    if ((operation !== "MERGE" && operation !== "REMOVE") || !matches(now, patch.cluster, of)) continue;
    if (operation === "REMOVE") {
      report({ patch });
      return undefined;
    }
    now = attempted(patch, now, report, (before) => mergedCluster(before, patch.value as Cluster));
  }
  return now;
}

/**
 * If the match has a name, only the name counts. The other conditions match parts of the cluster's name:
 * `outbound|80|v1|reviews.default`.
 */
function matches({ name = "" }: Cluster, match: ClusterMatch | undefined, of: PatchedCluster): boolean {
  if (match === undefined) return true;
  if (match.name) return match.name === name;
  const [direction = "", port = "", subset = "", host = ""] = nameParts(name);
  const hosts = direction === "inbound" && of.hosts.length > 0 ? of.hosts : [host];
  return (!match.subset || match.subset === subsetOf(direction, subset)) &&
    (!match.service || hosts.includes(match.service)) &&
    (!match.portNumber || match.portNumber === Number(port));
}

/** At waypoints a subset comes after the form of the traffic: `inbound-vip|80|http/v1|reviews.default`. */
function subsetOf(direction: string, part: string): string {
  return direction === "inbound-vip" ? part.split("/").slice(1).join("/") : part;
}

/** Clusters of passed-through connections at gateways have another separator: `outbound_.80_.v1_.reviews.default`. */
function nameParts(name: string): string[] {
  return name.startsWith("outbound_.") ? name.split("_.") : name.split("|");
}

function mergedCluster(cluster: Cluster, patch: Cluster): Cluster {
  const { transport_socket: wanted } = patch;
  if (wanted === undefined) return mergedUnderName(PATCHED_MESSAGE.CLUSTER, { ...cluster }, { ...patch }) as Cluster;
  const { transport_socket: own, transport_socket_matches: matches = [] } = cluster;
  if (matches.length > 0) {
    // Envoy would refuse a socket beside `transport_socket_matches`, so a socket with a new name has no effect.
    const at = matches.findIndex(({ transport_socket }) => transport_socket?.name === wanted.name);
    if (at < 0) return cluster;
    const one = matches[at]!;
    const socket = mergedSocket(one.transport_socket!, wanted);
    return { ...cluster, transport_socket_matches: matches.with(at, { ...one, transport_socket: socket }) };
  }
  return { ...cluster, transport_socket: own?.name === wanted.name ? mergedSocket(own!, wanted) : wanted };
}
