/**
 * The policies for a workload or for what is behind a waypoint, each with its work in words.
 *
 * @module
 */
import { isDryRun } from "../../config/kinds/authorization_policy/dry_run.ts";
import type { AnyConfigObject } from "../../config/types.ts";
import { GATEWAY_API_GROUP } from "../../config/spelling/spelling.ts";
import type { DescribedPolicy } from "../../debug/description.ts";
import { isHiddenAt, POLICY_LEVELS, selectedPolicies } from "../../debug/selected_policies.ts";
import { writtenKey } from "../../finding/origin.ts";
import type { SelectableWorkload } from "../../mesh/selection/index.ts";
import { SELECTING_KINDS } from "../../mesh/selection/selection.ts";
import { serviceTargets } from "../../mesh/waypoints/index.ts";
import type { Service } from "../../registry/types.ts";
import type { KeyedPart } from "./parts.ts";
import { waypointOf } from "./service.ts";
import type { DescribedWorld } from "./world.ts";

/** The policies that hold at a workload, the widest level first. */
export function policiesAt(workload: SelectableWorkload, world: DescribedWorld): KeyedPart<DescribedPolicy[]> {
  return described(workload, world, (level) => level);
}

/** The policies for a service that its waypoint enforces; nothing without a waypoint. */
export function policiesAtWaypoint(service: Service, world: DescribedWorld): KeyedPart<DescribedPolicy[]> {
  const waypoint = waypointOf(service, world);
  if (waypoint === undefined) return { part: [], keys: [] };
  const [namespace = "", name = ""] = waypoint.name.split("/");
  const gateway = { group: GATEWAY_API_GROUP, kind: "Gateway", name, namespace };
  const ofWaypoint = [gateway, ...world.mesh.waypoint(waypoint.name).targets, ...serviceTargets(service)];
  return described({ namespace, labels: {}, ofWaypoint }, world, () => `waypoint ${waypoint.name}`);
}

function described(
  workload: SelectableWorkload,
  world: DescribedWorld,
  levelText: (title: string) => string,
): KeyedPart<DescribedPolicy[]> {
  const keys: string[] = [];
  const part = SELECTING_KINDS.flatMap((kind) => {
    // Injection reads them, and no proxy; a waypoint has no own one.
    if (kind === "ProxyConfig" && workload.ofWaypoint !== undefined) return [];
    const selected = selectedPolicies(kind, workload, world);
    return POLICY_LEVELS.flatMap(([level, title]) =>
      selected[level].map((object, at): DescribedPolicy => {
        keys.push(object.key);
        return {
          ...{ kind: object.kind, object: writtenKey(object), level: levelText(title) },
          text: isHiddenAt(kind, level, at)
            ? "without effect: an older object of the same level has precedence"
            : policyText(object as AnyConfigObject),
        };
      })
    );
  });
  return { part, keys };
}

/** What a policy does, in a few words. */
function policyText(object: AnyConfigObject): string {
  switch (object.kind) {
    case "AuthorizationPolicy": {
      const { action, rules = [] } = object.spec;
      const trial = isDryRun(object) ? ", a dry run that decides nothing" : "";
      if (rules.length > 0) return `${action}, ${counted(rules.length, "rule")}${trial}`;
      return action === "ALLOW" ? `ALLOW without a rule: nothing is allowed${trial}` : `${action} without a rule`;
    }
    case "RequestAuthentication": {
      const issuers = (object.spec.jwtRules ?? []).map(({ issuer }) => issuer);
      return issuers.length === 0 ? "no issuer" : `tokens of ${issuers.join(", ")}`;
    }
    case "PeerAuthentication": {
      const { mtls, portLevelMtls = {} } = object.spec;
      const ports = Object.entries(portLevelMtls).map(([port, { mode }]) => `port ${port} ${mode}`);
      return [mtls?.mode ?? "UNSET", ...ports].join(", ");
    }
    case "Sidecar":
      return counted(object.spec.egress?.length ?? 0, "egress listener");
    case "ProxyFilter":
      return counted(object.spec.configPatches?.length ?? 0, "patch");
    default:
      return "";
  }
}

function counted(n: number, word: string): string {
  return `${n} ${n === 1 ? word : word.endsWith("ch") ? `${word}es` : `${word}s`}`;
}
