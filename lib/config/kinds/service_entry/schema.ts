/**
 * ServiceEntry: a service outside of all registries.
 *
 * @module
 */
import { list } from "../../schema/containers.ts";
import { required, withDefault } from "../../schema/field.ts";
import { message, type Of } from "../../schema/message.ts";
import { enumOf, string, uint32 } from "../../schema/scalars.ts";
import { labelsSelector } from "../common/schema.ts";
import type { InternalServiceEntry } from "./internal.ts";
import { workloadEntry } from "../workload_entry/schema.ts";

const serviceEntryPort = message({
  /** Number of the port, 1 to 65535. */
  number: required(uint32(), "a port number, 1..65535"),
  /** HTTP, HTTPS, GRPC, HTTP2, MONGO, TCP, TLS as written; absent: sniffed. */
  protocol: string(),
  /** Name of the port, unique in the service. */
  name: required(string(), "the name of the port"),
  /** Port of the endpoints; absent: `number`. */
  targetPort: uint32(),
});

/** Port of a service. */
export interface ServiceEntryPort extends Of<typeof serviceEntryPort> {}

export const serviceEntry = message({
  /** Names of the service, fully qualified: short names are not allowed. */
  hosts: required(list(string()), "at least one host"),
  /** Virtual IPs or CIDRs. */
  addresses: list(string()),
  /** Ports of the service. */
  ports: list(serviceEntryPort),
  /** Default MESH_EXTERNAL. */
  location: withDefault(enumOf("MESH_EXTERNAL", "MESH_INTERNAL"), "MESH_EXTERNAL"),
  /** Default NONE. */
  resolution: withDefault(enumOf("NONE", "STATIC", "DNS", "DNS_ROUND_ROBIN", "DYNAMIC_DNS"), "NONE"),
  /** The endpoints of the service. */
  endpoints: list(workloadEntry),
  /** Workloads (entries, pods) in the object's namespace; excludes `endpoints`. */
  workloadSelector: labelsSelector,
  /** Namespaces that see the service: `*`, `.` (own), `~` (none), names; absent: the mesh's default. */
  exportTo: list(string()),
  /** Accepted names in a server's certificate. */
  subjectAltNames: list(string()),
});

/** Spec of a ServiceEntry. */
export interface ServiceEntrySpec extends Of<typeof serviceEntry> {
  /** Only of derived ServiceEntries. */
  readonly internal?: InternalServiceEntry;
}

/** How endpoints are found. */
export type ServiceResolution = ServiceEntrySpec["resolution"];
