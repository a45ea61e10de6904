/**
 * DestinationRule: the treatment of traffic whose destination host was chosen.
 *
 * @module
 */
import type {
  ClientTlsSettings,
  ConnectionPoolSettings,
  LocalityLbSetting,
  PortSelector,
  StringMap,
  WorkloadSelector,
} from "../common/types.ts";

/** Spec of a DestinationRule. */
export interface DestinationRuleSpec {
  /** Host of the service, `*` prefix allowed; short names are relative to the object's namespace. */
  readonly host: string;
  /** Settings of traffic to the host. */
  readonly trafficPolicy?: TrafficPolicy;
  /** Named groups of the host's endpoints, for routes. */
  readonly subsets?: readonly Subset[];
  /** Namespaces that see it: `*`, `.` (own), names; absent: the mesh's default. */
  readonly exportTo?: readonly string[];
  /** Client workloads in the object's namespace that it is for; absent: all. */
  readonly workloadSelector?: WorkloadSelector;
}

/** A named part of the host's endpoints. */
export interface Subset {
  /** Name by which routes refer to it. */
  readonly name: string;
  /** Labels that an endpoint must carry, all of them. */
  readonly labels?: StringMap;
  /** Set fields replace those of the rule. */
  readonly trafficPolicy?: TrafficPolicy;
}

/** The policy parts that may also be set for one port. */
export interface PortPolicy {
  /** How an endpoint is chosen. */
  readonly loadBalancer?: LoadBalancerSettings;
  /** Limits and timeouts of connections. */
  readonly connectionPool?: ConnectionPoolSettings;
  /** Conditions on which an endpoint that fails is left out for a while. */
  readonly outlierDetection?: OutlierDetection;
  /** TLS of connections to the destination. */
  readonly tls?: ClientTlsSettings;
}

/** Policy of all ports. */
export interface TrafficPolicy extends PortPolicy {
  /** A port's entry replaces the policy of all ports as a whole for that port. */
  readonly portLevelSettings?: readonly PortTrafficPolicy[];
  /** Sends TCP and TLS through a tunnel. */
  readonly tunnel?: TunnelSettings;
  /** Sends the client's address ahead, by the PROXY protocol. */
  readonly proxyProtocol?: ProxyProtocolSettings;
}

/** Policy of one port. */
export interface PortTrafficPolicy extends PortPolicy {
  /** The port that the settings are of. */
  readonly port?: PortSelector;
}

/** Carry TCP inside CONNECT (or POST). */
export interface TunnelSettings {
  /** CONNECT (when absent) or POST. */
  readonly protocol?: string;
  /** The end of the tunnel: a host name or an address. */
  readonly targetHost: string;
  /** Port where the tunnel ends. */
  readonly targetPort: number;
}

/** Prepend the PROXY protocol header. */
export interface ProxyProtocolSettings {
  /** Default V1. */
  readonly version: "V1" | "V2";
}

/** Simple load balancers. LEAST_CONN is the deprecated spelling of LEAST_REQUEST. */
export type SimpleLb = "UNSPECIFIED" | "LEAST_CONN" | "RANDOM" | "PASSTHROUGH" | "ROUND_ROBIN" | "LEAST_REQUEST";

/** How endpoints are picked. At most one of simple and consistentHash. */
export interface LoadBalancerSettings {
  /** One of the algorithms that need no settings. */
  readonly simple?: SimpleLb;
  /** Requests with the same property go to the same endpoint. */
  readonly consistentHash?: ConsistentHashLb;
  /** Overrides the mesh's setting whole. */
  readonly localityLbSetting?: LocalityLbSetting;
  /** Deprecated form of `warmup.duration`. */
  readonly warmupDurationSecs?: number;
  /** New endpoints get traffic step by step. */
  readonly warmup?: WarmupConfiguration;
}

/** Soft affinity. One hash key is set; at most one algorithm (absent: ring hash). */
export interface ConsistentHashLb {
  /** The header whose value is hashed. */
  readonly httpHeaderName?: string;
  /** The cookie whose value is hashed; made when the request has none. */
  readonly httpCookie?: HttpCookie;
  /** The client's address is hashed. */
  readonly useSourceIp?: boolean;
  /** The query parameter whose value is hashed. */
  readonly httpQueryParameterName?: string;
  /** The ring hash algorithm. */
  readonly ringHash?: {
    /** Fewest entries of the ring; absent: 1024. */
    readonly minimumRingSize?: number;
  };
  /** Table size must be prime; absent: 65537. */
  readonly maglev?: {
    /** Size of the table, a prime; absent: 65537. */
    readonly tableSize?: number;
  };
  /** Deprecated form of `ringHash.minimumRingSize`. */
  readonly minimumRingSize?: number;
}

/** The cookie to hash. */
export interface HttpCookie {
  /** Name of the cookie. */
  readonly name: string;
  /** Path of the cookie. */
  readonly path?: string;
  /** Life of a cookie that is made: 0 makes a session cookie, absent makes none. */
  readonly ttl?: number;
}

/** Ramp up traffic to new endpoints. */
export interface WarmupConfiguration {
  /** Time in which a new endpoint gets to its full share, at least 1 s. */
  readonly duration: number;
  /** Percent of the full weight at the start, 0..100; absent: 10. */
  readonly minimumPercent?: number;
  /** Speed of the ramp, at least 1; absent: 1. */
  readonly aggression?: number;
}

/** Ejection of failing hosts. */
export interface OutlierDetection {
  /** Deprecated; ignored when one of the newer counts is set. */
  readonly consecutiveErrors?: number;
  /** Failures to connect are counted apart from answers that are errors. */
  readonly splitExternalLocalOriginErrors?: boolean;
  /** Failures to connect in a row; 0 turns this detector off. */
  readonly consecutiveLocalOriginFailures?: number;
  /** 0 turns this detector off. */
  readonly consecutiveGatewayErrors?: number;
  /** 0 turns this detector off. */
  readonly consecutive5xxErrors?: number;
  /** Time between sweeps; absent: 10 s. */
  readonly interval?: number;
  /** How long an endpoint is left out the first time; absent: 30 s. */
  readonly baseEjectionTime?: number;
  /** 0..100; absent: 10. */
  readonly maxEjectionPercent?: number;
  /** 0..100; absent: 0. */
  readonly minHealthPercent?: number;
}
