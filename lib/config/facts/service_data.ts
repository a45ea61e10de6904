/**
 * The facts about an orchestrator's services and the endpoints behind them.
 *
 * @module
 */

/** A family of addresses, as Services write it. */
export type IpFamily = "IPv4" | "IPv6";

/** A port of an orchestrator's service. */
export interface ServicePortData {
  /** Empty where the only port has no name. */
  readonly name: string;
  readonly port: number;
  /** `TCP` (the default), `UDP` or `SCTP`. */
  readonly protocol: string;
  readonly appProtocol?: string;
  /** Number or name of the port of the workloads; absent: `port`. */
  readonly targetPort?: number | string;
  readonly nodePort?: number;
}

/** A service of the orchestrator. */
export interface ServiceData {
  /** `ClusterIP` (the default), `NodePort`, `LoadBalancer` or `ExternalName`. */
  readonly type: string;
  /** Virtual addresses; `None` for a headless service; empty where a manifest leaves them to the orchestrator. */
  readonly clusterIPs: readonly string[];
  /**
   * Families of the addresses that the manifest asks an orchestrator for, the main one first; absent: it asks for one
   * address of the cluster's own family, or the addresses are written.
   */
  readonly families?: readonly IpFamily[];
  readonly externalIPs: readonly string[];
  readonly externalName?: string;
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly ServicePortData[];
  /** Addresses of the load balancer in front of it: IPs and host names. */
  readonly loadBalancers: readonly string[];
  /** Its name resolves to endpoints that are not ready as well; absent: it does not. */
  readonly publishNotReadyAddresses?: true;
  /** `PreferClose`, `PreferSameZone`, `PreferSameNode`, as it is written. */
  readonly trafficDistribution?: string;
  /** `Local`: clients get endpoints of their own node alone; absent: `Cluster`. */
  readonly internalTrafficPolicy?: string;
}

/** A port of endpoints. */
export interface EndpointPortData {
  /** As that of the service's port; empty where it has none. */
  readonly name: string;
  /** Absent in a slice for all ports. */
  readonly port?: number;
  /** `TCP` (the default), `UDP` or `SCTP`. */
  readonly protocol: string;
  readonly appProtocol?: string;
}

export interface EndpointData {
  /** IP addresses, or the one host name of a slice of host names. Never empty. */
  readonly addresses: readonly string[];
  readonly ready: boolean;
  /** Whether it answers, ending or not; absent where it is not written. */
  readonly serving?: boolean;
  /** Whether it is ending; absent where it is not written. */
  readonly terminating?: boolean;
  readonly nodeName?: string;
  readonly zone?: string;
  /** Name of its pod, in the namespace of the endpoints. */
  readonly pod?: string;
}

/** Endpoints that have the same ports. */
export interface EndpointSubsetData {
  readonly endpoints: readonly EndpointData[];
  readonly ports: readonly EndpointPortData[];
}

/** Endpoints of the service of the same name: kind `Endpoints`. */
export interface EndpointsData {
  readonly subsets: readonly EndpointSubsetData[];
}

/** The service of its name is for all clusters of the set: kind `ServiceExport`; all that matters of it is its name. */
export type ServiceExportData = Readonly<Record<never, never>>;

/** A service of the set of clusters as one of them sees it: kind `ServiceImport`. */
export interface ServiceImportData {
  /** Addresses at which its workloads dial it, sorted; empty: it is headless, or has none yet. */
  readonly ips: readonly string[];
}

/** Some endpoints of a service: kind `EndpointSlice`. */
export interface EndpointSliceData extends EndpointSubsetData {
  /** Name of the service, from the label `kubernetes.io/service-name`; empty: of none. */
  readonly service: string;
  /** `IPv4`, `IPv6` or `FQDN`. */
  readonly addressType: string;
}
