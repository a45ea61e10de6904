/**
 * The authorization policies of a proxy's workload, as filters for the proxy's listeners.
 *
 * @module
 */
import { RBAC_Action as Action } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { type Finding, lossOf, warningOf } from "../../finding/finding.ts";
import { isDryRun } from "../../config/kinds/authorization_policy/dry_run.ts";
import type { AuthorizationPolicy } from "../../mesh/authorization_policy.ts";
import { hasExtension } from "../filters/extension.ts";
import { HTTP_EXT_AUTHZ, httpExtAuthzFilter } from "../filters/http/ext_authz/filter.ts";
import type { HttpFilterSlots } from "../filters/http/order.ts";
import { HTTP_RBAC, httpRbacFilter } from "../filters/http/rbac/filter.ts";
import type { NetworkFilterSlots } from "../filters/network/order.ts";
import { NETWORK_EXT_AUTHZ, NETWORK_RBAC, networkExtAuthzFilter, networkRbacFilter } from "../filters/network/rbac.ts";
import { findingsOnce } from "../message/finding.ts";
import type { Reader } from "../reader/reader.ts";
import { type AuthorizationFilters, authorizationFilters, type Carrier, type UnaskedPolicy } from "./filters.ts";
import type { InexpressibleRule } from "./rules.ts";

type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
type NetworkFilter = envoy.config.listener.v3.Filter;

/** The effect of the policies on one sort of chain. */
export type ChainAuthorization<S> =
  | { readonly slots: S }
  /** The proxy's build lacks the filter that refuses, so the chain may accept no traffic. */
  | { readonly closed: true };

/** The policies in force for the workload of a proxy. Filters are made on the first request for them. */
export class Authorization {
  readonly #read: Reader;
  readonly #policies: readonly AuthorizationPolicy[];
  readonly #hbone: boolean;
  #http: Side<HttpFilter> | undefined;
  #tcp: Side<NetworkFilter> | undefined;
  #calls: Side<HttpFilter> | undefined;

  /** @param on `hbone`: connections arrived by HBONE, so the client's identity is in filter state. */
  constructor(read: Reader, on: { readonly hbone: boolean } = { hbone: false }) {
    this.#read = read;
    this.#hbone = on.hbone;
    this.#policies = read.authorizationPolicies();
  }

  /** Keys of the policies. */
  get causes(): readonly string[] {
    return this.#policies.map(({ key }) => key);
  }

  /** Whether a policy may refuse traffic. */
  get isEnforced(): boolean {
    return this.#policies.some(isEnforced);
  }

