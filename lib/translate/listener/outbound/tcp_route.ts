/**
 * TCP and TLS rules of virtual services as chains of a listener.
 *
 * Conditions on the proxy (labels, namespace, gateway, port) are decided here. Conditions on the connection (server
 * name, dialled address) become the match of a chain.
 *
 * @module
 */
import type {
  L4MatchAttributes,
  TlsMatchAttributes,
  VirtualServiceSpec,
} from "../../../config/kinds/virtual_service/schema.ts";
import type { EffectiveVirtualService } from "../../../mesh/types.ts";
import { aspect } from "../../reader/aspect.ts";
import type { Reader } from "../../reader/reader.ts";
import { ruleParts } from "../../message/parts.ts";
import type { TcpChain } from "../contribution.ts";
import { routePlan, type TcpPort } from "./tcp_destination.ts";

/** Where the chains are for. */
export interface TcpRouteContext {
  readonly port: TcpPort;
  /** CIDRs of the service, where the listener is bound to all addresses. */
  readonly cidrs: readonly string[];
}

/** Chains of rules. */
export interface RoutedChains {
  readonly chains: TcpChain[];
  /** The rules leave nothing for the service itself. */
  readonly complete: boolean;
}

/**
 * Chains of the `tls` rules, in order, without matches hidden by an earlier match. A single chain takes the whole port
 * from the service.
 */
export function tlsChains(read: Reader, rules: EffectiveVirtualService, context: TcpRouteContext): RoutedChains {
  const chains: TcpChain[] = [];
  const seen = new Set<string>();
  for (const [index, rule] of (rules.spec.tls ?? []).entries()) {
    for (const [at, match] of (rule.match ?? []).entries()) {
      if (!matchesProxy(read, match, context.port.port)) continue;
      const subnets = context.port.port > 0 ? match.destinationSubnets ?? [] : [];
      const chain = {
        sni: match.sniHosts.map((host) => host.toLowerCase()),
        cidrs: subnets.length > 0 ? subnets : context.cidrs,
      };
      const predicate = JSON.stringify(chain);
      if (seen.has(predicate)) continue;
      seen.add(predicate);
      const proxy = routePlan(read, rule.route ?? [], context.port, owner(rules));
      const parts = ruleParts(rules, "tls", [{ rule: index, match: at }]);
      if (proxy) chains.push({ ...chain, proxy, virtualService: key(rules), parts });
    }
  }
  return { chains, complete: chains.length > 0 };
}

/** Chains of the `tcp` rules, up to the first rule for all connections. */
export function tcpChains(read: Reader, rules: EffectiveVirtualService, context: TcpRouteContext): RoutedChains {
  const chains: TcpChain[] = [];
  for (const [index, rule] of (rules.spec.tcp ?? []).entries()) {
    const found = destinationSubnets(read, rule, context.port.port);
    if (found === undefined) continue;
    const { subnets, matches } = found;
    const proxy = routePlan(read, rule.route ?? [], context.port, owner(rules));
    if (!proxy) continue;
    const all = subnets.length === 0;
    const used = matches.length === 0 ? [{ rule: index }] : matches.map((match) => ({ rule: index, match }));
    const parts = ruleParts(rules, "tcp", used);
    chains.push({ sni: [], cidrs: all ? context.cidrs : subnets, proxy, virtualService: key(rules), parts });
    if (all) return { chains, complete: true };
  }
  return { chains, complete: false };
}

/** The subnets of a rule. */
interface RuleSubnets {
  /** Empty: all addresses. */
  readonly subnets: readonly string[];
  /** Positions of the matches with these subnets. */
  readonly matches: readonly number[];
}

/** The subnets of a rule. Undefined when the rule does not apply to the proxy and port. */
function destinationSubnets(
  read: Reader,
  rule: NonNullable<VirtualServiceSpec["tcp"]>[number],
  port: number,
): RuleSubnets | undefined {
  if (rule.match === undefined || rule.match.length === 0) return { subnets: [], matches: [] };
  const subnets: string[] = [];
  const matches: number[] = [];
  for (const [at, match] of rule.match.entries()) {
    if (!matchesProxy(read, match, port)) continue;
    // A Unix socket has no dialled address.
    if (!match.destinationSubnets?.length || port === 0) return { subnets: [], matches: [at] };
    subnets.push(...match.destinationSubnets);
    matches.push(at);
  }
  return subnets.length > 0 ? { subnets, matches } : undefined;
}

function matchesProxy(read: Reader, match: TlsMatchAttributes | L4MatchAttributes, port: number): boolean {
  if (match.gateways?.length && !match.gateways.includes("mesh")) return false;
  if (match.port && match.port !== port) return false;
  const namespace = match.sourceNamespace;
  // A waypoint does not know the labels of its clients.
  const asksSource = !!namespace || Object.keys(match.sourceLabels ?? {}).length > 0;
  if (asksSource && aspect(read, "waypoint")) return false;
  if (namespace && !read.derived(`sameNamespace/${namespace}`, (t) => t.namespace === namespace)) return false;
  return hasLabels(read, match.sourceLabels ?? {});
}

function hasLabels(read: Reader, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([name, value]) =>
    read.derived(`label/${name}=${value}`, (t) => Object.hasOwn(t.labels, name) && t.labels[name] === value)
  );
}

function owner(rules: EffectiveVirtualService): string {
  return `${rules.name}.${rules.namespace}`;
}

function key(rules: EffectiveVirtualService): string {
  return `${rules.namespace}/${rules.name}`;
}
