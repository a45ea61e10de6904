/**
 * Rules of VirtualService: hosts, gateways, TLS and TCP rules. HTTP rules are in `validate_http.ts`.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import { joinPath } from "../../schema/field.ts";
import { checkLabels, hostsOverlap, isHostWithin, wildcardHostProblem } from "../../validation/names.ts";
import { checkPort, isIpAddress, subnetProblem } from "../../validation/network.ts";
import { checkExportTo } from "../../validation/shared.ts";
import { isJwtClaim } from "../../validation/values.ts";
import type { Validate } from "../validate.ts";
import { checkGatewayNames } from "./gateway_names.ts";
import { warnUnreachable } from "./reachability.ts";
import type { L4MatchAttributes, RouteDestination, TlsMatchAttributes, VirtualServiceSpec } from "./schema.ts";
import { checkDestination, checkHttpRoute, isUnset } from "./validate_http.ts";

/** Checks a VirtualService. A VirtualService without hosts is a delegate. */
export const validateVirtualService: Validate<VirtualServiceSpec> = (spec, meta, report) => {
  const isDelegate = spec.hosts === undefined;
  if (isDelegate) {
    for (const field of ["gateways", "tls", "tcp"] as const) {
      if (spec[field] !== undefined) {
        report.error(
          `spec.${field}`,
          spec[field],
          "nothing: a VirtualService without hosts is a delegate and has http only",
        );
      }
    }
  }
  checkGatewayNames(spec.gateways, "spec.gateways", report);
  const gatewayOnly = spec.gateways !== undefined && !spec.gateways.includes("mesh");
  if (!gatewayOnly) refuseClaimRouting(spec, report);
  checkHosts(spec, gatewayOnly, report);
  if (spec.http === undefined && spec.tls === undefined && spec.tcp === undefined) {
    report.error("spec", {}, "at least one of http, tls, tcp");
  }
  // A derivation checks its rules one by one: a wrong rule must not cost the other rules of the host.
  const written = (spec.http ?? []).every(({ internal }) => internal === undefined);
  if (written) spec.http?.forEach((route, index) => checkHttpRoute(route, isDelegate, `spec.http[${index}]`, report));
  // A TLSRoute at a service names server names of its own, which are no hosts of the mesh.
  const withinHosts = spec.internal?.semantics !== "gateway";
  spec.tls?.forEach((route, index) => {
    const at = `spec.tls[${index}]`;
    if (route.match === undefined) report.error(`${at}.match`, undefined, "at least one match");
    route.match?.forEach((match, position) =>
      checkTlsMatch(match, { spec, gatewayOnly, withinHosts }, `${at}.match[${position}]`, report)
    );
    checkRouteDestinations(route.route, at, report);
  });
  spec.tcp?.forEach((route, index) => {
    const at = `spec.tcp[${index}]`;
    route.match?.forEach((match, position) => checkL4Match(match, `${at}.match[${position}]`, report));
    checkRouteDestinations(route.route, at, report);
  });
  checkExportTo(spec.exportTo, meta.namespace, report);
  if (written) warnUnreachable(spec, report);
};

function refuseClaimRouting(spec: VirtualServiceSpec, report: Findings): void {
  spec.http?.forEach((route, index) =>
    route.match?.forEach((match, position) => {
      for (const field of ["headers", "withoutHeaders"] as const) {
        for (const name of Object.keys(match[field] ?? {})) {
          if (!isJwtClaim(name)) continue;
          const at = joinPath(`spec.http[${index}].match[${position}].${field}`, name);
          report.error(at, name, "a header: token claims can be matched only with gateways other than mesh");
        }
      }
    })
  );
}

function checkHosts(spec: VirtualServiceSpec, gatewayOnly: boolean, report: Findings): void {
  const hosts = spec.hosts ?? [];
  const hasSni = spec.tls?.some((route) => route.match?.some((match) => match.sniHosts.length > 0)) === true;
  let allRight = true;
  const wildcards = hosts.filter((host) => host.startsWith("*")).length;
  if (wildcards > MAX_WILDCARDS) {
    report.error("spec.hosts", wildcards, `at most ${MAX_WILDCARDS} hosts with wildcards`);
    return;
  }
  hosts.forEach((host, index) => {
    const wrong = hostOrSniProblem(host, gatewayOnly && hasSni);
    const at = `spec.hosts[${index}]`;
    if (wrong !== undefined && !isIpAddress(host)) report.error(at, host, `${wrong}, or an IP address`);
    else if (host === "*" && !gatewayOnly) {
      report.error(at, host, "hosts other than * unless all gateways are named (and mesh is not)");
    } else return;
    allRight = false;
  });
  if (allRight) refuseOverlaps(hosts, report);
}

