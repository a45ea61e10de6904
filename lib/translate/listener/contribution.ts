/**
 * The contribution of one host to outbound listeners, as plain data for building listeners.
 *
 *     host a ── contributions ─┐
 *     host b ── contributions ─┼─ same key ─> one listener (`merge.ts`)
 *     host c ── contributions ─┘
 *
 * A contribution is made once per host and scope. A listener is rebuilt only when one of its contributions changes.
 *
 * @module
 */
import type { Protocol } from "../../registry/types.ts";
import type { ListenerKind } from "../service/protocol.ts";
import type { TcpProxyPlan } from "../filters/network/tcp_proxy.ts";

/** A chain that carries bytes: match and destination. */
export interface TcpChain {
  /** Server names of TLS clients, lower case, `*.` in front allowed. Empty: any, or no TLS. */
  readonly sni: readonly string[];
  /** IPs and CIDRs of the dialled address. Empty: any. */
  readonly cidrs: readonly string[];
  /**
   * Server names for a TLS chain that matches everything. If another host already has that match, the chain takes only
   * connections with one of these names.
   */
  readonly fallbackSni?: readonly string[];
  readonly proxy: TcpProxyPlan;
  /** The virtual service of the chain, `namespace/name`. */
  readonly virtualService?: string;
  /** Parts of the virtual service that are in the chain. */
  readonly parts?: readonly string[];
}

/** The contribution of a host to a listener. */
export interface ListenerContribution {
  /** Name of the listener: `bind_port` (`0.0.0.0_80`, `10.1.0.1_3306`, `unix:///tmp/app.sock_0`). */
  readonly key: string;
  /** Addresses to listen on. The first address is in the name. */
  readonly binds: readonly string[];
  /** 0 for a Unix socket. */
  readonly port: number;
  /** Opens a real socket. False: reached only by redirected connections. */
  readonly bindToPort: boolean;
  readonly kind: ListenerKind;
  readonly protocol: Protocol;
  readonly hostname: string;
  /** The port of the service, or the listener's port if the service has no such port. */
  readonly servicePort: number;
  /** Route configuration of HTTP requests (kinds `http` and `auto`). */
  readonly routeName?: string;
  /** HTTP only if the first bytes are HTTP (kinds `http` and `auto`). False: everything is HTTP. */
  readonly sniffed?: boolean;
  /** Kinds `tcp` and `auto`. */
  readonly chains: readonly TcpChain[];
  /** Index of the egress listener in the scope. */
  readonly egress: number;
  /** The egress listener has a port of its own: hosts of later egress listeners do not join. */
  readonly ownPort: boolean;
  /** Creation of the service, ms since the epoch. */
  readonly created: number;
  /** Keys of the configuration objects behind the contribution, the service's first. */
  readonly causes: readonly string[];
}

/** Ports of the proxy's own listeners on all addresses: readiness and statistics (Istio's numbers). */
export const STATIC_PORTS: readonly number[] = [15021, 15090];

/**
 * The order in which contributions join a listener. The first contribution wins a conflict. Order: egress listener, age
 * of the service, host. So neither order of arrival nor restarts change the result.
 */
export function compareContributions(a: ListenerContribution, b: ListenerContribution): number {
  return a.egress - b.egress || a.created - b.created || compareText(a.hostname, b.hostname) ||
    a.servicePort - b.servicePort || compareText(a.routeName ?? "", b.routeName ?? "");
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
