/**
 * Where a destination of a rule leads: cluster, service, and how requests are hashed on the way.
 *
 * @module
 */
import type { ConsistentHashLb, Destination } from "../../config/kinds/kinds.ts";
import type { Service } from "../../registry/types.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { outboundClusterName } from "../destination/names.ts";
import { portPolicy, subsetPolicy } from "../destination/policy.ts";
import type { Reader } from "../reader/reader.ts";
import { breaksLines } from "../../config/validation/values.ts";
import { boundedDuration } from "../values/wire_limits.ts";

type HashPolicy = envoy.config.route.v3.RouteAction.HashPolicy;

/** A resolved destination. */
export interface RouteTarget {
  /** Full host; of an alias, the host that it stands for. */
  readonly host: string;
  readonly port: number;
  /** Empty: the default cluster. */
  readonly subset: string;
  /** `outbound|port|subset|host`. It need not exist: requests to it are then answered 503. */
  readonly cluster: string;
  readonly service: Service | undefined;
}

/** An alias of an alias of ... ends here. */
const MAX_ALIASES = 4;

/**
 * The service behind a host, aliases followed.
 *
 * @returns The last host of the chain, and its service if that is visible and no alias.
 */
export function behindAlias(read: Reader, host: string): { readonly host: string; readonly service?: Service } {
  let name = host;
  for (let hops = 0; hops <= MAX_ALIASES; hops++) {
    const service = read.service(name);
    if (!service) return { host: name };
    if (!service.externalName) return { host: name, service };
    name = service.externalName.toLowerCase();
  }
  return { host: name };
}

/**
 * Resolves a destination.
 *
 * @param listenPort Port of the listener: taken where the rule names none, unless the service has one port alone.
 */
export function routeTarget(read: Reader, destination: Destination, listenPort: number): RouteTarget {
  const { host, service } = behindAlias(read, destination.host);
  const port = destination.port?.number ?? impliedPort(service, listenPort);
  const subset = destination.subset ?? "";
  return { host, port, subset, cluster: outboundClusterName(port, subset, host), service };
}

function impliedPort(service: Service | undefined, listenPort: number): number {
  const [only, ...more] = service?.ports ?? [];
  return only && !more.length ? only.port : listenPort;
}

/** How requests are hashed, and the keys of the destination rules that say so. */
export interface Hashing {
  readonly policy: HashPolicy;
  readonly causes: readonly string[];
}

/** How requests to a target are hashed, if its cluster balances by consistent hashing. */
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
