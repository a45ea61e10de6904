/**
 * Descriptions of pods and services as text for people.
 *
 * @module
 */
import { columns, wrap } from "../../lib/cli/terminal/layout.ts";
import { safeText, type Style, styleOf } from "../../lib/cli/terminal/style.ts";
import type { Terminal } from "../../lib/cli/terminal/terminal.ts";
import type {
  DescribedPolicy,
  DescribedRoute,
  DescribedRoutes,
  DescribedRule,
  DescribedService,
  DescribedTarget,
  MeshServiceDescription,
  PodDescription,
  WithFindings,
} from "../../lib/debug/description.ts";
import {
  answerText,
  gatewaysText,
  labelText,
  portText,
  targetText,
  tlsText,
} from "../../lib/debug/description_words.ts";
import { profileOf } from "../../lib/translate/reader/proxy_profile.ts";

type ShownPod = WithFindings<PodDescription>;
type ShownService = WithFindings<MeshServiceDescription>;

/** Lines with their cells. A single cell is a heading. */
type TextRows = readonly (readonly string[])[];

/** The text; ends with a line break. */
export function descriptionText(described: ShownPod | ShownService, terminal: Terminal): string {
  const style = styleOf(terminal);
  const rows = "pod" in described ? podRows(described, style) : serviceRows(described, style);
  const lines = columns([...rows, ...policyRows(described.policies, style)], terminal.width);
  for (const { severity, code, message } of described.findings) {
    lines.push(wrap(message, terminal.width, `${style(severity, `${severity} ${code}`)}  `, "  "));
  }
  if (described.findings.length === 0) lines.push(style("good", "no finding about these objects"));
  for (const note of described.notes) lines.push(style("faint", wrap(note, terminal.width, "note: ")));
  return safeText(`${lines.join("\n")}\n`);
}

function podRows(pod: ShownPod, style: Style): TextRows {
  const facts: (readonly [string, string | undefined])[] = [
    ["address", pod.address],
    ["account", pod.account],
    ["labels", labelText(pod.labels)],
    ["ports", pod.containerPorts.join(", ")],
    ["proxy", pod.proxy],
    ["ambient", pod.ambient],
    ["mutual TLS", pod.tls && tlsText(pod.tls)],
  ];
  return [
    [style("strong", `${profileOf(pod.type).gateways ? profileOf(pod.type).noun : "pod"} ${pod.pod}`)],
    ...facts.flatMap(([name, text]) => text === undefined || text === "" ? [] : [[`  ${name}`, text]]),
    ...pod.services.flatMap((
      service,
    ) => [[style("strong", `service ${service.host}`)], ...trafficRows(service, style)]),
    ...pod.serves.length === 0 ? [] : [[style("strong", "serves")]],
    ...pod.serves.map(({ object, servers }) => [`  ${object}`, servers.join("; ")]),
  ];
}

function serviceRows(described: ShownService, style: Style): TextRows {
  const { service, addresses, endpoints, workloads, tls, callers } = described;
  const facts: (readonly [string, string])[] = [
    ["object", service.object],
    ["addresses", addresses.join(", ") || "none"],
    ["endpoints", `${endpoints.healthy} of ${endpoints.all} healthy`],
    ["workloads", workloads.join(", ") || "none is known"],
    ["mutual TLS", tls],
  ];
  return [
    [style("strong", `service ${service.host}`)],
    ...facts.map(([name, text]) => [`  ${name}`, text]),
    ...trafficRows(service, style),
    ...callers.length === 0 ? [] : [[style("strong", "callers")]],
    ...callers.map(({ caller, result, conditions }) => [
      `  ${caller}`,
      conditions.length === 0 ? result : `${result}: ${conditions.join(", ")}`,
    ]),
  ];
}

function trafficRows({ ports, waypoint, rules, routes, gateways }: DescribedService, style: Style): TextRows {
  return [
    ...ports.map((one) => [`  port ${one.port}`, portText(one)]),
    ...waypoint === undefined ? [] : [[`  waypoint ${waypoint.name}`, waypoint.text]],
    ...rules.flatMap((rule) => ruleRows(rule, style)),
    ...routes.flatMap((one) => routeRows(one, style)),
    ...gateways.map(({ object, servers }) => [`  ${object}`, servers.join("; ")]),
  ];
}

function ruleRows({ object, inForce, subsets, policy }: DescribedRule, style: Style): TextRows {
  const settings = policy.length === 0 ? "no traffic policy" : policy.join(", ");
  return [
    [`  ${object}`, `${inForce ? settings : style("warning", "not in force for clients of this namespace")}`],
    ...subsets.map(({ name, labels, matches, endpoints }) => [
      `    subset ${name}`,
      `${membership(matches, style)}${labelText(labels) || "all labels"}, ${endpoints} endpoints`,
    ]),
  ];
}

function membership(matches: boolean | undefined, style: Style): string {
  if (matches === undefined) return "";
  return matches ? `${style("good", "has this pod")}: ` : `${style("faint", "without this pod")}: `;
}

function routeRows({ object, hosts, gateways, inForce, routes }: DescribedRoutes, style: Style): TextRows {
  const state = inForce === false ? style("warning", "not in force for sidecars: others have precedence; ") : "";
  return [
    [`  ${object}`, `${state}for ${hosts.join(", ")}${gatewaysText(gateways)}`],
    ...routes.map((route) => [`    ${route.protocol} ${route.name}`, routeText(route, style)]),
  ];
}

function routeText(route: DescribedRoute, style: Style): string {
  const { when, to, answers } = route;
  if (answers !== undefined || to.length === 0) return `${when}: ${answerText(route)}`;
  return `${when}: ${to.map((target) => reachText(target, style)).join(", ")}`;
}

function reachText(target: DescribedTarget, style: Style): string {
  const { reachesPod } = target;
  if (reachesPod === undefined) return targetText(target);
  const reach = reachesPod ? style("good", "reaches this pod") : style("faint", "not to this pod");
  return `${targetText(target)} (${reach})`;
}

function policyRows(policies: readonly DescribedPolicy[], style: Style): TextRows {
  if (policies.length === 0) return [[style("strong", "policies")], ["  none", ""]];
  return [
    [style("strong", "policies")],
    ...policies.map(({ object, level, text }) => [`  ${object}`, text === "" ? level : `${level}: ${text}`]),
  ];
}
