/**
 * ServiceEntry: a service that no registry knows.
 *
 * @module
 */
import type { LabelsSelector } from "../common/types.ts";
import type { WorkloadEntrySpec } from "../workload_entry/types.ts";

/** Spec of a ServiceEntry. */
export interface ServiceEntrySpec {
  /** Names of the service; short ones are no host names here. */
  readonly hosts: readonly string[];
  /** Virtual IPs or CIDRs. */
  readonly addresses?: readonly string[];
  /** Ports of the service. */
  readonly ports?: readonly ServiceEntryPort[];
  /** Default MESH_EXTERNAL. */
  readonly location: "MESH_EXTERNAL" | "MESH_INTERNAL";
  /** Default NONE. */
  readonly resolution: ServiceResolution;
  /** The endpoints of the service. */
  readonly endpoints?: readonly WorkloadEntrySpec[];
  /** Workloads (entries, pods) in the object's namespace; excludes `endpoints`. */
  readonly workloadSelector?: LabelsSelector;
  /** Namespaces that see it: `*`, `.` (own), `~` (none), names; absent: the mesh's default. */
  readonly exportTo?: readonly string[];
  /** Names of which a server's certificate must have one. */
  readonly subjectAltNames?: readonly string[];
}

/** How endpoints are found. */
export type ServiceResolution = "NONE" | "STATIC" | "DNS" | "DNS_ROUND_ROBIN" | "DYNAMIC_DNS";

/** Port of a service. */
export interface ServiceEntryPort {
  /** Number of the port, 1 to 65535. */
  readonly number: number;
  /** HTTP, HTTPS, GRPC, HTTP2, MONGO, TCP, TLS as written; absent: sniffed. */
  readonly protocol?: string;
  /** Name of the port, unique in the service. */
  readonly name: string;
  /** Port of the endpoints; absent: `number`. */
  readonly targetPort?: number;
}
