/**
 * Profiles of the kinds of proxies: one row each. Builders ask for an aspect of the row, never for the kind.
 *
 * @module
 */

/** Kinds of proxies that node ids name. */
export type NodeType = "sidecar" | "router";

/** Kinds of proxies that this server configures: those, and gRPC libraries (node metadata `GENERATOR: grpc`). */
export type ProxyType = NodeType | "proxyless";

/** One row. */
export interface ProxyProfile {
  /** In sentences for people. */
  readonly noun: string;
  /** Sidecar objects narrow what it sees. False: it sees all that is exported to its namespace. */
  readonly sidecarsApply: boolean;
  /** It has outbound listeners and their routes, by address and port, for the connections of its workload. */
  readonly outbound: boolean;
  /** It has inbound listeners and clusters, for the ports of its workload. */
  readonly inbound: boolean;
  /** It has the listeners and routes of the Gateway objects that select it. */
  readonly gateways: boolean;
  /** It is a library in the workload, which asks for listeners by the names that the workload dials and serves. */
  readonly library: boolean;
  /** Connections are captured, so it knows the address that was dialled. */
  readonly originalDestination: boolean;
  /**
   * The protocol of a port that declares none is recognized by its first bytes; the workload gets the client's version.
   */
  readonly sniffs: boolean;
  /** Certificates that destination rules name (`credentialName`) are for it, whichever workloads a rule selects. */
  readonly namedCredentials: boolean;
}

/** All of them. */
const PROFILES: { readonly [T in ProxyType]: ProxyProfile } = {
  sidecar: {
    noun: "sidecar",
    sidecarsApply: true,
    outbound: true,
    inbound: true,
    gateways: false,
    library: false,
    originalDestination: true,
    sniffs: true,
    namedCredentials: false,
  },
  router: {
    noun: "gateway",
    sidecarsApply: false,
    outbound: false,
    inbound: false,
    gateways: true,
    library: false,
    originalDestination: false,
    sniffs: false,
    namedCredentials: true,
  },
  proxyless: {
    noun: "gRPC library",
    sidecarsApply: true,
    outbound: false,
    inbound: true,
    gateways: false,
    library: true,
    originalDestination: false,
    sniffs: false,
    namedCredentials: false,
  },
};

/** Every kind. */
export const PROXY_TYPES: readonly ProxyType[] = Object.keys(PROFILES) as ProxyType[];

/** Those that node ids may name. */
export const NODE_TYPES: readonly NodeType[] = ["sidecar", "router"];

/** Whether a node id may name that kind. */
export function isNodeType(type: string): type is NodeType {
  return (NODE_TYPES as readonly string[]).includes(type);
}

/** The row of a kind. */
export function profileOf(type: ProxyType): ProxyProfile {
  return PROFILES[type];
}
