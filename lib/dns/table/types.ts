/**
 * The name table as plain data: what the control plane sends (`istio.networking.nds.v1.NameTable`), field by field.
 *
 * @module
 */

/** Name of the message; a type URL has `type.googleapis.com/` before it. */
export const NAME_TABLE_MESSAGE = "istio.networking.nds.v1.NameTable";

/** One host of the table. */
export interface NameInfo {
  /** Addresses of both families; other texts (ranges, for example) are left out. */
  readonly ips: readonly string[];
  /** The registry of the host; the orchestrator's services carry one of {@link ORCHESTRATOR_REGISTRIES}. */
  readonly registry?: string;
  /** Name of the orchestrator's service; only with its registry. */
  readonly shortname?: string;
  /** Its namespace; only with its registry. */
  readonly namespace?: string;
  /** Further names of it, complete ones; only with its registry. */
  readonly altHosts?: readonly string[];
}

/** Hosts by name; a wildcard starts with `*.`. */
export type NameTable = Readonly<Record<string, NameInfo>>;

/** Values of `registry` that mean a service of the orchestrator: Istio's word on the wire, and ours. */
export const ORCHESTRATOR_REGISTRIES: ReadonlySet<string> = new Set(["Kubernetes", "orch"]);

/** The surroundings of the workload that asks, by which names are resolved. */
export interface Locality {
  /** Namespace of the workload: services of it answer to their short names. */
  readonly namespace: string;
  /** Domain of the workload, such as `ns1.svc.cluster.local` or `svc.cluster.local`; empty: none. */
  readonly domain: string;
  /** Search domains of the workload's resolver, first one first. */
  readonly search: readonly string[];
}

/** Something in a table that was left out. */
export interface TableFinding {
  readonly host: string;
  readonly message: string;
}
