/**
 * The contribution of one host to outbound listeners: plain data, from which a listener is put together.
 *
 *     host a ── contributions ─┐
 *     host b ── contributions ─┼─ same key ─> one listener (`merge.ts`)
 *     host c ── contributions ─┘
 *
 * A contribution is made once per host and scope; a listener is put together again only when one of its contributions changed.
 *
 * @module
 */
import type { Protocol } from "../../registry/types.ts";
import type { ListenerKind } from "../service/protocol.ts";
import type { TcpProxyPlan } from "../filters/network/tcp_proxy.ts";

/** A chain of a listener that carries bytes: its match, and their destination. */
export interface TcpChain {
  /** Server names of TLS clients, lower case, `*.` in front allowed. Empty: any, or no TLS. */
  readonly sni: readonly string[];
  /** IPs and CIDRs that the client dialled. Empty: any. */
  readonly cidrs: readonly string[];
  /**
   * A TLS chain that matches everything: where another host has that match already, it takes the connections that
   * name one of these servers instead.
   */
  readonly fallbackSni?: readonly string[];
  readonly proxy: TcpProxyPlan;
  /** The virtual service that made it, `namespace/name`. */
  readonly virtualService?: string;
  /** Parts of that virtual service which are in it. */
  readonly parts?: readonly string[];
}

/** The contribution of one host to one listener. */
export interface ListenerContribution {
  /** Name of the listener: `bind_port` (`0.0.0.0_80`, `10.1.0.1_3306`, `unix:///tmp/app.sock_0`). */
  readonly key: string;
  /** Addresses to listen on, the one in the name first. */
  readonly binds: readonly string[];
  /** 0 for a Unix socket. */
  readonly port: number;
  /** A real socket; false: reached only by connections that iptables redirected. */
  readonly bindToPort: boolean;
  readonly kind: ListenerKind;
  readonly protocol: Protocol;
  readonly hostname: string;
  /** The port of the service; the listener's own where the service has no such port. */
  readonly servicePort: number;
  /** Route configuration of HTTP requests (kinds `http` and `auto`). */
  readonly routeName?: string;
  /** HTTP only where the first bytes say so (kinds `http` and `auto`); false: everything is HTTP. */
  readonly sniffed?: boolean;
  /** Kinds `tcp` and `auto`. */
  readonly chains: readonly TcpChain[];
  /** Index of the egress listener of the scope that it comes from. */
  readonly egress: number;
  /** The egress listener has a port of its own: hosts of later egress listeners do not join this listener. */
  readonly ownPort: boolean;
  /** Creation of the service, ms since the epoch. */
  readonly created: number;
  /** Keys of the config objects that made it, the service's first. */
  readonly causes: readonly string[];
}

/** Ports of the proxy's own listeners on all addresses: readiness and statistics (Istio's numbers). */
export const STATIC_PORTS: readonly number[] = [15021, 15090];

/**
 * The order in which contributions join a listener; the first one wins a conflict: earlier egress listeners, then older
 * services, then by host, so that neither arrival nor restart changes it.
 */
export function compareContributions(a: ListenerContribution, b: ListenerContribution): number {
  return a.egress - b.egress || a.created - b.created || compareText(a.hostname, b.hostname) ||
    a.servicePort - b.servicePort || compareText(a.routeName ?? "", b.routeName ?? "");
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
