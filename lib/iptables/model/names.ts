/**
 * Names and numbers that redirection is made of: address families, tables, chains, marks, well-known addresses.
 *
 * @module
 */

/** Address family, by the version of its protocol. Each is set up on its own. */
export type Family = 4 | 6;

/** Both, in the order in which they are set up. */
export const families: readonly Family[] = [4, 6];

/** Tables of the kernel's packet filter that redirection uses, in the order in which a packet meets them. */
export const tableNames = ["raw", "mangle", "nat"] as const;

export type TableName = typeof tableNames[number];

/** Chains that the kernel calls by itself, and in which rules have a way into ours. */
export type Hook = "PREROUTING" | "OUTPUT";

/** Chains of ours. All rules in them count as ours; of the rules in other chains only jumps to these do. */
export const chains = {
  /** Packets that arrive: from other machines, or over the loopback device. */
  inbound: "MESH_INBOUND",
  /** Packets that processes of this network namespace send. */
  output: "MESH_OUTPUT",
  /** Those of the groups that are redirected, when not all are. */
  outputGroups: "MESH_OUTPUT_GROUPS",
  /** DNS among them. */
  outputDns: "MESH_OUTPUT_DNS",
  /** To the proxy's outbound port. */
  redirect: "MESH_REDIRECT",
  /** To the proxy's inbound port. */
  inRedirect: "MESH_IN_REDIRECT",
  /** Packets of connections that TPROXY took: marked, so that they are routed to the proxy. */
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

/** Chain in which features of the kernel are tried out; nothing jumps to it. */
export const TRIAL_CHAIN = "MESH_TRIAL";

/** Mark of connections that the outbound proxy opens to its own workload, in TPROXY mode: they are inbound to it. */
export const OUTBOUND_MARK = 1338;

/**
 * The origin of a routing rule or route, which the kernel keeps with each: by it ours are recognized, with any mark and
 * table. The number is assigned to no other program, see `rt_protos` of iproute2.
 */
export const ROUTING_PROTOCOL = 137;

/** Port on which the agent answers DNS by default: that of DNS_PROXY_ADDR's default. */
export const DNS_PORT = 15053;

/** Source addresses from which the inbound proxy reaches the application: never redirected again. */
export const passthroughSource: Readonly<Record<Family, string>> = { 4: "127.0.0.6/32", 6: "::6/128" };

/** Conntrack zones of DNS over UDP, so that equal ports of a client's query and the agent's own never meet. */
export const zones = {
  /** The agent and the servers that it asks. */
  upstream: 1,
  /** Clients and the agent. */
  client: 2,
} as const;
