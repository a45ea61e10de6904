/**
 * Fields of a VirtualService that only derivations set. The schema of users' objects does not have these fields, so a
 * user's object with one of these fields is refused.
 *
 * @module
 */

/** Internal fields of a whole VirtualService. */
export interface InternalVirtualService {
  /**
   * Whose rules of routing hold: of the Gateway API, or of Ingresses. Prefixes of paths are then whole segments. With
   * `gateway`, hosts are what clients write, and server names need not be within the hosts.
   */
  readonly semantics: "gateway" | "ingress";
  /**
   * Namespace of the service with the rules: the rules are for clients that get the service from this namespace. Other
   * clients may get another service with the host. Absent: the rules are for all clients.
   */
  readonly serviceNamespace?: string;
}

/** The rule of a user's route behind a derived rule. */
export interface RuleSource {
  /** Kind of the route. */
  readonly kind: "HTTPRoute" | "GRPCRoute";
  readonly namespace: string;
  readonly name: string;
  /** Position of the rule in the route, from 0. */
  readonly rule: number;
  /** Position of the match in the rule, from 0. Absent: the rule has no match. */
  readonly match?: number;
}

/** Changes the path of a redirect. Exactly one of the fields is set. */
export interface RedirectPath {
  /** Replaces the prefix that the rule matches. */
  readonly prefix?: string;
  /** Replaces what a regular expression (RE2) finds in the path. */
  readonly regex?: { readonly match: string; readonly rewrite: string };
}

/** Keeps requests of a session at one endpoint. */
export interface RuleSession {
  readonly type: "cookie" | "header";
  /** Name of the cookie or header. */
  readonly name: string;
  /** Life of the cookie, milliseconds. Absent: the life of the browser's session. */
  readonly ttl?: number;
}

/** Internal fields of an HTTP rule. */
export interface InternalRule {
  /** The rule behind this rule. */
  readonly source: RuleSource;
  /** Path of the rule's redirect. Absent: as the redirect says. */
  readonly redirectPath?: RedirectPath;
  /** Absent: sessions as the destination's service says. */
  readonly session?: RuleSession;
}

/** A program that picks the endpoint of each request. */
export interface EndpointPicker {
  /** Full host name of the program's service. */
  readonly host: string;
  readonly port: number;
  /** Whether the proxy picks an endpoint while the program does not answer. False: the proxy refuses the request. */
  readonly failOpen: boolean;
}

/** Internal fields of a weighted destination. */
export type InternalDestination =
  /** No backend is meant: the destination's share of the requests gets this status. */
  | { readonly unresolved: 500 | 503 }
  /** A program picks the endpoints of the destination. */
  | { readonly picker: EndpointPicker };

/** Internal fields of a weighted destination of connections or datagrams. */
export interface InternalBytesDestination {
  /** No backend is meant: the destination's share of the connections is closed. */
  readonly closed: true;
}

/** Host of destinations without a backend. The domain `invalid` has no hosts (RFC 6761). */
export const UNRESOLVED_HOST = "unresolved.invalid";

/** The source in words: `HTTPRoute shop/web rule 2 match 0`. */
export function ruleSourceText({ kind, namespace, name, rule, match }: RuleSource): string {
  return `${kind} ${namespace}/${name} rule ${rule}${match === undefined ? "" : ` match ${match}`}`;
}

/** Key of the route behind a rule: `HTTPRoute/shop/web`. */
export function ruleSourceKey({ kind, namespace, name }: RuleSource): string {
  return `${kind}/${namespace}/${name}`;
}
