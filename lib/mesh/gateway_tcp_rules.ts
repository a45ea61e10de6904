/**
 * The `tcp` rules of a server of a gateway in the order in which connections are tried: which are used, and which no
 * connection reaches because an earlier rule takes all. Bytes name no host, so hosts of virtual services do not tell them
 * apart; subnets do.
 *
 * @module
 */
import type { RouteDestination } from "../config/kinds/virtual_service/schema.ts";
import type { ServerHost } from "../config/kinds/gateway/hosts.ts";
import { overlaps } from "./host_match.ts";
import type { EffectiveVirtualService } from "./types.ts";

/** A `tcp` rule of a virtual service. */
export interface GatewayTcpRule {
  readonly virtualService: EffectiveVirtualService;
  /** Position among the `tcp` rules. */
  readonly index: number;
  /** At least one of them gets connections. */
  readonly route: readonly RouteDestination[];
  /** Subnets that were dialled, as they are written; empty: any. */
  readonly subnets: readonly string[];
}

/** The rules of a server. */
export interface GatewayTcpRules {
  /** The last one takes all connections, or those that no rule takes are closed. */
  readonly used: readonly GatewayTcpRule[];
  /** Rules behind one that takes all connections. */
  readonly unreached: readonly GatewayTcpRule[];
}

/** The virtual services with a host of a server, in the order in which they come. */
export function virtualServicesOfServer(
  virtualServices: readonly EffectiveVirtualService[],
  hosts: readonly ServerHost[],
): EffectiveVirtualService[] {
  return virtualServices.filter((vs) =>
    hosts.some(({ namespace, host }) =>
      (namespace === "*" || namespace === vs.namespace) && vs.hosts.some((own) => overlaps(host, own))
    )
  );
}

/** Whether a rule's match is for this gateway and this port of a server. */
export function matchesServer(
  match: { readonly port?: number; readonly gateways?: readonly string[] },
  gateway: string,
  port: number,
): boolean {
  if (match.port && match.port !== port) return false;
  return !match.gateways?.length || match.gateways.includes(gateway);
}

/**
 * Sorts them out.
 *
 * @param virtualServices Those for hosts of the server, in order of precedence.
 * @param applies Whether a match is for the gateway and port of the server.
 */
export function gatewayTcpRules(
  virtualServices: readonly EffectiveVirtualService[],
  applies: (match: { readonly port?: number; readonly gateways?: readonly string[] }) => boolean,
): GatewayTcpRules {
  const used: GatewayTcpRule[] = [];
  const unreached: GatewayTcpRule[] = [];
  let isComplete = false;
  for (const virtualService of virtualServices) {
    for (const [index, { match = [], route = [] }] of (virtualService.spec.tcp ?? []).entries()) {
      const own = match.filter(applies);
      if (match.length > 0 && own.length === 0 || !carries(route)) continue;
      const takesAll = own.length === 0 || own.some(({ destinationSubnets = [] }) => destinationSubnets.length === 0);
      const subnets = takesAll ? [] : own.flatMap(({ destinationSubnets = [] }) => destinationSubnets);
      (isComplete ? unreached : used).push({ virtualService, index, route, subnets });
      isComplete ||= takesAll;
    }
  }
  return { used, unreached };
}

function carries(route: readonly RouteDestination[]): boolean {
  return route.length === 1 || route.some(({ weight = 0 }) => weight > 0);
}
