/**
 * Services, their ports and the endpoints behind them, in the form in which every registry reports them.
 *
 * Plain immutable data. A changed service is a new object, so identity (`===`) answers "did it change?".
 *
 * @module
 */

/**
 * Application protocol of a port. `Unsupported` means that nothing declares it: the proxy sniffs it.
 * Derived from the port's protocol, `appProtocol` or name prefix, in that order.
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

/** One port of a service. */
export interface ServicePort {
  readonly name: string;
  /** The port that clients dial, 1-65535. */
  readonly port: number;
  /** The port at the workload when it is the same for all endpoints; each endpoint carries its own number anyway. */
  readonly targetPort?: number;
  readonly protocol: Protocol;
  /** How its endpoints are found; absent: as those of the service. Ask {@linkcode resolutionOf}. */
  readonly resolution?: Resolution;
  /** Key of the object that adds the port; absent: the object that defines the service. Ask {@linkcode portCauses}. */
  readonly cause?: string;
}

/**
 * How endpoints of a service are found.
 * - `static`: from the registry, over EDS.
 * - `dns`: the proxy resolves names; each address is an endpoint (STRICT_DNS).
 * - `dnsRoundRobin`: the proxy resolves one name, any address of the answer (LOGICAL_DNS).
 * - `dynamicDns`: the proxy resolves the host that the request names (wildcard hosts).
 * - `passthrough`: the address that the client dialled (ORIGINAL_DST).
 */
export type Resolution = "static" | "dns" | "dnsRoundRobin" | "dynamicDns" | "passthrough";

/** How the endpoints of one port of a service are found. */
export function resolutionOf(
  service: { readonly resolution: Resolution },
  port: { readonly resolution?: Resolution } | undefined,
): Resolution {
  return port?.resolution ?? service.resolution;
}

/** The kind of source that reported a service. Orchestrator services win over entries of the same host. */
export type Provider = "Orch" | "External" | "Mock";

/** A service: a host name with ports. Its endpoints live in the endpoint index, not here. */
export interface Service {
  /** Fully qualified host, lower case: `reviews.default.svc.cluster.local`, `api.example.com`, `*.example.com`. */
  readonly hostname: string;
  readonly namespace: string;
  /** Name of the object that defines it. */
  readonly name: string;
  readonly provider: Provider;
  readonly ports: readonly ServicePort[];
  /** Virtual addresses (IP or CIDR) that clients may dial. Empty: none (headless or name only). */
  readonly addresses: readonly string[];
  /**
   * Its addresses are of both families because nothing says which one its platform would choose: a proxy uses those of
   * one family. Default: all of its addresses are its own.
   */
  readonly oneFamily?: true;
  /** Virtual addresses by cluster where they differ; a proxy of that cluster uses these. */
  readonly clusterAddresses?: Readonly<Record<string, readonly string[]>>;
  /** Addresses allocated by the control plane, used only by proxies that capture DNS. */
  readonly autoAllocatedAddresses?: readonly string[];
  readonly resolution: Resolution;
  /** Outside the mesh: no mutual TLS, no mesh telemetry identity. */
  readonly meshExternal: boolean;
  /** Namespaces that see it: `*`, `.` (own), `~` (none), or names. Empty: the mesh-wide default. */
  readonly exportTo: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** Identities that its endpoints may show, beside those of the endpoints' service accounts. */
  readonly subjectAltNames: readonly string[];
  /** No virtual address by intent: clients dial endpoints. */
  readonly headless: boolean;
  /** Target of a DNS alias service; the host itself is an alternative name of it. */
  readonly externalName?: string;
  /** Clients are to prefer endpoints of their own cluster or locality (`internalTrafficPolicy`, `trafficDistribution`). */
  readonly trafficDistribution?: "any" | "preferSameZone" | "preferSameNode";
  readonly nodeLocal?: boolean;
  /**
   * It stands for that service under another name, at other addresses: of what its source reports only name and addresses
   * count. Where no source has that service it is not there either.
   */
  readonly importOf?: ServiceKey;
  /** Its name resolves to endpoints that are not ready as well. Default: it does not. */
  readonly publishNotReadyAddresses?: boolean;
  /** Its creation time, ms since the epoch; the older of two that clash wins. */
  readonly creationTimestamp: number;
  /** Key of the config object that defines it (`ServiceEntry/ns/name`); registries without one use `Service/ns/name`. */
  readonly cause: string;
  /** Keys of further objects that were merged into it (several entries of one host), in order of age. */
  readonly otherCauses?: readonly string[];
}

