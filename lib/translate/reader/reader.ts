/**
 * The interface through which builders read the mesh and the proxy.
 *
 * A builder is a pure function of its arguments and of the answers of a `Reader`. Each query and the identity of its
 * answer are recorded. The result serves every proxy with the same answers, and stays valid until an answer changes. So
 * a cache key is the real read record: there is nothing to declare and nothing to forget. A builder therefore keeps no
 * other reference to the mesh, and asks only for what it needs (asking for `property("locality")` without need splits
 * the results by locality).
 *
 * @module
 */
import type {
  EffectiveDestinationRule,
  EffectiveVirtualService,
  EgressListener,
  RuleProtocol,
} from "../../mesh/types.ts";
import type { PlainProperty, ProxyProperties } from "./proxy_properties.ts";
import type { QUERIES, ThingQuery, WholeQuery, WorkloadQuery } from "./queries.ts";
import type { TranslateSettings } from "./settings.ts";

/** The method of a query. */
type MethodOf<Query> = Query extends WorkloadQuery<infer T, infer P> ? [P] extends [never] ? () => T : (part: P) => T
  : Query extends WholeQuery<infer T> ? () => T
  : Query extends ThingQuery<infer T> ? (name: string) => T
  : never;

/** A method for each row of the table of queries. */
export type QueryMethods = { readonly [Name in keyof typeof QUERIES]: MethodOf<(typeof QUERIES)[Name]> };

/** The queries of a builder. Every answer is identity-stable until something behind the answer changes. */
export interface Reader extends QueryMethods {
  readonly settings: TranslateSettings;
  property<K extends PlainProperty>(name: K): ProxyProperties[K];
  /**
   * A fact derived from properties, recorded as the answer alone: `derived("sameNamespace/a", (p) => p.namespace ===
   * "a")` splits the results in two, but `property("namespace")` splits the results by namespace.
   *
   * @param key Names the query, and all other inputs of `compute`.
   * @param compute Pure; gives a primitive.
   */
  derived<T extends string | number | boolean>(key: string, compute: (properties: ProxyProperties) => T): T;
  /** The destination rule in force for a host (most specific host match; own, service's, root namespace). */
  destinationRule(host: string): EffectiveDestinationRule | undefined;
  /** The destination rule for workloads without a matching `workloadSelector`. */
  destinationRuleForAll(host: string): EffectiveDestinationRule | undefined;
  /**
   * The virtual service in force for a host on gateway `mesh`, with rules of a protocol for the proxy's workload: the
   * most specific host match, then the oldest. The host need not be a service.
   *
   * @param port Only virtual services with rules for connections to the port. Absent: for some port.
   */
  virtualService(host: string, protocol: RuleProtocol, port?: number): EffectiveVirtualService | undefined;
  /** The virtual services in force for a host on some port, in order of precedence; see `virtualService`. */
  virtualServices(host: string, protocol: RuleProtocol): readonly EffectiveVirtualService[];
  /** Whether an egress listener of the scope sees a host. */
  egressSees(egress: EgressListener, host: string): boolean;
}

/** The reader for the builder of a row, which may ask about things outside the table of queries, too. */
export interface OpenReader extends Reader {
  ask<T>(query: ThingQuery<T>, name: string): T;
}
