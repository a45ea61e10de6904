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

/** The change of a status that assigns the wanted addresses; undefined: the status already assigns them. */
export function assignedChange(desired: readonly AssignedAddress[], present: ApiJson): ApiJson | undefined {
  if (sameAssigned(desired, readAssigned(present))) return undefined;
  return { addresses: desired.map(({ host, value }) => ({ value, host })) };
}