/** Keys of the objects behind a port of a service: the object that adds the port first, then the service's own. */
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

/** Health as the registry knows it. `draining`: finish what is open, take nothing new. */
export type Health = "healthy" | "unhealthy" | "draining";

/** One address and port behind one port of a service. */
export interface Endpoint {
  /**
   * IP address (canonical, see `canonicalIp`), DNS name (for `dns` resolutions), or absolute path with `unix://`; empty:
   * it is reached through a gateway of its network alone.
   */
  readonly address: string;
  /** Further addresses of the same workload (its other IP family); sent only where dual-stack is on. */
  readonly additionalAddresses?: readonly string[];
  /** Port at the workload; 0 for a Unix socket. */
  readonly port: number;
  /** Name of the service port that it serves. */
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
  /** Whether it accepts mutual TLS of the mesh (`security.mesh.io/tlsMode=mesh`). */
  readonly tlsMode: "mesh" | "disabled";
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly nodeName?: string;
  /** Only clients of its own cluster may use it: its service is not exported from there. */
  readonly ownClusterOnly?: true;
}

/** All endpoints of one service, all ports, all shards together; a new object whenever one of them changes. */
export interface ServiceEndpoints {
  readonly list: readonly Endpoint[];
}

/** A port of a workload behind a port of a service. */
export interface ServedPort {
  readonly service: ServiceKey;
  readonly portName: string;
  /** Port at the workload. */
  readonly port: number;
}

/**
 * A workload that may be selected by services of another registry, and that a proxy may run beside
 * (a pod, a workload entry).
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
  /** Of a pod: the services that select it, whether or not they have it among their endpoints yet. */
  readonly serves?: readonly ServedPort[];
}

/** An address and port by which a network is entered. */
export interface NetworkEntrance {
  readonly network: string;
  /** IP address or host name. */
  readonly address: string;
  readonly port: number;
  /** Clusters whose service it is, sorted: the way to workloads there. Absent: not known. */
  readonly clusterIds?: readonly string[];
}

/** A registry's knowledge of networks. */
export interface RegistryNetworks {
  /** Network of workloads of its cluster that name none; empty: by their addresses. */
  readonly network: string;
  /** The gateways among its services. */
  readonly entrances: readonly NetworkEntrance[];
}

/** The receiver of a registry's reports. Calls are cheap: they mark what changed; nothing is rebuilt inside them. */
export interface RegistrySink {
  /** Services that appeared or changed, and keys of those that went. */
  services(upserted: readonly Service[], removed: readonly ServiceKey[]): void;
  /** The full list of one service's endpoints in one shard (`provider/cluster`); empty removes the shard. */
  endpoints(service: ServiceKey, shard: string, endpoints: readonly Endpoint[]): void;
  /** Workloads that appeared or changed, and ids of those that went. */
  workloads(upserted: readonly Workload[], removed: readonly string[]): void;
  /** All that the registry knows of networks; a registry that knows nothing reports nothing. */
  networks(known: RegistryNetworks): void;
}

/** A source of services: service entries, the mock, an orchestrator, a remote cluster. */
export interface Registry {
  readonly provider: Provider;
  readonly clusterId: string;
  /** Begins to report. Resolves when what exists now has been reported once. */
  start(sink: RegistrySink): Promise<void>;
  stop(): Promise<void>;
}
