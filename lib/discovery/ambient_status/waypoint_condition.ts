/**
 * What proxies that take tunnels (waypoints, gateways between networks) do with an AuthorizationPolicy that names its
 * targets, in words for its status.
 *
 * @module
 */
import { type BindableService, type BindingWorld, unboundText, waypointBinding } from "../../ambient/binding.ts";
import { isRemoteGateway } from "../../ambient/networks/gateways.ts";
import { takesTunnels } from "../../ambient/waypoint_admission.ts";
import { readWaypoint } from "../../ambient/waypoints.ts";
import type { PolicyTargetReference } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { AuthorizationPolicy } from "../../mesh/authorization_policy.ts";
import { selectionOf } from "../../mesh/selection/selection.ts";
import { isOnlyReported } from "../../mesh/waypoints/policies.ts";
import type { StatusCondition } from "../../status/conditions.ts";

/** Type of the condition. The name and the reasons are Istio's. */
export const WAYPOINT_ACCEPTED = "WaypointAccepted";

/** Targets in a message, of those with the policy and of those without. */
const MOST_TARGETS = 8;

/** Where the condition looks up targets. */
export interface TargetWorld extends BindingWorld {
  readonly rootNamespace: string;
  service(kind: "Service" | "ServiceEntry", namespace: string, name: string): BindableService | undefined;
  gatewaysOf(className: string): readonly ConfigObject<"ApiGateway">[];
}

/** What became of a target. */
type TargetOutcome =
  /** Where the policy holds. */
  | { readonly holds: string }
  | { readonly reason: "AncestorNotBound" | "Invalid" | "TargetNotFound"; readonly why: string }
  /** The target is a Gateway that takes no tunnels. */
  | undefined;

/** The condition of a policy. Undefined: the policy names only Gateways that take no tunnels, or nothing. */
export function waypointCondition(policy: AuthorizationPolicy, world: TargetWorld): StatusCondition | undefined {
  const holding: string[] = [];
  const faults: string[] = [];
  const reasons = new Set<string>();
  for (const target of selectionOf(policy).targets) {
    const outcome = outcomeOf(target, policy.meta.namespace, world);
    if (outcome === undefined) continue;
    if ("holds" in outcome) holding.push(outcome.holds);
    else {
      faults.push(outcome.why);
      reasons.add(outcome.reason);
    }
  }
  if (holding.length === 0 && faults.length === 0) return undefined;
  const why = listed(faults, "; ");
  if (holding.length === 0) {
    const reason = reasons.size === 1 ? [...reasons].join("") : "Invalid";
    return condition("False", reason, `Nothing enforces the policy: ${why}.`);
  }
  const holds = isOnlyReported(policy) ? "only reports, and refuses nothing," : "is enforced";
  const text = `The policy ${holds} for ${listed(holding, ", ")}.`;
  if (faults.length === 0) return condition("True", "Accepted", text);
  return condition("True", "PartiallyInvalid", `${text} Other targets do not have it: ${why}.`);
}

function condition(status: "True" | "False", reason: string, message: string): StatusCondition {
  return { type: WAYPOINT_ACCEPTED, status, reason, message };
}

function listed(texts: readonly string[], between: string): string {
  const more = texts.length > MOST_TARGETS ? `${between}and ${texts.length - MOST_TARGETS} more` : "";
  return texts.slice(0, MOST_TARGETS).join(between) + more;
}

function outcomeOf({ kind, name }: PolicyTargetReference, namespace: string, world: TargetWorld): TargetOutcome {
  switch (kind) {
    case "Service":
    case "ServiceEntry":
      return ofService(world.service(kind, namespace, name), `${kind} ${namespace}/${name}`, world);
    case "Gateway":
      return ofGateway(world.gateway(namespace, name), `Gateway ${namespace}/${name}`, world);
    case "GatewayClass":
      return ofClass(name, namespace, world);
    default:
      return { reason: "Invalid", why: `a ${kind} cannot be a target` };
  }
}

function ofService(service: BindableService | undefined, title: string, world: TargetWorld): TargetOutcome {
  if (service === undefined) return { reason: "TargetNotFound", why: `${title} does not exist` };
  const binding = waypointBinding(service, world);
  const unbound = (why: string): TargetOutcome => ({ reason: "AncestorNotBound", why });
  if (binding === undefined) return unbound(`${title} asks for no waypoint, or can have none`);
  if (binding.reason !== undefined) {
    return unbound(`${title} does not have its waypoint, because ${unboundText(binding, service.meta.namespace)}`);
  }
  if (binding.way === "pods") return unbound(`${title} is headless: clients dial its pods, past the waypoint`);
  return { holds: `${title} at the waypoint ${binding.waypoint}` };
}

function ofGateway(gateway: ConfigObject<"ApiGateway"> | undefined, title: string, world: TargetWorld): TargetOutcome {
  if (gateway === undefined) return { reason: "TargetNotFound", why: `${title} does not exist` };
  if (!servesTunnels(gateway, world)) return undefined;
  if (isReady(gateway, world)) return { holds: title };
  return { reason: "AncestorNotBound", why: `${title} has no address in its status` };
}

/** A class counts only in the root namespace. Gateways of the class that take no tunnels do not count. */
function ofClass(name: string, namespace: string, world: TargetWorld): TargetOutcome {
  const title = `GatewayClass ${name}`;
  const { rootNamespace } = world;
  if (namespace !== rootNamespace) {
    return { reason: "Invalid", why: `${title} is a target only in the root namespace, ${rootNamespace}` };
  }
  if (world.gatewayClass(name) === undefined) return { reason: "TargetNotFound", why: `${title} does not exist` };
  if (world.gatewaysOf(name).some((one) => servesTunnels(one, world) && isReady(one, world))) return { holds: title };
  return { reason: "AncestorNotBound", why: `no Gateway of ${title} takes tunnels and has an address in its status` };
}

function servesTunnels(gateway: ConfigObject<"ApiGateway">, world: TargetWorld): boolean {
  const controller = world.gatewayClass(gateway.spec.gatewayClassName)?.spec.controllerName;
  return takesTunnels(gateway) && !isRemoteGateway(gateway, controller);
}

function isReady(gateway: ConfigObject<"ApiGateway">, world: TargetWorld): boolean {
  return readWaypoint(gateway, world.gatewayClass(gateway.spec.gatewayClassName)?.meta, "").address !== undefined;
}
