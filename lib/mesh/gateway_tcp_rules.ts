/**
 * The used and unreached `tcp` rules of a gateway's server, in the order of trial. A rule is unreached if an earlier
 * rule takes all connections. Bytes name no host, so rules differ by subnets, not by the hosts of their virtual
 * services.
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
  /** Never empty: at least one destination gets connections. */
  readonly route: readonly RouteDestination[];
  /** Dialled subnets, as written. Empty: any. */
  readonly subnets: readonly string[];
}

/** The rules of a server. */
export interface GatewayTcpRules {
  /** The last rule takes all connections, or connections without a rule are closed. */
  readonly used: readonly GatewayTcpRule[];
  /** Rules behind a rule for all connections. */
  readonly unreached: readonly GatewayTcpRule[];
}

/** The virtual services with a host of a server, in the given order. */
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

/** Whether a rule's match is for this gateway and a port of a server. */
export function matchesServer(
  match: { readonly port?: number; readonly gateways?: readonly string[] },
  gateway: string,
  port: number,
): boolean {
  if (match.port && match.port !== port) return false;
  return !match.gateways?.length || match.gateways.includes(gateway);
}

/**
 * Separates used rules from unreached rules.
 *
 * @param virtualServices For hosts of the server, in order of precedence.
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
