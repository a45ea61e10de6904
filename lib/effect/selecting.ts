/**
 * Objects that select workloads without any effect on the selected workloads.
 *
 * @module
 */
import { type ConfigObject, isKind } from "../config/types.ts";
import { SelectionIndex } from "../mesh/selection/index.ts";
import { type SelectingKind, selectionOf, selectsGateways } from "../mesh/selection/selection.ts";
import type { WaypointPolicy } from "../mesh/waypoints/policies.ts";
import { profileOf } from "../translate/reader/proxy_profile.ts";
import type { EffectWorld, JudgedProxy, UnusedPart } from "./judge.ts";

/** The known workloads selected by an object. */
export function selectedBy<K extends SelectingKind>(
  object: ConfigObject<K>,
  { mesh, proxies }: EffectWorld,
): JudgedProxy[] {
  const alone = new SelectionIndex<K>(mesh.config.rootNamespace, selectsGateways(object.kind, mesh.gatewaySelectors));
  alone.update([], [object]);
  return proxies.filter((proxy) =>
    !proxy.standsIn && Object.values(alone.select(mesh.gatewayTargets.of(proxy))).some((list) => list.length > 0)
  );
}

/** Judges policies and extensions. Resources of the selected workloads name the object, unless the object is unused. */
export function judgeSelecting<K extends SelectingKind>(
  object: ConfigObject<K>,
  world: EffectWorld,
): readonly UnusedPart[] {
  if (world.inForce.has(object.key)) return [];
  world.noteDead();
  if (selectedBy(object, world).length === 0) return [];
  return [{
    field: "",
    expected: `an object with an effect on the selected workloads (no resource of their proxies comes from the object${
      REASONS[object.kind] === undefined ? "" : `: ${REASONS[object.kind]}`
    })`,
  }];
}

/** Whether node tunnels may enforce an object. The resources of tunnels are not known here. */
export function mayHoldAtTunnels(object: ConfigObject): boolean {
  if (isKind(object, "PeerAuthentication")) return true;
  return isKind(object, "AuthorizationPolicy") && selectionOf(object).targets.length === 0;
}

/**
 * Judges policies that waypoints enforce. A policy that closes services without their waypoint has an effect, even
 * though no resource is made from the policy.
 */
export function judgeWaypointPolicy(object: WaypointPolicy, world: EffectWorld): readonly UnusedPart[] {
  const unused = judgeSelecting(object, world);
  return unused.length > 0 && world.mesh.mayClose(object) ? [] : unused;
}

/**
 * Judges PeerAuthentications. An object without a mode still has an effect if the object hides younger objects of its
 * level.
 */
export function judgePeerAuthentication(
  object: ConfigObject<"PeerAuthentication">,
  world: EffectWorld,
): readonly UnusedPart[] {
  const unused = judgeSelecting(object, world);
  const { peerAuthentications } = world.mesh;
  const hides = ({ standsIn, roles }: JudgedProxy) =>
    !standsIn && roles.some((role) => peerAuthentications.hidesOthers(object.key, role));
  return unused.length > 0 && world.proxies.some(hides) ? [] : unused;
}

const REASONS: Partial<Readonly<Record<string, string>>> = {
  PeerAuthentication:
    "an older or narrower PeerAuthentication decides, or the object sets no mode, or all these workloads are gateways",
  RequestAuthentication: "the object has no jwtRules",
};

/** Judges patches. A patch is unused if the patch matches no resource of the selected workloads. */
export function judgeProxyFilter(object: ConfigObject<"ProxyFilter">, world: EffectWorld): readonly UnusedPart[] {
  const { configPatches = [] } = object.spec;
  if (configPatches.every((_, at) => world.applied.has(`${object.key} ${at}`))) return [];
  world.noteDead();
  const selected = selectedBy(object, world);
  const hasLabels = Object.keys(selectionOf(object).labels).length > 0;
  const misplaced = new Set<number>();
  const dead = configPatches.flatMap(({ match, applyTo }, at) => {
    const { context = "ANY", proxy } = match ?? {};
    // Only connected proxies tell their own properties, so a match on proxy properties proves nothing.
    if (applyTo === "BOOTSTRAP" || proxy !== undefined || world.applied.has(`${object.key} ${at}`)) return [];
    const side = (one: JudgedProxy) => context === "ANY" || (context === "GATEWAY") === profileOf(one.type).gateways;
    if (selected.some(side)) return [at];
    // Other workloads may join a whole namespace or the mesh. Workloads selected by labels are alike.
    if (!hasLabels || selected.length === 0) return [];
    misplaced.add(at);
    return [at];
  });
  const expected = "a match that fits a resource of the selected proxies (the match fits none)";
  if (dead.length > misplaced.size && dead.length === configPatches.length) {
    return [{ field: "", parts: dead.map((at) => `spec.configPatches[${at}]`), expected }];
  }
  return dead.map((at) => {
    const match = configPatches[at]?.match;
    if (!misplaced.has(at)) return { field: `spec.configPatches[${at}].match`, value: match, expected };
    const are = match?.context === "GATEWAY" ? "sidecars" : "gateways";
    return {
      field: `spec.configPatches[${at}].match.context`,
      value: match?.context,
      expected: `the context of the selected workloads (all workloads with the labels are ${are})`,
    };
  });
}
