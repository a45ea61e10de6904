/**
 * Where a destination of a rule leads: cluster, service, and the hashing of requests.
 *
 * @module
 */
import type { ConsistentHashLb, Destination } from "../../config/kinds/kinds.ts";
import { type NamedService, namedService } from "../../mesh/named_service.ts";
import type { Service } from "../../registry/types.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { clusterName } from "../destination/cluster_name.ts";
import { portPolicy, subsetPolicy } from "../destination/policy.ts";
import type { Reader } from "../reader/reader.ts";
import { breaksLines } from "../../config/validation/values.ts";
import { boundedDuration } from "../values/wire_limits.ts";

type HashPolicy = envoy.config.route.v3.RouteAction.HashPolicy;

/** A resolved destination. */
export interface RouteTarget {
  /** Full name of the destination. For an alias, the name of the target. */
  readonly name: string;
  /** Host of the service: the destination's name, or the wildcard over the name. */
  readonly host: string;
  readonly port: number;
  /** Empty: the default cluster. */
  readonly subset: string;
  /** `outbound|port|subset|host`, or another form at a waypoint. If the cluster does not exist, requests are answered with 503. */
  readonly cluster: string;
  readonly service: Service | undefined;
}

/** The service behind a host, after following aliases, or else the service whose wildcard covers the host. */
export function serviceBehind(read: Reader, host: string): NamedService<Service> {
  return namedService(host, (name) => read.service(name));
}

/**
 * Resolves a destination.
 *
 * @param listenPort Port of the listener. Used if the rule sets no port, unless the service has exactly one port.
 */
export function routeTarget(read: Reader, destination: Destination, listenPort: number): RouteTarget {
  const { name, host, service } = serviceBehind(read, destination.host);
  const port = destination.port?.number ?? impliedPort(service, listenPort);
  const subset = destination.subset ?? "";
  return { name, host, port, subset, cluster: clusterName(read, { host, port, subset, service }), service };
}

function impliedPort(service: Service | undefined, listenPort: number): number {
  const [only, ...more] = service?.ports ?? [];
  return only && !more.length ? only.port : listenPort;
}

/** How requests are hashed, with the keys of the responsible destination rules. */
export interface Hashing {
  readonly policy: HashPolicy;
  readonly causes: readonly string[];
}

/** How requests to a target are hashed. Undefined unless the target's cluster uses consistent hashing. */
export function hashing(read: Reader, target: RouteTarget): Hashing | undefined {
  const effective = read.destinationRule(target.host);
  const rule = effective?.spec;
  if (!rule) return undefined;
  const subset = target.subset ? rule.subsets?.find(({ name }) => name === target.subset) : undefined;
  const policy = subset
    ? subsetPolicy(rule.trafficPolicy, subset, target.port)
    : portPolicy(rule.trafficPolicy, target.port);
  const key = hashKey(policy.loadBalancer?.consistentHash);
  return key && { policy: key, causes: effective.causes };
}

function hashKey(hash: ConsistentHashLb | undefined): HashPolicy | undefined {
  if (hash?.httpHeaderName) {
    return breaksLines(hash.httpHeaderName) ? undefined : { header: { header_name: hash.httpHeaderName } };
  }
  if (hash?.httpCookie) {
    const { name, path, ttl } = hash.httpCookie;
    return { cookie: { name, ...(path ? { path } : {}), ...(ttl === undefined ? {} : { ttl: boundedDuration(ttl) }) } };
  }
  if (hash?.useSourceIp) return { connection_properties: { source_ip: true } };
  if (hash?.httpQueryParameterName) return { query_parameter: { name: hash.httpQueryParameterName } };
  return undefined;
}
