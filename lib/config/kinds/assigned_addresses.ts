/**
 * The addresses that a control plane has written into the status of a service entry: `status.addresses`, each with its
 * `host` and its `value`, as Istio writes them too.
 *
 * @module
 */
import * as z from "zod";

/** An address that was assigned to a host of a service entry. */
export interface AssignedAddress {
  readonly host: string;
  /** As it is written; an IP address when a control plane wrote it. */
  readonly value: string;
}

/** Most rows that are read: a service entry has at most 256 hosts, each with an address of both families. */
const MOST_ROWS = 1024;

const row = z.object({ host: z.string().min(1).max(253), value: z.string().min(1).max(64) });
const status = z.object({ addresses: z.array(z.unknown()) });

/** The rows of a status; those of another shape are left out, as no user can mend them. Undefined: there are none. */
export function readAssigned(tree: unknown): readonly AssignedAddress[] | undefined {
  const found = status.safeParse(tree);
  if (!found.success) return undefined;
  const rows = found.data.addresses.slice(0, MOST_ROWS).flatMap((one) => row.safeParse(one).data ?? []);
  return rows.length === 0 ? undefined : rows;
}
