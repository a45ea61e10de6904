/**
 * Rules of ProxyFilter: patch, match and target must fit together. The patched message itself is checked when patches
 * are translated.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import { checkLabelsSelector, checkTargetReferences } from "../../validation/shared.ts";
import { checkRegex } from "../../validation/regex.ts";
import type { Validate } from "../validate.ts";
import type { ApplyTo, ConfigObjectMatch, ConfigPatch, ListenerMatch, ProxyFilterSpec } from "./schema.ts";

/** Checks a ProxyFilter. */
export const validateProxyFilter: Validate<ProxyFilterSpec> = (spec, _meta, report) => {
  checkLabelsSelector(spec.workloadSelector, "spec.workloadSelector", report);
  if (spec.workloadSelector !== undefined && spec.targetRefs !== undefined) {
    report.error("spec", "workloadSelector and targetRefs", "only one of workloadSelector, targetRefs");
  }
  checkTargetReferences(spec.targetRefs, "spec.targetRefs", report);
  spec.configPatches?.forEach((patch, index) => checkPatch(patch, `spec.configPatches[${index}]`, report));
};

function checkPatch(config: ConfigPatch, at: string, report: Findings): void {
  const { applyTo, match, patch } = config;
  if (applyTo === "INVALID") {
    report.error(`${at}.applyTo`, undefined, "what is patched: LISTENER, HTTP_FILTER, CLUSTER, ...");
  }
  if (patch === undefined) report.error(`${at}.patch`, undefined, "a patch");
  else if (patch.operation === "INVALID") {
    report.error(`${at}.patch.operation`, undefined, "an operation: MERGE, ADD, REMOVE, INSERT_BEFORE, ...");
  } else if (patch.operation !== "REMOVE" && patch.value === undefined) {
    report.error(`${at}.patch.value`, undefined, `a value (operation ${patch.operation})`);
  }
  if (match?.proxy?.proxyVersion !== undefined) {
    checkRegex(match.proxy.proxyVersion, `${at}.match.proxy.proxyVersion`, report);
  }
  if (patch !== undefined && patch.filterClass !== "UNSPECIFIED") {
    const expected = "nothing: the operation and the match say where a filter comes";
    report.warning(`${at}.patch.filterClass`, patch.filterClass, expected);
  }
  if (match === undefined) return;
  checkMatch(applyTo, match, `${at}.match`, report);
  warnOfIdleMatches(config, `${at}.match`, report);
}

/** Warns of parts of a match that have no effect. */
function warnOfIdleMatches({ applyTo, match = NO_MATCH, patch }: ConfigPatch, at: string, report: Findings): void {
  const { listener, routeConfiguration, cluster } = match;
  const idle = (field: string, value: unknown, why: string) =>
    report.warning(`${at}.${field}`, value, `nothing here: ${why}`);
  const adds = patch?.operation === "ADD" || patch?.operation.startsWith("INSERT_");
  if (applyTo === "LISTENER" && adds && listener) idle("listener", listener, "a listener is added whatever there is");
  if (applyTo === "CLUSTER" && adds && cluster) idle("cluster", cluster, "a cluster is added whatever there is");
  if (listener?.portName !== undefined) idle("listener.portName", listener.portName, "listeners have a port number");
  if (applyTo !== "LISTENER_FILTER" && listener?.listenerFilter !== undefined) {
    idle("listener.listenerFilter", listener.listenerFilter, "it is for applyTo LISTENER_FILTER");
  }
  const { vhost } = routeConfiguration ?? {};
  if (applyTo === "ROUTE_CONFIGURATION" && vhost) idle("routeConfiguration.vhost", vhost, "all of it is patched");
  if (applyTo === "VIRTUAL_HOST" && vhost?.route) {
    idle("routeConfiguration.vhost.route", vhost.route, "it is for applyTo HTTP_ROUTE");
  }
  const { name, ...others } = cluster ?? {};
  for (const [field, value] of Object.entries(name === undefined ? {} : others)) {
    idle(`cluster.${field}`, value, "the name alone decides");
  }
}

const NO_MATCH: ConfigObjectMatch = { context: "ANY" };

type ObjectMatch = "listener" | "routeConfiguration" | "cluster";
const OBJECT_MATCHES: readonly ObjectMatch[] = ["listener", "routeConfiguration", "cluster"];
const MATCH_OF: Readonly<Partial<Record<ApplyTo, ObjectMatch>>> = {
  LISTENER: "listener",
  LISTENER_FILTER: "listener",
  FILTER_CHAIN: "listener",
  NETWORK_FILTER: "listener",
  HTTP_FILTER: "listener",
  ROUTE_CONFIGURATION: "routeConfiguration",
  VIRTUAL_HOST: "routeConfiguration",
  HTTP_ROUTE: "routeConfiguration",
  CLUSTER: "cluster",
};

function checkMatch(applyTo: ApplyTo, match: ConfigObjectMatch, at: string, report: Findings): void {
  const fitting = MATCH_OF[applyTo];
  for (const kind of OBJECT_MATCHES) {
    if (fitting !== undefined && kind !== fitting && match[kind] !== undefined) {
      report.error(`${at}.${kind}`, match[kind], `${fitting} (applyTo is ${applyTo})`);
    }
  }
  if (fitting === "listener" && match.listener !== undefined) {
    checkListenerMatch(applyTo, match.listener, `${at}.listener`, report);
  }
}

const CONNECTION_MANAGERS = new Set(["envoy.filters.network.http_connection_manager", "envoy.http_connection_manager"]);

function checkListenerMatch(applyTo: ApplyTo, match: ListenerMatch, at: string, report: Findings): void {
  const filter = match.filterChain?.filter;
  if (filter === undefined) return;
  const where = `${at}.filterChain.filter`;
  if (applyTo === "LISTENER" || applyTo === "FILTER_CHAIN") {
    report.warning(where, filter, `no filter: it has no effect with applyTo ${applyTo}`);
  }
  if (filter.name === undefined) {
    report.error(`${where}.name`, undefined, "the name of a network filter");
    return;
  }
  const { subFilter } = filter;
  if (subFilter === undefined) return;
  if (applyTo !== "HTTP_FILTER") {
    report.error(`${where}.subFilter`, subFilter, `nothing: only applyTo HTTP_FILTER has it (this is ${applyTo})`);
  } else if (!CONNECTION_MANAGERS.has(filter.name)) {
    report.error(`${where}.name`, filter.name, "envoy.filters.network.http_connection_manager beside subFilter");
  } else if (subFilter.name === undefined) {
    report.error(`${where}.subFilter.name`, undefined, "the name of an HTTP filter");
  }
}
