/**
 * Services, their ports and the endpoints behind them, in the form of all registries' reports.
 *
 * Plain immutable data. A changed service is a new object, so identity (`===`) answers "did the service change?".
 *
 * @module
 */

/**
 * Application protocol of a port. `Unsupported` means not declared: the proxy sniffs the protocol. Derived from the
 * port's protocol, `appProtocol` or name prefix, in this order.
 */
export type Protocol =
  | "HTTP"
  | "HTTP2"
  | "GRPC"
  | "GRPC-Web"
  | "HTTPS"
  | "HTTP_PROXY"
  | "TCP"
  | "TLS"
  | "UDP"
  | "Mongo"
  | "MySQL"
  | "Redis"
  | "Unsupported";

/** A port of a service. */
export interface ServicePort {
  readonly name: string;
  /** The port for clients, 1-65535. */
  readonly port: number;
  /** The port at the workload if all endpoints have the same port; each endpoint carries its own number anyway. */
  readonly targetPort?: number;
  readonly protocol: Protocol;
  /** How the port's endpoints are found; absent: as the service's endpoints. Ask {@linkcode resolutionOf}. */
  readonly resolution?: Resolution;
  /** Key of the object that adds the port; absent: the object that defines the service. Ask {@linkcode portCauses}. */
  readonly cause?: string;
}

/**
 * How endpoints of a service are found.
 * - `static`: from the registry, over EDS.
 * - `dns`: the proxy resolves names; each address is an endpoint (STRICT_DNS).
 * - `dnsRoundRobin`: the proxy resolves one name, any address of the answer (LOGICAL_DNS).
 * - `dynamicDns`: the proxy resolves the host in the request (wildcard hosts).
 * - `passthrough`: the address dialled by the client (ORIGINAL_DST).
 */
export type Resolution = "static" | "dns" | "dnsRoundRobin" | "dynamicDns" | "passthrough";

/** How the endpoints of a service's port are found. */
export function resolutionOf(
  service: { readonly resolution: Resolution },
  port: { readonly resolution?: Resolution } | undefined,
): Resolution {
  return port?.resolution ?? service.resolution;
}

/** The kind of source that reported a service. Orchestrator services win over entries of the same host. */
export type Provider = "Orch" | "External" | "Mock";

/** A service: a host name with ports. The endpoint index holds the service's endpoints. */
export interface Service {
  /** Fully qualified host, lower case: `reviews.default.svc.cluster.local`, `api.example.com`, `*.example.com`. */
  readonly hostname: string;
  readonly namespace: string;
  /** Name of the defining object. */
  readonly name: string;
  readonly provider: Provider;
  readonly ports: readonly ServicePort[];
  /** Virtual addresses (IP or CIDR) for clients. Empty: none (headless or name only). */
  readonly addresses: readonly string[];
  /**
   * The service has addresses of both families, and proxies use the addresses of one family: the platform would give
   * addresses of one family, but the object does not say which. Default: proxies use all addresses.
   */
  readonly oneFamily?: true;
  /** Virtual addresses by cluster, if they differ; a proxy uses the addresses of its cluster. */
  readonly clusterAddresses?: Readonly<Record<string, readonly string[]>>;
  /** Addresses allocated by the control plane, used only by proxies that capture DNS. */
  readonly autoAllocatedAddresses?: readonly string[];
  readonly resolution: Resolution;
  /** Outside the mesh: no mutual TLS, no mesh telemetry identity. */
  readonly meshExternal: boolean;
  /** Namespaces that see the service: `*`, `.` (own), `~` (none), or names. Empty: the mesh-wide default. */
  readonly exportTo: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** Identities that the endpoints may show, beside the identities of the endpoints' service accounts. */
  readonly subjectAltNames: readonly string[];
  /** No virtual address by intent: clients dial endpoints. */
  readonly headless: boolean;
  /** Only routes lead to the service: clients have no listener, virtual host or name for the service. Default: false. */
  readonly routesOnly?: true;
  /** Target of a DNS alias service; the service's host is an alternative name of the target. */
  readonly externalName?: string;
  /** Clients prefer endpoints of their own cluster or locality (`internalTrafficPolicy`, `trafficDistribution`). */
  readonly trafficDistribution?: "any" | "preferSameZone" | "preferSameNode";
  readonly nodeLocal?: boolean;
  /**
   * The service is another name, with other addresses, for the service with this key. Everything but name and addresses
   * comes from the other service. If no source has the other service, this service does not exist either.
   */
  readonly importOf?: ServiceKey;
  /** A program picks the endpoint of each request to the service. Default: the proxy picks. */
  readonly picked?: true;
  /** The service's name also resolves to endpoints that are not ready. Default: false. */
  readonly publishNotReadyAddresses?: boolean;
  /** Creation time, ms since the epoch; of two clashing services the older wins. */
  readonly creationTimestamp: number;
  /**
   * Key of the defining config object (`ServiceEntry/ns/name`); registries without config objects use
   * `Service/ns/name`.
   */
  readonly cause: string;
  /** Keys of further objects merged into the service (several entries of the same host), in order of age. */
  readonly otherCauses?: readonly string[];
}

