/**
 * The addresses that a control plane wrote into the status of a service entry: `status.addresses`, each with `host` and
 * `value`. Istio writes the same form.
 *
 * @module
 */
import * as z from "zod";

/** An address assigned to a host of a service entry. */
export interface AssignedAddress {
  readonly host: string;
  /** As written; an IP address if a control plane wrote the value. */
  readonly value: string;
}

/**
 * Most rows to read. A service entry has at most 256 hosts, each with at most two addresses, so twice the needed rows.
 */
const MOST_ROWS = 1024;

const row = z.object({ host: z.string().min(1).max(253), value: z.string().min(1).max(64) });
const status = z.object({ addresses: z.array(z.unknown()) });

/**
 * The rows of a status, without malformed rows: a control plane writes the status, so a user could not correct the
 * rows. Undefined: no rows.
 */
export function readAssigned(tree: unknown): readonly AssignedAddress[] | undefined {
  const found = status.safeParse(tree);
  if (!found.success) return undefined;
  const rows = found.data.addresses.slice(0, MOST_ROWS).flatMap((one) => row.safeParse(one).data ?? []);
  return rows.length === 0 ? undefined : rows;
}
