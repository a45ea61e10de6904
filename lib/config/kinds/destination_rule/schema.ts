/**
 * Schema of DestinationRule.
 *
 * @module
 */
import { labels, list } from "../../schema/containers.ts";
import { type Field, keepZero, required, withDefault } from "../../schema/field.ts";
import { message, shape } from "../../schema/message.ts";
import { bool, double, duration, enumOf, int32, string, uint32, uint64 } from "../../schema/scalars.ts";
import { clientTls, connectionPool, localityLbSetting, portSelector, workloadSelector } from "../common/schema.ts";
import type * as types from "./types.ts";

const consistentHash = message<types.ConsistentHashLb>(
  {
    httpHeaderName: keepZero(string()),
    httpCookie: message<types.HttpCookie>({
      name: required(string(), "the name of the cookie"),
      path: string(),
      ttl: duration(),
    }),
    useSourceIp: keepZero(bool()),
    httpQueryParameterName: keepZero(string()),
    ringHash: shape({ minimumRingSize: uint64() }),
    maglev: shape({ tableSize: uint64() }),
    minimumRingSize: uint64(),
  },
  {
    oneOf: [["httpHeaderName", "httpCookie", "useSourceIp", "httpQueryParameterName"], ["ringHash", "maglev"]],
  },
);

const loadBalancer = message<types.LoadBalancerSettings>(
  {
    simple: enumOf("UNSPECIFIED", "LEAST_CONN", "RANDOM", "PASSTHROUGH", "ROUND_ROBIN", "LEAST_REQUEST"),
    consistentHash,
    localityLbSetting,
    warmupDurationSecs: duration(),
    warmup: message<types.WarmupConfiguration>({
      duration: required(duration(), "a duration such as 60s"),
      minimumPercent: keepZero(double()),
      aggression: keepZero(double()),
    }),
  },
  { oneOf: [["simple", "consistentHash"]] },
);

const outlierDetection = message<types.OutlierDetection>({
  consecutiveErrors: int32(),
  splitExternalLocalOriginErrors: bool(),
  consecutiveLocalOriginFailures: keepZero(uint32()),
  consecutiveGatewayErrors: keepZero(uint32()),
  consecutive5xxErrors: keepZero(uint32()),
  interval: duration(),
  baseEjectionTime: duration(),
  maxEjectionPercent: int32(),
  minHealthPercent: int32(),
});

const portPolicy = { loadBalancer, connectionPool, outlierDetection, tls: clientTls };

const trafficPolicy = message<types.TrafficPolicy>({
  ...portPolicy,
  portLevelSettings: list(message<types.PortTrafficPolicy>({ port: portSelector, ...portPolicy })),
  tunnel: message<types.TunnelSettings>({
    protocol: string(),
    targetHost: required(string(), "a host name or IP address"),
    targetPort: required(uint32(), "a port number, 1..65535"),
  }),
  proxyProtocol: message<types.ProxyProtocolSettings>({ version: withDefault(enumOf("V1", "V2"), "V1") }),
});

/** Schema of {@link types.DestinationRuleSpec}. */
export const destinationRule: Field<types.DestinationRuleSpec> = message<types.DestinationRuleSpec>({
  host: required(string(), "a host name"),
  trafficPolicy,
  subsets: list(message<types.Subset>({
    name: required(string(), "the name of the subset"),
    labels: labels(),
    trafficPolicy,
  })),
  exportTo: list(string()),
  workloadSelector,
});