  /** Filters for chains of HTTP requests. */
  get http(): ChainAuthorization<HttpFilterSlots> {
    return slotsOf(this.#http ??= sideOf(this.#read, this.#policies, httpCarrier(this.#read, this.#hbone)));
  }

  /** Filters for calls that a gRPC library serves. Every filter has a unique name. */
  get calls(): readonly HttpFilter[] {
    const side = this.#calls ??= sideOf(this.#read, this.#policies.filter(isEnforced), libraryCarrier());
    if ("closed" in side) return [refuseAll()];
    const { external, own } = side.filters;
    return [...external, ...own].map((filter, i) => ({ ...filter, name: `${HTTP_RBAC}.${i}` }));
  }

  /** Filters for chains that carry bytes. */
  get tcp(): ChainAuthorization<NetworkFilterSlots> {
    return slotsOf(this.#bytes());
  }

  /**
   * Findings about parts of policies that are not in force as written. Covers the chains requested so far, except parts
   * that fail only because a port carries bytes: see {@linkcode bytesFindings}.
   */
  findings(): readonly Finding[] {
    const sides = [this.#http, this.#tcp, this.#calls].filter((side) => side !== undefined);
    return findingsOnce(sides.flatMap((side) => sideFindings(this.#policies, side)));
  }

  /**
   * Findings about policies at a port that carries only bytes.
   *
   * @param port The port's number. Rules for other ports alone make no finding.
   */
  bytesFindings(port: number): readonly Finding[] {
    const side = this.#bytes();
    if ("closed" in side) return [];
    const { inexpressible, unasked } = side.filters;
    return [
      ...inexpressible.filter((rule) => isForPort(rule, port)).map((rule) => bytesFinding(rule, port)),
      ...unasked.filter((one) => one.requestsOnly).map((one) => unaskedFinding(one, ` of port ${port}`)),
    ];
  }

  #bytes(): Side<NetworkFilter> {
    return this.#tcp ??= sideOf(this.#read, this.#policies, tcpCarrier(this.#read, this.#hbone));
  }
}

type Side<F> = { readonly filters: AuthorizationFilters<F>; readonly http: boolean } | {
  readonly closed: true;
  readonly filter: string;
};

function sideOf<F>(read: Reader, policies: readonly AuthorizationPolicy[], carrier: Carrier<F>): Side<F> {
  if (policies.length === 0) return { filters: NOTHING, http: carrier.http };
  if (hasExtension(read, carrier.rbacName)) {
    return { filters: authorizationFilters(read, policies, carrier), http: carrier.http };
  }
  if (!policies.some(isEnforced)) return { filters: NOTHING, http: carrier.http };
  return { closed: true, filter: carrier.rbacName };
}

/** Whether a policy may refuse traffic. */
function isEnforced(policy: AuthorizationPolicy): boolean {
  return policy.spec.action !== "AUDIT" && !isDryRun(policy);
}

function slotsOf<F>(
  side: Side<F>,
): ChainAuthorization<{ readonly externalAuthorization: readonly F[]; readonly authorization: readonly F[] }> {
  if ("closed" in side) return { closed: true };
  return { slots: { externalAuthorization: side.filters.external, authorization: side.filters.own } };
}

const NOTHING = { external: [], own: [], inexpressible: [], unasked: [] } as const;

function httpCarrier(read: Reader, hbone: boolean): Carrier<HttpFilter> {
  return {
    http: true,
    hbone,
    rbacName: HTTP_RBAC,
    rbac: httpRbacFilter,
    ask: (authorizer, asked) => hasExtension(read, HTTP_EXT_AUTHZ) ? httpExtAuthzFilter(authorizer, asked) : undefined,
  };
}

/** gRPC libraries have no external authorizers, no audit marks and no dry runs. */
function libraryCarrier(): Carrier<HttpFilter> {
  return { http: true, library: true, hbone: false, rbacName: HTTP_RBAC, rbac: httpRbacFilter, ask: () => undefined };
}

function refuseAll(): HttpFilter {
  return httpRbacFilter({ rules: { action: Action.ALLOW } });
}

function tcpCarrier(read: Reader, hbone: boolean): Carrier<NetworkFilter> {
  return {
    http: false,
    hbone,
    rbacName: NETWORK_RBAC,
    rbac: networkRbacFilter,
    ask: (authorizer, asked) =>
      authorizer.grpc && hasExtension(read, NETWORK_EXT_AUTHZ) ? networkExtAuthzFilter(authorizer, asked) : undefined,
  };
}

function sideFindings(policies: readonly AuthorizationPolicy[], side: Side<unknown>): Finding[] {
  if ("closed" in side) {
    const text = `ports are closed: the proxy's build lacks ${side.filter}, which enforces policies`;
    return policies.map(({ key }) => lossOf("not-as-written", [key], text));
  }
  const { inexpressible, unasked } = side.filters;
  return [
    ...unasked.filter((one) => !one.requestsOnly).map((one) => unaskedFinding(one, "")),
    ...(side.http
      ? inexpressible.map((rule) => lossOf("not-as-written", [rule.policy.key], inexpressibleText(rule)))
      : []),
  ];
}

function unaskedFinding({ policy, provider, why }: UnaskedPolicy, where: string): Finding {
  const text = `matching traffic${where} is refused: provider "${provider}" ${why}`;
  return lossOf("unusable-authorizer", [policy.key], text);
}

function inexpressibleText({ policy, index, conditions }: InexpressibleRule): string {
  const effect = policy.spec.action === "ALLOW" ? "never matches" : "matches without this condition";
  return `rules[${index}] ${effect}: the proxy cannot compare ${conditions.join(", ")}`;
}

/** Whether a rule may match connections to a port, judged by the ports in the rule. */
function isForPort({ policy, index }: InexpressibleRule, port: number): boolean {
  const { to = [], when = [] } = policy.spec.rules?.[index] ?? {};
  const text = `${port}`;
  const takes = (values: readonly string[] = [], others: readonly string[] = []) =>
    (values.length === 0 || values.includes(text)) && !others.includes(text);
  return (to.length === 0 || to.some(({ operation }) => takes(operation?.ports, operation?.notPorts))) &&
    when.every(({ key, values, notValues }) => key !== "destination.port" || takes(values, notValues));
}

function bytesFinding({ policy, index, conditions }: InexpressibleRule, port: number): Finding {
  const effect = policy.spec.action === "ALLOW" ? "never matches there" : "matches there without this condition";
  const text = `port ${port} carries bytes, which have no ${conditions.join(", ")}: rules[${index}] ${effect}`;
  return warningOf("http-rule-for-bytes", [policy.key], text);
}
