/**
 * Rules of VirtualServices, and their matches, without any route or filter chain of any proxy.
 *
 * @module
 */
import { carriesLabels } from "../config/schema/labels.ts";
import type { VirtualServiceSpec } from "../config/kinds/kinds.ts";
import type { EffectiveVirtualService, RuleProtocol } from "../mesh/types.ts";
import { wildcardsOver } from "../mesh/host_match.ts";
import { MESH_GATEWAY } from "../mesh/sidecar_rules.ts";
import { destinationHosts } from "../mesh/virtual_service_index.ts";
import { isVisible } from "../mesh/visibility.ts";
import { profileOf } from "../translate/reader/proxy_profile.ts";
import { keyText } from "../finding/object_name.ts";
import type { EffectWorld, Judge, JudgedProxy, UnusedPart } from "./judge.ts";
import { reasonOfRule } from "./rule_reason.ts";

const LISTS: readonly RuleProtocol[] = ["http", "tls", "tcp"];

export const judgeVirtualService: Judge<"VirtualService"> = (object, world) => {
  const { key, spec } = object;
  const vs = world.mesh.resolver.effective(key);
  if (vs === undefined) return judgeDelegate(key, spec, world);
  // Users cannot change rules that are derived from routes here.
  if (vs.spec.http?.some(({ internal }) => internal !== undefined)) return [];
  const judged = LISTS.flatMap((list) =>
    (spec[list] ?? []).map((_, at) => ({ list, at, unused: judgeRule(list, at, vs, world) }))
  );
  const dead = judged.filter(({ unused }) => unused === "whole");
  const [first] = dead;
  if (first !== undefined && dead.length === judged.length) {
    const parts = dead.map(({ list, at }) => `spec.${list}[${at}]`);
    return [{ field: "", parts, ...reasonOfRule(first.list, first.at, vs, world) }];
  }
  return judged.flatMap(({ list, at, unused }): UnusedPart[] => {
    const field = `spec.${list}[${at}]`;
    if (unused === "whole") return [{ field, ...reasonOfRule(list, at, vs, world) }];
    return unused.map((match) => ({ field: `${field}.match[${match}]`, ...reasonOfRule(list, at, vs, world, match) }));
  });
};

/** Positions of matches without effect, or the rule as a whole. */
function judgeRule(
  list: RuleProtocol,
  at: number,
  vs: EffectiveVirtualService,
  world: EffectWorld,
): "whole" | readonly number[] {
  const { inForce } = world;
  const [key = ""] = vs.causes;
  const rule = ruleAsWritten(list, at, vs);
  const matches = rule?.match ?? [];
  // The matches of a rule with a delegate are merged with the matches of the delegate.
  if (rule === undefined || matches.length === 0) {
    if (inForce.hasWithin(key, list, `${at}`)) return [];
    world.noteDead();
    return couldBe(list, undefined, vs, world) ? "whole" : [];
  }
  if (inForce.hasPart(key, `${list} ${at}`)) return [];
  const dead = matches.map((_, position) => !inForce.hasPart(key, `${list} ${at}.${position}`));
  if (!dead.includes(true)) return [];
  world.noteDead();
  const unused = matches.map((match, position) => dead[position]! && couldBe(list, match, vs, world));
  if (unused.every((one) => one)) return "whole";
  return unused.flatMap((one, position) => one ? [position] : []);
}

/** Whether a rule could be for some proxy, and the VirtualService has no other effect. */
function couldBe(
  list: RuleProtocol,
  match: ProxyConditions | undefined,
  vs: EffectiveVirtualService,
  world: EffectWorld,
): boolean {
  const { proxies, views, routers } = world;
  const clients = Object.keys(match?.sourceLabels ?? {}).length > 0 ? proxies : views;
  return [clients, routers].some((some) => some.some((proxy) => couldHave(proxy, list, match, vs, world))) &&
    !bringsDestinations(vs, world) && !hidesOthers(list, vs, world);
}

/**
 * Whether the object keeps some host from the rules of another VirtualService. Another finding reports the conflict.
 */
