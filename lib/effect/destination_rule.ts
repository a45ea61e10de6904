/**
 * DestinationRules without any resource of any proxy, and unused subsets and ports of the other DestinationRules.
 *
 * @module
 */
import { carriesLabels } from "../config/schema/labels.ts";
import { isWildcard } from "../mesh/host_match.ts";
import { destinationRuleHost, type DestinationRuleObject } from "../mesh/destination_rule.ts";
import { effectiveExportTo } from "../mesh/names.ts";
import { isVisible } from "../mesh/visibility.ts";
import { profileOf } from "../translate/reader/proxy_profile.ts";
import { keyText } from "../finding/object_name.ts";
import type { EffectWorld, Judge, JudgedProxy, UnusedPart } from "./judge.ts";

export const judgeDestinationRule: Judge<"DestinationRule"> = (object, world) => {
  const { key, spec } = object;
  const host = destinationRuleHost(object, world.mesh);
  const { inForce, proxies, views } = world;
  const top = portsOf(spec.trafficPolicy, "spec.trafficPolicy", (port) => isUsedPort(inForce, key, `port ${port}`));
  const subsets = (spec.subsets ?? []).flatMap(({ name, trafficPolicy }, at): Unused[] => {
    const field = `spec.subsets[${at}]`;
    if (!inForce.hasPart(key, `subset ${name}`)) return [{ field: `${field}.name`, value: name, of: "subset" }];
    return portsOf(
      trafficPolicy,
      `${field}.trafficPolicy`,
      (port) => isUsedPort(inForce, key, `port ${port} of ${name}`),
    );
  });
  const isDead = !inForce.has(key);
  if (!isDead && top.length + subsets.length === 0) return [];
  world.noteDead();
  const clients = spec.workloadSelector === undefined ? views : proxies;
  const concerned = clients.filter((proxy) => couldHave(proxy, object, host, world));
  if (concerned.length === 0) return [];
  if (isDead) return [{ field: "", ...reasonOf(object, host, concerned, world) }];
  const ports = knownPorts(host, concerned);
  return [...top, ...subsets].map(({ field, value, of }): UnusedPart => ({
    field,
    value,
    expected: of === "port"
      ? `a port of ${host}${ports === "" ? "" : ` (${ports})`}`
      : `a subset of the rule that decides for ${host}`,
  }));
};

interface Unused {
  readonly field: string;
  readonly value: unknown;
  readonly of: "port" | "subset";
}

function portsOf(
  policy: DestinationRuleObject["spec"]["trafficPolicy"],
  path: string,
  isUsed: (port: number) => boolean,
): Unused[] {
  return (policy?.portLevelSettings ?? []).flatMap(({ port }, at): Unused[] => {
    const number = port?.number;
    if (number === undefined || isUsed(number)) return [];
    return [{ field: `${path}.portLevelSettings[${at}].port.number`, value: number, of: "port" }];
  });
}

/**
 * Whether a port or subset of a rule is used, as far as known. Inbound resources name the rule, but no port of the rule.
 * So nothing is known while no client has a cluster from the rule.
 */
function isUsedPort(inForce: EffectWorld["inForce"], key: string, part: string): boolean {
  return inForce.hasPart(key, part) || !inForce.hasClusters(key);
}

/** Whether a proxy sees the rule and a service of the rule's host. */
function couldHave(
  { namespace, labels, scope, type }: JudgedProxy,
  { meta, spec }: DestinationRuleObject,
  host: string,
  { mesh }: EffectWorld,
): boolean {
  // Gateways get clusters only for the hosts of their routes.
  if (profileOf(type).gateways) return false;
  if (spec.workloadSelector !== undefined) {
    const isSelected = carriesLabels(labels, spec.workloadSelector.matchLabels ?? {});
    if (meta.namespace !== namespace || !isSelected) return false;
  } else {
    const exportTo = effectiveExportTo(spec.exportTo, meta.namespace, mesh.config.defaultDestinationRuleExportTo);
    if (!isVisible({ namespace: meta.namespace, exportTo }, namespace)) return false;
  }
  if (isWildcard(host)) return scope.hasServiceUnder(host);
  const service = scope.service(host);
  // An alias has no clusters of its own.
  return service !== undefined && service.externalName === undefined && service.ports.some(isServed);
}

function isServed({ protocol }: { readonly protocol: string }): boolean {
  return protocol !== "UDP";
}

/** Clients look in their own namespace, then in the service's namespace, then in the root namespace. */
function reasonOf(
  { meta, key }: DestinationRuleObject,
  host: string,
  concerned: readonly JudgedProxy[],
  { mesh }: EffectWorld,
): Pick<UnusedPart, "expected" | "others"> {
  for (const { scope } of concerned) {
    const service = scope.service(host);
    const winners = service === undefined ? [] : scope.destinationRules(host).flatMap(({ causes }) => causes);
    const [winner] = winners.filter((one) => one !== key);
    if (winner !== undefined) {
      return { expected: `one rule for the host (${keyText(winner)} decides for ${host})`, others: [winner] };
    }
    if (service !== undefined && meta.namespace !== service.namespace && meta.namespace !== mesh.config.rootNamespace) {
      return {
        expected:
          `a rule in the namespace of a client or of the service, ${service.namespace} (clients look for rules in these namespaces and in ${mesh.config.rootNamespace})`,
        others: [service.cause],
      };
    }
  }
  return { expected: "a rule with an effect on some proxy (no cluster of any proxy comes from the rule)" };
}

function knownPorts(host: string, concerned: readonly JudgedProxy[]): string {
  const ports = new Set(concerned.flatMap(({ scope }) => scope.service(host)?.ports ?? []).map(({ port }) => port));
  return ports.size === 0 ? "" : `the service has ${[...ports].sort((a, b) => a - b).join(", ")}`;
}