/** Most wildcard hosts of one object: each is compared with all hosts. */
const MAX_WILDCARDS = 1000;

function refuseOverlaps(hosts: readonly string[], report: Findings): void {
  const seen = new Set<string>();
  const wildcards: string[] = [];
  hosts.forEach((host, index) => {
    const isWildcard = host.startsWith("*");
    const other = seen.has(host)
      ? host
      : (isWildcard ? hosts.slice(0, index) : wildcards).find((earlier) => hostsOverlap(earlier, host));
    if (other !== undefined) {
      report.error(`spec.hosts[${index}]`, host, `hosts that do not overlap (this one and ${other} do)`);
    }
    seen.add(host);
    if (isWildcard) wildcards.push(host);
  });
}

/** Hosts that AUTO_PASSTHROUGH gateways match: `outbound_.80_.v1_.reviews.default.svc.cluster.local`. */
const GENERATED_SNI = /^outbound_[^_0-9]*\d[^_]*_[^_]*_[^_a-zA-Z]*[a-zA-Z]/;

function hostOrSniProblem(host: string, generatedAllowed: boolean): string | undefined {
  if (generatedAllowed && host.startsWith("outbound_")) {
    return host.length <= 255 && GENERATED_SNI.test(host) ? undefined : "a name as outbound_.PORT_.SUBSET_.HOST";
  }
  return wildcardHostProblem(host);
}

/** What the check of a TLS match depends on. */
interface TlsMatchContext {
  readonly spec: VirtualServiceSpec;
  readonly gatewayOnly: boolean;
  /** Whether server names must be hosts of the object, or within its wildcards. */
  readonly withinHosts: boolean;
}

function checkTlsMatch(
  match: TlsMatchAttributes,
  { spec, gatewayOnly, withinHosts }: TlsMatchContext,
  at: string,
  report: Findings,
): void {
  const hosts = new Set(spec.hosts);
  const wildcards = (spec.hosts ?? []).filter((host) => host.startsWith("*")).slice(0, MAX_WILDCARDS);
  match.sniHosts.forEach((host, index) => {
    const where = `${at}.sniHosts[${index}]`;
    const wrong = hostOrSniProblem(host, gatewayOnly || !withinHosts);
    if (wrong !== undefined) {
      if (isIpAddress(host)) report.warning(where, host, "a host name: clients do not send IP addresses as SNI");
      else report.error(where, host, wrong);
    } else if (withinHosts && !hosts.has(host) && !wildcards.some((outer) => isHostWithin(host, outer))) {
      report.error(where, host, `a host within spec.hosts (${(spec.hosts ?? []).slice(0, 5).join(", ")})`);
    }
  });
  checkL4Match(match, at, report);
}

function checkL4Match(match: L4MatchAttributes | TlsMatchAttributes, at: string, report: Findings): void {
  match.destinationSubnets?.forEach((subnet, index) => {
    const wrong = subnetProblem(subnet);
    if (wrong !== undefined) report.error(`${at}.destinationSubnets[${index}]`, subnet, wrong);
  });
  if (match.port !== undefined) checkPort(match.port, `${at}.port`, report);
  checkLabels(match.sourceLabels, `${at}.sourceLabels`, report);
  checkGatewayNames(match.gateways, `${at}.gateways`, report);
  if ("sourceSubnet" in match && match.sourceSubnet !== undefined) {
    report.warning(`${at}.sourceSubnet`, match.sourceSubnet, "nothing: it has no effect");
  }
}

function checkRouteDestinations(routes: readonly RouteDestination[] | undefined, at: string, report: Findings): void {
  if (routes === undefined) {
    report.error(`${at}.route`, undefined, "at least one destination");
    return;
  }
  routes.forEach((route, index) => {
    checkDestination(route.destination, `${at}.route[${index}].destination`, report);
    if ((route.weight ?? 0) < 0) report.error(`${at}.route[${index}].weight`, route.weight, "0 or more");
  });
  if (
    routes.length > 1 && routes.every(({ weight }, index) => isUnset(weight, `${at}.route[${index}].weight`, report))
  ) {
    report.error(`${at}.route`, 0, "weights whose sum is not 0");
  }
}
