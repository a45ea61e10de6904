/**
 * The name table as plain data: the control plane's message (`istio.networking.nds.v1.NameTable`), field by field.
 *
 * @module
 */

/** Name of the message. A type URL has the prefix `type.googleapis.com/`. */
export const NAME_TABLE_MESSAGE = "istio.networking.nds.v1.NameTable";

/** A host of the table. */
export interface NameInfo {
  /** Addresses of both families; other texts (ranges, for example) are left out. */
  readonly ips: readonly string[];
  /** The registry of the host. The orchestrator's services have one of {@link ORCHESTRATOR_REGISTRIES}. */
  readonly registry?: string;
  /** Name of the orchestrator's service. Only with the orchestrator's registry. */
  readonly shortname?: string;
  /** Namespace of the service. Only with the orchestrator's registry. */
  readonly namespace?: string;
  /** Further complete names of the service. Only with the orchestrator's registry. */
  readonly altHosts?: readonly string[];
}

/** Hosts by name; a wildcard starts with `*.`. */
export type NameTable = Readonly<Record<string, NameInfo>>;

/** Values of `registry` for services of the orchestrator: Istio's word on the wire, and ours. */
export const ORCHESTRATOR_REGISTRIES: ReadonlySet<string> = new Set(["Kubernetes", "orch"]);

/** The workload's part in resolving names. */
export interface Locality {
  /** Namespace of the workload. Services of this namespace have short names. */
  readonly namespace: string;
  /** Domain of the workload, such as `ns1.svc.cluster.local` or `svc.cluster.local`; empty: none. */
  readonly domain: string;
  /** Search domains of the workload's resolver, in order. */
  readonly search: readonly string[];
}

/** A left-out entry of a table. */
export interface TableFinding {
  readonly host: string;
  readonly message: string;
}
