/**
 * The facts about an orchestrator's services and their endpoints.
 *
 * @module
 */

/** A family of addresses, in the spelling of Services. */
export type IpFamily = "IPv4" | "IPv6";

/** A port of an orchestrator's service. */
export interface ServicePortData {
  /** Empty if the only port has no name. */
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
  /** Virtual addresses; `None` for a headless service; empty in a manifest without addresses. */
  readonly clusterIPs: readonly string[];
  /**
   * Families of the addresses that the manifest asks an orchestrator for, the main family first; absent: addresses are
   * written, or the manifest asks for one address of the cluster's own family. A headless service has the families of
   * its endpoints.
   */
  readonly families?: readonly IpFamily[];
  readonly externalIPs: readonly string[];
  readonly externalName?: string;
  /** Labels of pods, in our spelling. Empty: others write the endpoints. */
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly ServicePortData[];
  /** Addresses of the load balancer in front of the service: IPs and host names. */
  readonly loadBalancers: readonly string[];
  /** The service's name also resolves to endpoints that are not ready; absent: only to ready endpoints. */
  readonly publishNotReadyAddresses?: true;
  /** `PreferClose`, `PreferSameZone`, `PreferSameNode`, as written. */
  readonly trafficDistribution?: string;
  /** `Local`: clients get only endpoints of their own node; absent: `Cluster`. */
  readonly internalTrafficPolicy?: string;
}

/** A port of endpoints. */
export interface EndpointPortData {
  /** The name of the service's port; empty: no name. */
  readonly name: string;
  /** Absent in a slice for all ports. */
  readonly port?: number;
  /** `TCP` (the default), `UDP` or `SCTP`. */
  readonly protocol: string;
  readonly appProtocol?: string;
}

export interface EndpointData {
  /** IP addresses, or the single host name in a slice of host names. Never empty. */
  readonly addresses: readonly string[];
  readonly ready: boolean;
  /** Whether the endpoint answers, ending or not; absent: not written. */
  readonly serving?: boolean;
  /** Whether the endpoint is ending; absent: not written. */
  readonly terminating?: boolean;
  readonly nodeName?: string;
  readonly zone?: string;
  /** Name of the endpoint's pod, in the namespace of the endpoints. */
  readonly pod?: string;
}

/** Endpoints with the same ports. */
export interface EndpointSubsetData {
  readonly endpoints: readonly EndpointData[];
  readonly ports: readonly EndpointPortData[];
}

/** Endpoints of the service of the same name: kind `Endpoints`. */
export interface EndpointsData {
  readonly subsets: readonly EndpointSubsetData[];
}

/** The service of this name is exported to all clusters of the set: kind `ServiceExport`. Only the name matters. */
export type ServiceExportData = Readonly<Record<never, never>>;

/** One cluster's view of a service of the set of clusters: kind `ServiceImport`. */
export interface ServiceImportData {
  /** Addresses for clients in this cluster, sorted; empty: headless, or none yet. */
  readonly ips: readonly string[];
}

/** Some endpoints of a service: kind `EndpointSlice`. */
export interface EndpointSliceData extends EndpointSubsetData {
  /** Name of the service, from the label `kubernetes.io/service-name`; empty: no service. */
  readonly service: string;
  /** `IPv4`, `IPv6` or `FQDN`. */
  readonly addressType: string;
}
