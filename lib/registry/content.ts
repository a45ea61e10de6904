/**
 * Equality of reports by content, so that a repeated report changes nothing.
 *
 * @module
 */
import { sameEntries } from "../config/schema/same_entries.ts";
import type { Labels } from "./labels.ts";
import type { Endpoint, Workload } from "./types.ts";

/** Whether two plain values (objects, arrays, primitives) are equal; an undefined field equals a missing field. */
export function samePlain(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    return Number.isNaN(a) && Number.isNaN(b);
  }
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  let count = 0;
  for (const key in left) {
    if (left[key] === undefined) continue;
    count++;
    if (!samePlain(left[key], right[key])) return false;
  }
  for (const key in right) if (right[key] !== undefined) count--;
  return count === 0;
}

/** Whether two endpoints are equal. Hot: spelled out instead of `samePlain`. */
export function sameEndpoint(a: Endpoint, b: Endpoint): boolean {
  return a === b ||
    (a.address === b.address && a.port === b.port && a.portName === b.portName && a.health === b.health &&
      a.weight === b.weight && a.locality === b.locality && a.network === b.network && a.clusterId === b.clusterId &&
      a.serviceAccount === b.serviceAccount && a.namespace === b.namespace && a.workloadName === b.workloadName &&
      a.tlsMode === b.tlsMode && a.hostname === b.hostname && a.subdomain === b.subdomain &&
      a.nodeName === b.nodeName && a.isCaptured === b.isCaptured && a.ownClusterOnly === b.ownClusterOnly &&
      samePlain(a.additionalAddresses, b.additionalAddresses) &&
      sameLabels(a.labels, b.labels));
}

/** Whether two workloads are equal. */
export function sameWorkload(a: Workload, b: Workload): boolean {
  return a === b ||
    (a.id === b.id && a.name === b.name && a.namespace === b.namespace && a.kind === b.kind && a.health === b.health &&
      a.serviceAccount === b.serviceAccount && a.locality === b.locality && a.network === b.network &&
      a.clusterId === b.clusterId && a.weight === b.weight && a.tlsMode === b.tlsMode &&
      a.isCaptured === b.isCaptured && a.sharesNode === b.sharesNode && samePlain(a.addresses, b.addresses) &&
      sameLabels(a.labels, b.labels) &&
      samePlain(a.ports, b.ports) &&
      samePlain(a.serves, b.serves));
}

/** Whether two lists hold equal endpoints in the same order. */
export function sameEndpoints(a: readonly Endpoint[], b: readonly Endpoint[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!sameEndpoint(a[i]!, b[i]!)) return false;
  return true;
}

/** Whether two sets of labels are equal. */
export function sameLabels(a: Labels, b: Labels): boolean {
  return a === b || sameEntries(a, b);
}
