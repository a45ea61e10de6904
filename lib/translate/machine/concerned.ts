/**
 * The proxies that a change of objects that select workloads concerns.
 *
 * @module
 */
import type { AffectedKeys } from "../../mesh/mesh.ts";
import type { Proxy } from "../proxy/node.ts";

/** Namespaces whose workloads other objects of the kinds may be for that shared results depend on; `*`: all. */
export function concernedByKind({ telemetry, extensions, patches }: AffectedKeys): ReadonlySet<string> {
  return telemetry.union(extensions).union(patches);
}

/** Namespaces whose workloads other objects may be for that per-proxy resources depend on; `*`: all. */
export function concernedByPolicies(affected: AffectedKeys): ReadonlySet<string> {
  const { peerTls, authorization, tokenPolicies } = affected;
  return new Set([...peerTls, ...authorization, ...tokenPolicies, ...concernedByKind(affected)]);
}

/** Whether a proxy is in one of some namespaces. @param namespaces `*`: all. */
export function isIn(namespaces: ReadonlySet<string>, { namespace }: Proxy): boolean {
  return namespaces.has("*") || namespaces.has(namespace);
}
