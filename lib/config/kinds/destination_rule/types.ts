/**
 * DestinationRule: what happens after a destination host was chosen.
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
  readonly trafficPolicy?: TrafficPolicy;
  readonly subsets?: readonly Subset[];
  /** Namespaces that see it: `*`, `.` (own), names; absent: the mesh's default. */
  readonly exportTo?: readonly string[];
  /** Client workloads in the object's namespace that it is for; absent: all. */
  readonly workloadSelector?: WorkloadSelector;
}

/** A named part of the host's endpoints. */
export interface Subset {
  readonly name: string;
  readonly labels?: StringMap;
  /** Set fields replace those of the rule. */
  readonly trafficPolicy?: TrafficPolicy;
}

/** The policy parts that may also be set for one port. */
export interface PortPolicy {
  readonly loadBalancer?: LoadBalancerSettings;
  readonly connectionPool?: ConnectionPoolSettings;
  readonly outlierDetection?: OutlierDetection;
  readonly tls?: ClientTlsSettings;
}

/** Policy of all ports. */
export interface TrafficPolicy extends PortPolicy {
  /** A port's entry replaces the policy of all ports as a whole for that port. */
  readonly portLevelSettings?: readonly PortTrafficPolicy[];
  readonly tunnel?: TunnelSettings;
  readonly proxyProtocol?: ProxyProtocolSettings;
}

/** Policy of one port. */
export interface PortTrafficPolicy extends PortPolicy {
  readonly port?: PortSelector;
}

/** Carry TCP inside CONNECT (or POST). */
export interface TunnelSettings {
  /** CONNECT (when absent) or POST. */
  readonly protocol?: string;
  readonly targetHost: string;
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
  readonly simple?: SimpleLb;
  readonly consistentHash?: ConsistentHashLb;
  /** Overrides the mesh's setting whole. */
  readonly localityLbSetting?: LocalityLbSetting;
  /** Deprecated form of `warmup.duration`, ms. */
  readonly warmupDurationSecs?: number;
  readonly warmup?: WarmupConfiguration;
}

/** Soft affinity. One hash key is set; at most one algorithm (absent: ring hash). */
export interface ConsistentHashLb {
  readonly httpHeaderName?: string;
  readonly httpCookie?: HttpCookie;
  readonly useSourceIp?: boolean;
  readonly httpQueryParameterName?: string;
  readonly ringHash?: { readonly minimumRingSize?: number };
  /** Table size must be prime; absent: 65537. */
  readonly maglev?: { readonly tableSize?: number };
  /** Deprecated form of `ringHash.minimumRingSize`. */
  readonly minimumRingSize?: number;
}

/** The cookie to hash. */
export interface HttpCookie {
  readonly name: string;
  readonly path?: string;
  /** ms. Presence kept: 0 makes a session cookie, absent makes none. */
  readonly ttl?: number;
}

/** Ramp up traffic to new endpoints. */
export interface WarmupConfiguration {
  /** ms, at least 1 s. */
  readonly duration: number;
  /** Percent of the full weight at the start, 0..100; presence kept; absent: 10. */
  readonly minimumPercent?: number;
  /** Speed of the ramp, at least 1; presence kept; absent: 1. */
  readonly aggression?: number;
}

/** Ejection of failing hosts. */
export interface OutlierDetection {
  /** Deprecated; ignored when one of the newer counts is set. */
  readonly consecutiveErrors?: number;
  readonly splitExternalLocalOriginErrors?: boolean;
  /** Presence kept. */
  readonly consecutiveLocalOriginFailures?: number;
  /** Presence kept: 0 turns this detector off. */
  readonly consecutiveGatewayErrors?: number;
  /** Presence kept: 0 turns this detector off. */
  readonly consecutive5xxErrors?: number;
  /** Time between sweeps, ms; absent: 10 s. */
  readonly interval?: number;
  /** ms; absent: 30 s. */
  readonly baseEjectionTime?: number;
  /** 0..100; absent: 10. */
  readonly maxEjectionPercent?: number;
  /** 0..100; absent: 0. */
  readonly minHealthPercent?: number;
}
