/**
 * DestinationRule: the treatment of traffic to a chosen destination host.
 *
 * @module
 */
import { labels, list } from "../../schema/containers.ts";
import { keepZero, required, withDefault } from "../../schema/field.ts";
import { message, type Of, type ValuesOf } from "../../schema/message.ts";
import { bool, double, duration, enumOf, int32, string, uint32, uint64 } from "../../schema/scalars.ts";
import type { InternalDestinationRule } from "./internal.ts";
import { clientTls, connectionPool, localityLbSetting, portSelector, workloadSelector } from "../common/schema.ts";

const httpCookie = message({
  /** Name of the cookie. */
  name: required(string(), "the name of the cookie"),
  /** Path of the cookie. */
  path: string(),
  /** Life of a generated cookie: 0 makes a session cookie, absent generates none. */
  ttl: duration(),
});

/** The cookie to hash. */
export interface HttpCookie extends Of<typeof httpCookie> {}

const consistentHash = message(
  {
    /** The header for the hash. */
    httpHeaderName: keepZero(string()),
    /** The cookie for the hash; generated if the request has none. */
    httpCookie,
    /** The client's address is hashed. */
    useSourceIp: keepZero(bool()),
    /** The query parameter for the hash. */
    httpQueryParameterName: keepZero(string()),
    /** The ring hash algorithm. */
    ringHash: message({
      /** Fewest entries of the ring; absent: 1024. */
      minimumRingSize: uint64(),
    }),
    /** Table size must be prime; absent: 65537. */
    maglev: message({
      /** Size of the table, a prime; absent: 65537. */
      tableSize: uint64(),
    }),
    /** Deprecated form of `ringHash.minimumRingSize`. */
    minimumRingSize: uint64(),
  },
  {
    oneOf: [["httpHeaderName", "httpCookie", "useSourceIp", "httpQueryParameterName"], ["ringHash", "maglev"]],
  },
);

/** Soft affinity. Exactly one hash key is set; at most one algorithm (absent: ring hash). */
export interface ConsistentHashLb extends Of<typeof consistentHash> {}

const warmupConfiguration = message({
  /** Time until a new endpoint gets its full share, at least 1 s. */
  duration: required(duration(), "a duration such as 60s"),
  /** Percent of the full weight at the start, 0..100; absent: 10. */
  minimumPercent: keepZero(double()),
  /** Speed of the ramp, at least 1; absent: 1. */
  aggression: keepZero(double()),
});

/** Ramp up traffic to new endpoints. */
export interface WarmupConfiguration extends Of<typeof warmupConfiguration> {}

const loadBalancer = message(
  {
    /** An algorithm without settings. */
    simple: enumOf("UNSPECIFIED", "LEAST_CONN", "RANDOM", "PASSTHROUGH", "ROUND_ROBIN", "LEAST_REQUEST"),
    /** Requests with the same property go to the same endpoint. */
    consistentHash,
    /** Overrides the mesh's setting whole. */
    localityLbSetting,
    /** Deprecated form of `warmup.duration`. */
    warmupDurationSecs: duration(),
    /** New endpoints get traffic step by step. */
    warmup: warmupConfiguration,
  },
  { oneOf: [["simple", "consistentHash"]] },
);

/** How endpoints are picked. At most one of simple and consistentHash. */
export interface LoadBalancerSettings extends Of<typeof loadBalancer> {}

const outlierDetection = message({
  /** Deprecated; ignored if a newer count is set. */
  consecutiveErrors: int32(),
  /** Failures to connect are counted apart from error answers. */
  splitExternalLocalOriginErrors: bool(),
  /** Failures to connect in a row; 0 turns the detector off. */
  consecutiveLocalOriginFailures: keepZero(uint32()),
  /** 0 turns the detector off. */
  consecutiveGatewayErrors: keepZero(uint32()),
  /** 0 turns the detector off. */
  consecutive5xxErrors: keepZero(uint32()),
  /** Time between sweeps; absent: 10 s. */
  interval: duration(),
  /** How long an endpoint is left out the first time; absent: 30 s. */
  baseEjectionTime: duration(),
  /** 0..100; absent: 10. */
  maxEjectionPercent: int32(),
  /** 0..100; absent: 0. */
  minHealthPercent: int32(),
});

/** Ejection of failing hosts. */
export interface OutlierDetection extends Of<typeof outlierDetection> {}

const portPolicy = {
  /** How an endpoint is chosen. */
  loadBalancer,
  /** Limits and timeouts of connections. */
  connectionPool,
  /** Conditions on which a failing endpoint is left out for a while. */
  outlierDetection,
  /** TLS of connections to the destination. */
  tls: clientTls,
};

/** The policy parts that may also be set for one port. */
export interface PortPolicy extends ValuesOf<typeof portPolicy> {}

const portTrafficPolicy = message({
  /** The port of the settings. */
  port: portSelector,
  ...portPolicy,
});

/** Policy of a single port. */
export interface PortTrafficPolicy extends Of<typeof portTrafficPolicy> {}

const tunnelSettings = message({
  /** CONNECT (when absent) or POST. */
  protocol: string(),
  /** The end of the tunnel: a host name or an address. */
  targetHost: required(string(), "a host name or IP address"),
  /** Port where the tunnel ends. */
  targetPort: required(uint32(), "a port number, 1..65535"),
});

/** Carry TCP inside CONNECT (or POST). */
export interface TunnelSettings extends Of<typeof tunnelSettings> {}

const proxyProtocolSettings = message({
  /** Default V1. */
  version: withDefault(enumOf("V1", "V2"), "V1"),
});

/** Prepend the PROXY protocol header. */
export interface ProxyProtocolSettings extends Of<typeof proxyProtocolSettings> {}

const trafficPolicy = message({
  ...portPolicy,
  /** A port's entry replaces the policy of all ports as a whole. */
  portLevelSettings: list(portTrafficPolicy),
  /** Sends TCP and TLS through a tunnel. */
  tunnel: tunnelSettings,
  /** Sends the client's address ahead, by the PROXY protocol. */
  proxyProtocol: proxyProtocolSettings,
});

/** Policy of all ports. */
export interface TrafficPolicy extends Of<typeof trafficPolicy> {}

const subset = message({
  /** Name of the subset in routes. */
  name: required(string(), "the name of the subset"),
  /** Required labels of an endpoint. */
  labels: labels(),
  /** Set fields replace the rule's fields. */
  trafficPolicy,
});

/** A named part of the host's endpoints. */
export interface Subset extends Of<typeof subset> {}

export const destinationRule = message({
  /** Host of the service, `*` prefix allowed; short names are relative to the object's namespace. */
  host: required(string(), "a host name"),
  /** Settings of traffic to the host. */
  trafficPolicy,
  /** Named groups of the host's endpoints, for routes. */
  subsets: list(subset),
  /** Namespaces that see the rule: `*`, `.` (own), names; absent: the mesh's default. */
  exportTo: list(string()),
  /** Client workloads of the rule in the object's namespace; absent: all. */
  workloadSelector,
});

/** Spec of a DestinationRule. */
export interface DestinationRuleSpec extends Of<typeof destinationRule> {
  /** Only of derived DestinationRules. */
  readonly internal?: InternalDestinationRule;
}

/** Simple load balancers. LEAST_CONN is the deprecated spelling of LEAST_REQUEST. */
export type SimpleLb = NonNullable<LoadBalancerSettings["simple"]>;
