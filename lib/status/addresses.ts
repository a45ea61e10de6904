/**
 * The addresses in the status of a service entry.
 *
 * @module
 */
import { type AssignedAddress, readAssigned } from "../config/kinds/assigned_addresses.ts";
import type { ApiJson } from "../orch/client/answer.ts";

/** Whether two lists assign the same addresses to the same hosts, in any order. */
export function sameAssigned(
  a: readonly AssignedAddress[] | undefined = [],
  b: readonly AssignedAddress[] | undefined = [],
): boolean {
  const rows = (list: readonly AssignedAddress[]) => list.map(({ host, value }) => `${host.toLowerCase()} ${value}`);
  const [left, right] = [new Set(rows(a)), new Set(rows(b))];
  return left.size === right.size && left.isSubsetOf(right);
}

/**
 * The addresses that this control plane assigns. It assigns no address to a wildcard host, but Istio's does: the two
 * would undo each other's writes for ever.
 */
export function ownAssigned(assigned: readonly AssignedAddress[] = []): readonly AssignedAddress[] {
  return assigned.filter(({ host }) => !isWildcard(host));
}

/** The change of a status that assigns the wanted addresses; undefined: the status already assigns them. */
export function assignedChange(desired: readonly AssignedAddress[], present: ApiJson): ApiJson | undefined {
  const assigned = readAssigned(present) ?? [];
  if (sameAssigned(desired, ownAssigned(assigned))) return undefined;
  const others = assigned.filter(({ host }) => isWildcard(host));
  return { addresses: [...desired, ...others].map(({ host, value }) => ({ value, host })) };
}

function isWildcard(host: string): boolean {
  return host.startsWith("*");
}
