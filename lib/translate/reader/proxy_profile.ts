/**
 * Profiles of the kinds of proxies, a row for each kind. Builders ask for an aspect of the row, never for the kind.
 *
 * @module
 */

/** Kinds of proxies in node ids. */
export type NodeType = "sidecar" | "router" | "waypoint";

/** Kinds of configured proxies: the kinds in node ids, and gRPC libraries (node metadata `GENERATOR: grpc`). */
export type ProxyType = NodeType | "proxyless";

export interface ProxyProfile {
  /** The kind's name in sentences for people. */
  readonly noun: string;
  /** Sidecar objects narrow the view of the proxy. False: the proxy sees everything exported to its namespace. */
  readonly sidecarsApply: boolean;
  /** Has outbound listeners and routes, by address and port, for connections of the workload. */
  readonly outbound: boolean;
  /** Has inbound listeners and clusters, for the ports of the workload. */
  readonly inbound: boolean;
  /** Has the listeners and routes of the selecting Gateway objects. */
  readonly gateways: boolean;
  /** Takes the connections to services by HBONE, in front of the services' workloads. */
  readonly waypoint: boolean;
  /** Is a library in the workload. The library asks for listeners by the names of dialled and served addresses. */
  readonly library: boolean;
  /** Connections are captured, so the proxy knows the dialled address. */
  readonly originalDestination: boolean;
  /**
   * The first bytes tell the protocol of a port without a declared protocol. The workload is called with the client's
   * version of HTTP.
   */
  readonly sniffs: boolean;
  /** Gets the certificates of destination rules (`credentialName`), whichever workloads a rule selects. */
  readonly namedCredentials: boolean;
}

const PROFILES: { readonly [T in ProxyType]: ProxyProfile } = {
  sidecar: {
    noun: "sidecar",
    sidecarsApply: true,
    outbound: true,
    inbound: true,
    gateways: false,
    waypoint: false,
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
    waypoint: false,
    library: false,
    originalDestination: false,
    sniffs: false,
    namedCredentials: true,
  },
  waypoint: {
    noun: "waypoint",
    sidecarsApply: false,
    outbound: false,
    inbound: false,
    gateways: false,
    waypoint: true,
    library: false,
    originalDestination: false,
    sniffs: true,
    namedCredentials: true,
  },
  proxyless: {
    noun: "gRPC library",
    sidecarsApply: true,
    outbound: false,
    inbound: true,
    gateways: false,
    waypoint: false,
    library: true,
    originalDestination: false,
    sniffs: false,
    namedCredentials: false,
  },
};

export const PROXY_TYPES: readonly ProxyType[] = Object.keys(PROFILES) as ProxyType[];

/** Kinds in node ids. */
export const NODE_TYPES: readonly NodeType[] = ["sidecar", "router", "waypoint"];

/** Whether a text is a kind in node ids. */
export function isNodeType(type: string): type is NodeType {
  return (NODE_TYPES as readonly string[]).includes(type);
}

/** The row of a kind. */
export function profileOf(type: ProxyType): ProxyProfile {
  return PROFILES[type];
}
