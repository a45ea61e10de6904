/**
 * The configuration of redirection, as checked values: the only input of rules. No text of a user reaches a rule.
 *
 * @module
 */
import type { Family } from "./names.ts";
import type { PortRange } from "./rule.ts";

/** Everything, with exceptions, or only the named elements. */
export type TrafficSelection<T> = { readonly all: true; readonly except: readonly T[] } | {
  readonly all: false;
  readonly only: readonly T[];
};

/** Ranges of addresses by family, each `address/bits` with no bits set behind the prefix. */
export type Ranges = Readonly<Record<Family, readonly string[]>>;

/** The redirected DNS: all DNS, or DNS to the named servers. And the agent's port. */
export type DnsCapture =
  & { readonly port: number }
  & ({ readonly all: true } | { readonly all: false; readonly servers: Readonly<Record<Family, readonly string[]>> });

/** A configuration of redirection. */
export interface RedirectionConfig {
  /** Port for outbound TCP. */
  readonly proxyPort: number;
  /** Port for inbound TCP. */
  readonly inboundPort: number;
  /** Port of inbound tunnels: reached directly. */
  readonly tunnelPort: number;
  /** Users and groups of the proxy's own traffic. */
  readonly proxyUids: readonly number[];
  readonly proxyGids: readonly number[];
  readonly inboundMode: "REDIRECT" | "TPROXY";
  /** Packet mark and routing table of connections taken by TPROXY. */
  readonly tproxyMark: number;
  readonly tproxyTable: number;
  readonly inboundPorts: TrafficSelection<PortRange>;
  /** Ports redirected for every address, and ports left alone. */
  readonly outboundPorts: readonly PortRange[];
  readonly outboundPortsExcluded: readonly PortRange[];
  /** Redirected ranges: all, or the named ranges. */
  readonly outboundRanges: { readonly all: boolean; readonly only: Ranges };
  readonly outboundRangesExcluded: Ranges;
  readonly interfacesExcluded: readonly string[];
  /** Devices of virtual machines. Their inbound traffic counts as outbound. */
  readonly virtualInterfaces: readonly string[];
  /** Groups with redirected outbound traffic. */
  readonly groups: TrafficSelection<number>;
  /** Range on the loopback device for the application itself. */
  readonly loopback: Readonly<Record<Family, string>>;
  readonly dns: DnsCapture | undefined;
  readonly dropInvalid: boolean;
}

/** True when inbound traffic of any port is redirected. */
export function capturesInbound(config: RedirectionConfig): boolean {
  return config.inboundPorts.all || config.inboundPorts.only.length > 0;
}

/** True when inbound connections keep their source address through the proxy. */
export function usesTproxy(config: RedirectionConfig): boolean {
  return config.inboundMode === "TPROXY" && capturesInbound(config);
}

/** True when DNS of a family is redirected. */
export function capturesDns(config: RedirectionConfig, family: Family): boolean {
  const { dns } = config;
  return dns !== undefined && (dns.all || dns.servers[family].length > 0);
}
