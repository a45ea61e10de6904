/**
 * The objects whose policies hold for a workload, by level, and how the objects of a kind become a single policy.
 *
 * @module
 */
import type { ConfigStore } from "../config/store.ts";
import type { ConfigObject } from "../config/types.ts";
import type { Mesh } from "../mesh/mesh.ts";
import { type SelectableWorkload, type Selected, SelectionIndex } from "../mesh/selection/index.ts";
import { type SelectingKind, selectsGateways } from "../mesh/selection/selection.ts";

/**
 * How several objects of a kind become a single policy.
 *
 * - `fields`: the oldest object of each level; a field of a nearer level has precedence.
 * - `layers`: as `fields`, but of the objects that choose the workload itself all count; the youngest has precedence.
 * - `nearest`: a single object, of the nearest level.
 * - `all`: every object on its own.
 */
export type LevelMerging = "fields" | "layers" | "nearest" | "all";

/** How each kind merges. */
export const MERGING: Readonly<Record<SelectingKind, LevelMerging>> = {
  AuthorizationPolicy: "all",
  PeerAuthentication: "fields",
  ProxyConfig: "fields",
  ProxyFilter: "all",
  RequestAuthentication: "all",
  Sidecar: "nearest",
  Telemetry: "layers",
  WasmPlugin: "all",
};

/** Where policies are found. */
export interface PolicySource {
  readonly store: Pick<ConfigStore, "list">;
  readonly mesh: Mesh;
  /** `layersPolicies` of the translator. */
  readonly layersPolicies: boolean;
}

/** The objects of a kind for a workload. */
export function selectedPolicies<K extends SelectingKind>(
  kind: K,
  workload: SelectableWorkload,
  { store, mesh, layersPolicies }: PolicySource,
): Selected<K> {
  const selects = selectsGateways(kind, mesh.gatewaySelectors);
  const index = new SelectionIndex<K>(mesh.config.rootNamespace, selects, kind === "Telemetry");
  // A kind's list holds objects of that kind.
  index.update([], store.list(kind) as readonly ConfigObject<K>[]);
  if (workload.ofWaypoint === undefined) return index.select(workload);
  // Injection reads objects of this kind, by the labels of the pod.
  if (kind === "ProxyConfig") return index.withoutTargets(workload);
  const targeted = index.select(workload);
  if (kind !== "AuthorizationPolicy" || !layersPolicies) return targeted;
  const layered = index.withoutTargets(workload);
  return { ...layered, workload: [...layered.workload, ...targeted.workload] };
}

/** The levels of objects, the widest first, in words for people. */
export const POLICY_LEVELS = [["root", "root namespace"], ["namespace", "namespace"], [
  "workload",
  "workload",
]] as const;

/** Whether an object of a level has no effect because of an older object of the level. @param at its position */
export function isHiddenAt(kind: SelectingKind, level: keyof Selected<SelectingKind>, at: number): boolean {
  const how = MERGING[kind];
  return at > 0 && how !== "all" && !(how === "layers" && level === "workload");
}
