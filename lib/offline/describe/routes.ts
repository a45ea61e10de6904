/**
 * The routes for a service: of its own host, and of other hosts and gateways that lead to it.
 *
 * @module
 */
import { carriesLabels } from "../../config/schema/labels.ts";
import type { DescribedRoute, DescribedRoutes, DescribedTarget } from "../../debug/description.ts";
import { covers } from "../../mesh/host_match.ts";
import { MESH_GATEWAY } from "../../mesh/sidecar_rules.ts";
import type { EffectiveVirtualService, RuleProtocol } from "../../mesh/types.ts";
import type { Labels } from "../../registry/labels.ts";
import type { Service } from "../../registry/types.ts";
import { matchText } from "../../simulate/route.ts";
import { routeMatch } from "../../translate/route/match.ts";
import { type KeyedPart, spelledKey } from "./parts.ts";
import type { DescribedWorld } from "./world.ts";

const PROTOCOLS: readonly RuleProtocol[] = ["http", "tls", "tcp"];

/** Describes the routes. @param pod labels of the described pod; absent: no pod is described */
export function describedRoutes(
  service: Service,
  world: DescribedWorld,
  pod?: Labels,
): KeyedPart<DescribedRoutes[]> {
  const { mesh } = world;
  const scope = mesh.scope(service.namespace);
  const deciding = new Set(PROTOCOLS.flatMap((protocol) => scope.deciding(service.hostname, protocol)));
  const place: ServicePlace = { service, world, pod };
  // Of most rules a look at the hosts says that they are about other services.
  const found = [...mesh.virtualServices.all()].filter((rules) =>
    deciding.has(rules) || isAboutHost(rules, service.hostname) || leadsTo(rules, service.hostname)
  ).map((rules) => ({ rules, routes: routesOf(rules, place) }));
  found.sort((a, b) => Number(deciding.has(b.rules)) - Number(deciding.has(a.rules)) || order(a.rules, b.rules));
  return {
    part: found.map(({ rules, routes }) => ({
      object: rules.causes.map((key) => spelledKey(key, world)).join(", "),
      hosts: rules.hosts,
      gateways: rules.gateways,
      ...isAboutHost(rules, service.hostname) ? { inForce: deciding.has(rules) } : {},
      routes,
    })),
    keys: found.flatMap(({ rules }) => rules.causes),
  };
}

function order(a: EffectiveVirtualService, b: EffectiveVirtualService): number {
  return `${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1;
}

/** Whether sidecars may follow the rules for requests to a host. */
function isAboutHost({ hosts, gateways }: EffectiveVirtualService, host: string): boolean {
  return gateways.includes(MESH_GATEWAY) && hosts.some((one) => covers(one, host));
}

/** Whether a route has a host as its destination. */
function leadsTo({ spec: { http = [], tls = [], tcp = [] } }: EffectiveVirtualService, host: string): boolean {
  return [...http, ...tls, ...tcp].some(({ route = [] }) =>
    route.some(({ destination }) => destination?.host === host)
  );
}

/** The service whose routes are described. */
interface ServicePlace {
  readonly service: Service;
  readonly world: DescribedWorld;
  readonly pod: Labels | undefined;
}

function routesOf(rules: EffectiveVirtualService, place: ServicePlace): DescribedRoute[] {
  const { spec: { http = [], tls = [], tcp = [] }, segmentPrefixes } = rules;
  return [
    ...http.map((rule, at): DescribedRoute => ({
      ...{ protocol: "http", name: rule.name || String(at + 1) },
      when: orList((rule.match ?? []).map((match) => httpText(match, segmentPrefixes)), "every request"),
      to: targetsOf(rule.route ?? [], place),
      ...answerOf(rule),
    })),
    ...tls.map((rule, at): DescribedRoute => ({
      ...{ protocol: "tls", name: String(at + 1) },
      when: orList(
        (rule.match ?? []).map(({ sniHosts = [] }) => `server name ${sniHosts.join(" or ")}`),
        "every connection",
      ),
      to: targetsOf(rule.route ?? [], place),
    })),
    ...tcp.map((rule, at): DescribedRoute => ({
      ...{ protocol: "tcp", name: String(at + 1) },
      when: orList((rule.match ?? []).map(({ port }) => port === undefined ? "" : `port ${port}`), "every connection"),
      to: targetsOf(rule.route ?? [], place),
    })),
  ];
}

type EffectiveHttpRule = NonNullable<EffectiveVirtualService["spec"]["http"]>[number];
type EffectiveHttpMatch = NonNullable<EffectiveHttpRule["match"]>[number];

/** A condition of an http rule, in words; empty: no condition. */
function httpText(match: EffectiveHttpMatch, segmentPrefixes = false): string {
  const text = matchText(routeMatch(match, segmentPrefixes)).split(", ").filter((part) => part !== "prefix /");
  const { port, sourceNamespace, sourceLabels = {} } = match;
  const labels = Object.entries(sourceLabels).map(([name, value]) => `${name}=${value}`);
  return [
    ...text,
    ...port === undefined ? [] : [`port ${port}`],
    ...sourceNamespace ? [`from namespace ${sourceNamespace}`] : [],
    ...labels.length > 0 ? [`from workloads with ${labels.join(", ")}`] : [],
  ].join(", ");
}

function orList(conditions: readonly string[], every: string): string {
  return conditions.length === 0 || conditions.includes("") ? every : conditions.join("; or ");
}

function answerOf({ redirect, directResponse, route = [] }: EffectiveHttpRule): Pick<DescribedRoute, "answers"> {
  if (route.length > 0) return {};
  if (redirect !== undefined) return { answers: "redirect" };
  return directResponse === undefined ? {} : { answers: `status ${directResponse.status}` };
}

interface EffectiveTarget {
  readonly destination?: { readonly host: string; readonly subset?: string };
  readonly weight?: number;
}

function targetsOf(targets: readonly EffectiveTarget[], { service, world, pod }: ServicePlace): DescribedTarget[] {
  const total = targets.reduce((sum, { weight = 0 }) => sum + weight, 0);
  return targets.flatMap(({ destination, weight = 0 }): DescribedTarget[] => {
    if (destination === undefined) return [];
    const { host, subset } = destination;
    const isHere = host === service.hostname;
    return [{
      host,
      ...subset ? { subset } : {},
      ...targets.length > 1 && total > 0 ? { percent: Math.round(1000 * weight / total) / 10 } : {},
      isHere,
      ...isHere && pod !== undefined ? { reachesPod: isInSubset(service, subset, pod, world) } : {},
    }];
  });
}

/** Whether a pod of a service is in a subset. Without a subset every pod is. */
function isInSubset(service: Service, subset: string | undefined, pod: Labels, { mesh }: DescribedWorld): boolean {
  if (!subset) return true;
  const rules = mesh.scope(service.namespace).destinationRules(service.hostname);
  const found = rules.flatMap(({ spec }) => spec.subsets ?? []).find(({ name }) => name === subset);
  return found !== undefined && carriesLabels(pod, found.labels ?? {});
}
