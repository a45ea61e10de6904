/**
 * Policies without targets in front of all services of a waypoint
 * (`ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES`). The policies are for connections, as at a node tunnel, and see the
 * client itself: at the workload behind the waypoint the tunnel sees the waypoint as the client.
 *
 *     CONNECT ──> DENY policies ──> ALLOW policies ──> the chains of the service
 *                      └── 403 <────────┘
 *
 * A condition that cannot be compared never lets traffic in: see `../authorization/rules.ts`.
 *
 * @module
 */
import { RBAC_Action as Action } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { type Finding, lossOf, warningOf } from "../../finding/finding.ts";
import { isDryRun } from "../../config/kinds/authorization_policy/dry_run.ts";
import type { AuthorizationPolicy } from "../../mesh/authorization_policy.ts";
import { unsentReason } from "../../mesh/tunnel/authorization.ts";
import { authorizationFilters, type Carrier } from "../authorization/filters.ts";
import { WRITTEN_PORT } from "../authorization/permissions.ts";
import type { InexpressibleRule } from "../authorization/rules.ts";
import { HTTP_RBAC, httpRbacFilter } from "../filters/http/rbac/filter.ts";
import type { Reader } from "../reader/reader.ts";

type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;

/** The filters of the policies. */
export interface LayeredPolicies {
  readonly filters: readonly HttpFilter[];
  /** Keys of the policies. */
  readonly causes: readonly string[];
  readonly findings: readonly Finding[];
}

const NO_POLICIES: LayeredPolicies = { filters: [], causes: [], findings: [] };

const OF_CONNECTS: Carrier<HttpFilter> = {
  ...{ http: false, hbone: false, connect: true },
  rbacName: HTTP_RBAC,
  rbac: httpRbacFilter,
  // No policy here has the action CUSTOM.
  ask: () => undefined,
};

/** The filters for the CONNECTs of a waypoint. Without the setting, no property of the waypoint is read. */
export function layeredPolicies(read: Reader): LayeredPolicies {
  if (!read.settings.layersPolicies) return NO_POLICIES;
  return filtersOf(read, read.layeredPolicies().filter((policy) => unsentReason(policy) === undefined));
}

/**
 * The filters of policies that name a gateway between networks, for the CONNECTs that the gateway forwards. No authorizer
 * is asked about CONNECTs, so a policy with the action CUSTOM closes the gateway.
 */
export function gatewayPolicies(read: Reader): LayeredPolicies {
  const all = read.authorizationPolicies();
  const custom = all.filter(({ spec }) => spec.action === "CUSTOM");
  const { filters, causes, findings } = filtersOf(
    read,
    all.filter((one) => one.spec.action !== "CUSTOM" && one.spec.action !== "AUDIT" && !isDryRun(one)),
  );
  if (custom.length === 0) return { filters, causes, findings };
  const keys = custom.map(({ key }) => key);
  const text = "a gateway between networks asks no authorizer (action CUSTOM): it refuses all connections";
  return {
    filters: [...filters, httpRbacFilter({ rules: { action: Action.ALLOW, policies: {} } })],
    causes: [...causes, ...keys],
    findings: [...findings, lossOf("not-as-written", keys, text)],
  };
}

function filtersOf(read: Reader, policies: readonly AuthorizationPolicy[]): LayeredPolicies {
  if (policies.length === 0) return NO_POLICIES;
  const { own, inexpressible } = authorizationFilters(read, policies, OF_CONNECTS);
  return {
    filters: [writtenPort(), ...own],
    causes: policies.map(({ key }) => key),
    findings: inexpressible.map(inexpressibleFinding),
  };
}

/** Policies compare the text of the port, so a port that is written otherwise (`:080`) is refused. */
function writtenPort(): HttpFilter {
  return httpRbacFilter({
    rules: {
      action: Action.ALLOW,
      policies: { "port as a number": { permissions: [WRITTEN_PORT], principals: [{ any: true }] } },
    },
  });
}

function inexpressibleFinding({ policy, index, conditions }: InexpressibleRule): Finding {
  const effect = policy.spec.action === "ALLOW" ? "never matches there" : "matches there without this condition";
  const text = `a waypoint compares the client and the port of connections, not ${conditions.join(", ")}: ` +
    `rules[${index}] ${effect}`;
  return warningOf("http-rule-for-bytes", [policy.key], text);
}
