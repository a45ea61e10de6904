/**
 * Names and numbers of redirection: address families, tables, chains, marks, well-known addresses.
 *
 * @module
 */

/** Address family, by the version of its protocol. Each family is set up separately. */
export type Family = 4 | 6;

/** Both families, in the order of the set-up. */
export const families: readonly Family[] = [4, 6];

/** Tables of the kernel's packet filter for redirection, in the order of a packet's way. */
export const tableNames = ["raw", "mangle", "nat"] as const;

export type TableName = typeof tableNames[number];

/** The kernel's own chains with jumps to our chains. */
export type Hook = "PREROUTING" | "OUTPUT";

/** Our chains. All rules in these chains count as ours. In other chains only jumps to our chains count. */
export const chains = {
  /** Incoming packets: from other machines, or over the loopback device. */
  inbound: "MESH_INBOUND",
  /** Outgoing packets of processes in this network namespace. */
  output: "MESH_OUTPUT",
  /** Packets of the redirected groups, unless all groups are redirected. */
  outputGroups: "MESH_OUTPUT_GROUPS",
  /** DNS among outgoing packets. */
  outputDns: "MESH_OUTPUT_DNS",
  /** To the proxy's outbound port. */
  redirect: "MESH_REDIRECT",
  /** To the proxy's inbound port. */
  inRedirect: "MESH_IN_REDIRECT",
  /** Packets of connections that TPROXY took, marked for the route to the proxy. */
  divert: "MESH_DIVERT",
  /** First packets of connections that TPROXY takes. */
  tproxy: "MESH_TPROXY",
  /** Packets of no known connection. */
  drop: "MESH_DROP",
} as const;

/** A chain of ours. */
export type ChainName = typeof chains[keyof typeof chains];

/** The names of our chains. */
export const ownChains: ReadonlySet<string> = new Set(Object.values(chains));

/** Chain for trials of kernel features. No rule jumps to this chain. */
export const TRIAL_CHAIN = "MESH_TRIAL";

/**
 * Mark of connections from the outbound proxy to its own workload, in TPROXY mode: the connections are inbound to the
 * workload.
 */
export const OUTBOUND_MARK = 1338;

/**
 * The origin of our routing rules and routes. The kernel keeps the origin, so that our rules and routes are recognized
 * with any mark and table. The number is assigned to no other program, see `rt_protos` of iproute2.
 */
export const ROUTING_PROTOCOL = 137;

/** Default port of the agent's DNS server: the port in the default of DNS_PROXY_ADDR. */
export const DNS_PORT = 15053;

/**
 * Source addresses of the inbound proxy's connections to the application. These connections are never redirected again.
 */
export const passthroughSource: Readonly<Record<Family, string>> = { 4: "127.0.0.6/32", 6: "::6/128" };

/**
 * Conntrack zones of DNS over UDP, so that equal ports of a client's query and of the agent's own query never collide.
 */
export const zones = {
  /** The agent and its upstream servers. */
  upstream: 1,
  /** Clients and the agent. */
  client: 2,
} as const;