/**
 * Keys of the objects behind a port of a service: first the object that adds the port, then the service's own object.
 */
export function portCauses(
  service: Pick<Service, "cause">,
  port: Pick<ServicePort, "cause"> | undefined,
): readonly string[] {
  return port?.cause === undefined ? [service.cause] : [port.cause, service.cause];
}

/** Identity of a service in the mesh: several namespaces may define the same host. */
export type ServiceKey = `${string}/${string}`;

/** `namespace/hostname`. */
export function serviceKey(service: { readonly namespace: string; readonly hostname: string }): ServiceKey {
  return `${service.namespace}/${service.hostname}`;
}

/** Health in the registry. `draining`: finish open requests, take no new requests. */
export type Health = "healthy" | "unhealthy" | "draining";

/** An address and port behind a port of a service. */
export interface Endpoint {
  /**
   * IP address (canonical, see `canonicalIp`), DNS name (for `dns` resolutions), or absolute path with `unix://`.
   * Empty: only the gateway of the endpoint's network leads to the endpoint.
   */
  readonly address: string;
  /** Further addresses of the same workload (the other IP family); sent only with dual-stack. */
  readonly additionalAddresses?: readonly string[];
  /** Port at the workload; 0 for a Unix socket. */
  readonly port: number;
  /** Name of the endpoint's service port. */
  readonly portName: string;
  readonly labels: Readonly<Record<string, string>>;
  /** `region/zone/subzone`, or empty. */
  readonly locality: string;
  readonly network: string;
  readonly clusterId: string;
  /** Relative weight; 0 counts as 1. */
  readonly weight: number;
  readonly health: Health;
  readonly serviceAccount: string;
  readonly namespace: string;
  readonly workloadName: string;
  /** Whether the endpoint accepts mutual TLS of the mesh (`security.mesh.io/tlsMode=mesh`). */
  readonly tlsMode: "mesh" | "disabled";
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly nodeName?: string;
  /** The tunnel of the endpoint's node takes its connections, so that the endpoint is reached by HBONE. */
  readonly isCaptured?: true;
  /** Only clients of the endpoint's own cluster may use the endpoint: the service is not exported from the cluster. */
  readonly ownClusterOnly?: true;
}

/** A port of a workload behind a port of a service. */
export interface ServedPort {
  readonly service: ServiceKey;
  readonly portName: string;
  /** Port at the workload. */
  readonly port: number;
}

/**
 * A workload (a pod, a workload entry). Services of another registry may select the workload, and the workload may have
 * a proxy.
 */
export interface Workload {
  /** Unique in its registry, for example `pod/ns/name`. */
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly kind: "pod" | "workloadEntry";
  readonly addresses: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly serviceAccount: string;
  readonly locality: string;
  readonly network: string;
  readonly clusterId: string;
  readonly weight: number;
  readonly health: Health;
  readonly ports: Readonly<Record<string, number>>;
  readonly tlsMode: "mesh" | "disabled";
  /** The tunnel of the pod's node takes its connections, so that the pod is reached by HBONE. */
  readonly isCaptured?: true;
  /** The workload has the address of its node (`hostNetwork`), so its address does not tell it from others. */
  readonly sharesNode?: true;
  /** Of a pod: the services that select the pod, even before the pod is among their endpoints. */
  readonly serves?: readonly ServedPort[];
}

/** An address and port of an entrance to a network. */
export interface NetworkEntrance {
  readonly network: string;
  /** IP address or host name. */
  readonly address: string;
  readonly port: number;
  /** The clusters of the gateway's service, sorted. The entrance leads to the workloads there. Absent: not known. */
  readonly clusterIds?: readonly string[];
  /**
   * The gateway takes connections by HBONE, and forwards the HBONE inside. Absent: the gateway passes mutual TLS on by
   * server name.
   */
  readonly hbone?: true;
}

/** A registry's knowledge of networks. */
export interface RegistryNetworks {
  /** Network of the cluster's workloads without a network label; empty: the addresses decide. */
  readonly network: string;
  /** The gateways among the registry's services. */
  readonly entrances: readonly NetworkEntrance[];
}

/** The receiver of a registry's reports. Calls are cheap: a call marks changes and rebuilds nothing. */
export interface RegistrySink {
  /** Services that appeared or changed, and keys of services that went. */
  services(upserted: readonly Service[], removed: readonly ServiceKey[]): void;
  /** The full list of a service's endpoints in a shard (`provider/cluster`); empty removes the shard. */
  endpoints(service: ServiceKey, shard: string, endpoints: readonly Endpoint[]): void;
  /** Workloads that appeared or changed, and ids of workloads that went. */
  workloads(upserted: readonly Workload[], removed: readonly string[]): void;
  /** The registry's whole knowledge of networks. A registry without such knowledge reports nothing. */
  networks(known: RegistryNetworks): void;
}

/** A source of services: service entries, the mock, an orchestrator, a remote cluster. */
export interface Registry {
  readonly provider: Provider;
  readonly clusterId: string;
  /** Begins to report. Resolves after a report of everything present. */
  start(sink: RegistrySink): Promise<void>;
  stop(): Promise<void>;
}
