/**
 * The authorization policies of the workload that a proxy runs beside, ready for its listeners.
 *
 * @module
 */
import { RBAC_Action as Action } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { type Finding, lossOf, warningOf } from "../../finding/finding.ts";
import type { AuthorizationPolicy } from "../../mesh/authorization_policy.ts";
import { hasExtension } from "../filters/extension.ts";
import { HTTP_EXT_AUTHZ, httpExtAuthzFilter } from "../filters/http/ext_authz/filter.ts";
import type { HttpFilterSlots } from "../filters/http/order.ts";
import { HTTP_RBAC, httpRbacFilter } from "../filters/http/rbac/filter.ts";
import type { NetworkFilterSlots } from "../filters/network/order.ts";
import { NETWORK_EXT_AUTHZ, NETWORK_RBAC, networkExtAuthzFilter, networkRbacFilter } from "../filters/network/rbac.ts";
import { findingsOnce } from "../message/finding.ts";
import type { Reader } from "../reader/reader.ts";
import {
  type AuthorizationFilters,
  authorizationFilters,
  type Carrier,
  isDryRun,
  type UnaskedPolicy,
} from "./filters.ts";
import type { InexpressibleRule } from "./rules.ts";

type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
type NetworkFilter = envoy.config.listener.v3.Filter;

/** The effect of the policies on one sort of chain. */
export type ChainAuthorization<S> =
  | { readonly slots: S }
  /** The proxy's build lacks the filter that refuses, so that nothing may be taken. */
  | { readonly closed: true };

/** The policies in force for the workload that a proxy runs beside; their filters are made when they are asked for. */
export class Authorization {
  readonly #read: Reader;
  readonly #policies: readonly AuthorizationPolicy[];
  readonly #hbone: boolean;
  #http: Side<HttpFilter> | undefined;
  #tcp: Side<NetworkFilter> | undefined;
  #calls: Side<HttpFilter> | undefined;

  /** @param on Connections that came by HBONE have their client in filter state. */
  constructor(read: Reader, on: { readonly hbone: boolean } = { hbone: false }) {
    this.#read = read;
    this.#hbone = on.hbone;
    this.#policies = read.authorizationPolicies();
  }

  /** Keys of the policies. */
  get causes(): readonly string[] {
    return this.#policies.map(({ key }) => key);
  }

  /** For chains that carry requests. */
  get http(): ChainAuthorization<HttpFilterSlots> {
    return slotsOf(this.#http ??= sideOf(this.#read, this.#policies, httpCarrier(this.#read, this.#hbone)));
  }

  /** For calls that a gRPC library serves; names of filters are unique. */
  get calls(): readonly HttpFilter[] {
    const side = this.#calls ??= sideOf(this.#read, this.#policies.filter(isEnforced), libraryCarrier());
    if ("closed" in side) return [refuseAll()];
    const { external, own } = side.filters;
    return [...external, ...own].map((filter, i) => ({ ...filter, name: `${HTTP_RBAC}.${i}` }));
  }

  /** For chains that carry bytes. */
  get tcp(): ChainAuthorization<NetworkFilterSlots> {
    return slotsOf(this.#bytes());
  }

  /**
   * Parts of policies not in force as written, of the chains that were asked for, where bytes are not the stated
   * reason.
   */
  findings(): readonly Finding[] {
    const sides = [this.#http, this.#tcp, this.#calls].filter((side) => side !== undefined);
    return findingsOnce(sides.flatMap((side) => sideFindings(this.#policies, side)));
  }

  /**
   * Findings about policies at a port that carries bytes alone.
   *
   * @param port Its number. Rules for other ports alone do not concern it.
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

/** It may refuse something. */
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

/** Libraries ask no authorizer, mark nothing and try nothing. */
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
    const text = `ports are closed: the proxy's build lacks ${side.filter}, by which policies are enforced`;
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
  const text = `what its rules match${where} is refused: provider "${provider}" ${why}`;
  return lossOf("unusable-authorizer", [policy.key], text);
}

function inexpressibleText({ policy, index, conditions }: InexpressibleRule): string {
  const effect = policy.spec.action === "ALLOW" ? "never matches" : "matches without regard to that";
  return `rules[${index}] ${effect}: the proxy cannot compare ${conditions.join(", ")}`;
}

/** Whether a rule may match connections to a port, as far as ports that it names say. */
function isForPort({ policy, index }: InexpressibleRule, port: number): boolean {
  const { to = [], when = [] } = policy.spec.rules?.[index] ?? {};
  const text = `${port}`;
  const takes = (values: readonly string[] = [], others: readonly string[] = []) =>
    (values.length === 0 || values.includes(text)) && !others.includes(text);
  return (to.length === 0 || to.some(({ operation }) => takes(operation?.ports, operation?.notPorts))) &&
    when.every(({ key, values, notValues }) => key !== "destination.port" || takes(values, notValues));
}

function bytesFinding({ policy, index, conditions }: InexpressibleRule, port: number): Finding {
  const effect = policy.spec.action === "ALLOW" ? "never matches there" : "matches there without regard to that";
  const text = `port ${port} carries bytes, which have no ${conditions.join(", ")}: rules[${index}] ${effect}`;
  return warningOf("http-rule-for-bytes", [policy.key], text);
}