function hidesOthers(list: RuleProtocol, vs: EffectiveVirtualService, { mesh, views }: EffectWorld): boolean {
  if (!vs.gateways.includes(MESH_GATEWAY)) return false;
  const { virtualServices } = mesh;
  const isShared = (host: string) =>
    [host, ...wildcardsOver(host)].some((one) =>
      virtualServices.forHost(one).some((other) => other !== vs && (other.spec[list] ?? []).length > 0)
    );
  return vs.hosts.filter(isShared).some((host) => views.some(({ scope }) => scope.deciding(host, list).includes(vs)));
}

/**
 * Whether some Sidecar's workloads see a service only because this object sends to the service. Such visibility is an
 * effect, too.
 */
function bringsDestinations(vs: EffectiveVirtualService, { views }: EffectWorld): boolean {
  if (!vs.gateways.includes(MESH_GATEWAY)) return false;
  const hosts = [...destinationHosts(vs)].flatMap((host) => [host, ...wildcardsOver(host)]);
  return views.some(({ namespace, scope }) =>
    isVisible(vs, namespace) && hosts.some((host) => scope.isSeenAsDestination(host))
  );
}

/** The rule with full names; undefined: delegates take the rule's place. */
function ruleAsWritten(list: RuleProtocol, at: number, { spec, httpOrigins }: EffectiveVirtualService) {
  if (list !== "http" || httpOrigins === undefined) return spec[list]?.[at];
  const found = httpOrigins.findIndex(({ rule, delegate }) => rule === at && delegate === undefined);
  return found < 0 ? undefined : spec.http?.[found];
}

/** The conditions of a match decided by the proxy alone. */
interface ProxyConditions {
  readonly gateways?: readonly string[];
  readonly sourceNamespace?: string;
  readonly sourceLabels?: Readonly<Record<string, string>>;
}

/** Whether a proxy could have a rule, judged by the proxy's properties and scope. */
function couldHave(
  { type, namespace, labels, scope }: JudgedProxy,
  list: RuleProtocol,
  match: ProxyConditions | undefined,
  vs: EffectiveVirtualService,
  { mesh }: EffectWorld,
): boolean {
  if (!isVisible(vs, namespace)) return false;
  const { gateways = [], sourceNamespace, sourceLabels = {} } = match ?? {};
  if (sourceNamespace !== undefined && sourceNamespace !== "" && sourceNamespace !== namespace) return false;
  if (!carriesLabels(labels, sourceLabels)) return false;
  const wanted = gateways.length === 0 ? vs.gateways : vs.gateways.filter((one) => gateways.includes(one));
  if (!profileOf(type).gateways) {
    return wanted.includes(MESH_GATEWAY) && vs.hosts.some((host) => scope.virtualService(host, list) !== undefined);
  }
  const served = mesh.gateways.select(namespace, labels).map(({ meta }) => `${meta.namespace}/${meta.name}`);
  return wanted.some((one) => served.includes(one));
}

/** A delegate is judged by the rules of its root VirtualServices. */
function judgeDelegate(key: string, { http = [] }: VirtualServiceSpec, world: EffectWorld): readonly UnusedPart[] {
  const { mesh, inForce } = world;
  world.noteDead();
  const roots = [...mesh.resolver.rootsOf(key)].sort();
  if (roots.length === 0) {
    return [{ field: "", expected: "a VirtualService with hosts that delegates to the object (none does)" }];
  }
  // A root without any effect proves nothing about its delegates.
  const inUse = roots.filter((root) => inForce.has(root));
  // Where delegates could not be merged, a finding of the root says so.
  if (inUse.length === 0 || roots.some((root) => mesh.problems.has(root))) return [];
  const dead = http.map((_, at) => at).filter((at) => !inForce.hasWithin(key, "http", `${at}`));
  // The destinations of a delegate are the destinations of its root.
  const bringsSome = dead.length > 0 && roots.some((root) => {
    const vs = mesh.resolver.effective(root);
    return vs !== undefined && bringsDestinations(vs, world);
  });
  if (bringsSome) return [];
  const expected = `a rule that is within the matches of ${
    inUse.map(keyText).join(", ")
  }, and that no earlier rule hides`;
  if (dead.length === http.length) return [{ field: "", expected, others: inUse }];
  return dead.map((at) => ({ field: `spec.http[${at}]`, expected, others: inUse }));
}
