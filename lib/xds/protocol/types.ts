/**
 * The resource types of the protocol: short names, order of sending, rules.
 *
 * @module
 */

const PREFIX = "type.googleapis.com/";

/** Type URL of clusters. */
export const CLUSTER = PREFIX + "envoy.config.cluster.v3.Cluster";
/** Type URL of endpoints. */
export const ENDPOINTS = PREFIX + "envoy.config.endpoint.v3.ClusterLoadAssignment";
/** Type URL of listeners. */
export const LISTENER = PREFIX + "envoy.config.listener.v3.Listener";
/** Type URL of route configurations. */
export const ROUTE = PREFIX + "envoy.config.route.v3.RouteConfiguration";
/** Type URL of virtual hosts. */
export const VIRTUAL_HOST = PREFIX + "envoy.config.route.v3.VirtualHost";
/** Type URL of secrets. */
export const SECRET = PREFIX + "envoy.extensions.transport_sockets.tls.v3.Secret";
/** Type URL of extension configurations. */
export const EXTENSION_CONFIG = PREFIX + "envoy.config.core.v3.TypedExtensionConfig";
/** Type URL of the settings for agents. */
export const PROXY_CONFIG = PREFIX + "istio.mesh.v1alpha1.ProxyConfig";

/** Type URL of the policies of node tunnels. */
export const AUTHORIZATION = PREFIX + "istio.security.Authorization";
/** Type URL of the workloads and services of node tunnels. */
export const ADDRESS = PREFIX + "istio.workload.Address";
/** Type URL of the workloads of node tunnels, as bare messages. */
export const WORKLOAD = PREFIX + "istio.workload.Workload";

/** The name for all resources of a type. */
export const WILDCARD = "*";

/** The wire's facts about a type. */
export interface TypeRules {
  /** Short lower-case name, as in metrics and pages: `cds`, `eds`, `lds`, `rds` ...; `other`: not known here. */
  readonly short: string;
  /**
   * The place in the order of sending: clusters and endpoints before the listeners and routes that refer to them, and
   * policies before the workloads that list them.
   */
  readonly rank: number;
  /** A first request without names means all resources. */
  readonly wildcard: boolean;
  /**
   * A state-of-the-world response must hold all resources. The client deletes every resource that the response lacks.
   */
  readonly whole: boolean;
  /**
   * Each response has a single resource. When Envoy refuses a resource, it does not look at the others of the response.
   */
  readonly single: boolean;
  /**
   * A client that still asks for a resource is not told of the removal. The client's filter chains still use the
   * resource, and the client drops the resource together with the chains.
   */
  readonly lasting: boolean;
  /**
   * A client waits for a subscribed resource without end. State of the world has no word for an absent resource, so an
   * absent resource is sent empty.
   */
  readonly awaited: boolean;
}

const rules = (
  short: string,
  rank: number,
  wildcard: boolean,
  { whole = false, single = false, lasting = false, awaited = false } = {},
): TypeRules => ({ short, rank, wildcard, whole, single, lasting, awaited });

const KNOWN: ReadonlyMap<string, TypeRules> = new Map([
  [CLUSTER, rules("cds", 0, true, { whole: true })],
  [ENDPOINTS, rules("eds", 1, false, { awaited: true })],
  [LISTENER, rules("lds", 2, true, { whole: true })],
  [ROUTE, rules("rds", 3, false)],
  [VIRTUAL_HOST, rules("vhds", 4, true)],
  [SECRET, rules("sds", 5, false, { single: true })],
  [EXTENSION_CONFIG, rules("ecds", 6, false, { lasting: true })],
  [PREFIX + "istio.networking.nds.v1.NameTable", rules("nds", 10, true)],
  [PROXY_CONFIG, rules("pcds", 11, true)],
  [AUTHORIZATION, rules("wads", 7, true, { whole: true })],
  [ADDRESS, rules("wds", 8, true, { whole: true })],
  [WORKLOAD, rules("wls", 9, true, { whole: true })],
]);

/** Most unknown types on one stream. Real clients ask for no unknown type. Some sources may serve unknown types. */
export const MAX_UNKNOWN_TYPES = 16;

/** Whether the rules of a type are known here. */
export function isKnownType(typeUrl: string): boolean {
  return KNOWN.has(typeUrl);
}

/** Unknown types. Clients choose the names, so that a metric's label must not carry them. */
const OTHER = rules("other", 20, true);

/** Configuration objects, requested by other control planes: `networking.istio.io/v1/VirtualService`. */
const CONFIGURATION = rules("other", 20, true, { whole: true });

const CONFIGURATION_TYPE = /^[a-z]+\.istio\.io\/v[a-z0-9]+\/[A-Z][A-Za-z]+$/;

/** The rules of a type. An unknown type is a wildcard type and is sent last. */
export function typeRules(typeUrl: string): TypeRules {
  return KNOWN.get(typeUrl) ?? (CONFIGURATION_TYPE.test(typeUrl) ? CONFIGURATION : OTHER);
}
