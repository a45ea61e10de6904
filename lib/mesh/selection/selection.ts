/**
 * How configuration objects choose the workloads that they are for: by labels, or by naming an object that stands for
 * workloads (a Gateway, a Service). One row a kind.
 *
 * @module
 */
import type { PolicyTargetReference, StringMap } from "../../config/kinds/kinds.ts";
import type { AnyConfigObject, ConfigObject, Kind } from "../../config/types.ts";

/** Kinds whose objects choose workloads of their namespace, and of all namespaces from the root namespace. */
export type SelectingKind =
  | "AuthorizationPolicy"
  | "PeerAuthentication"
  | "ProxyConfig"
  | "ProxyFilter"
  | "RequestAuthentication"
  | "Sidecar"
  | "Telemetry"
  | "WasmPlugin";

/** An object of such a kind. */
export type SelectingObject = Extract<AnyConfigObject, { readonly kind: SelectingKind }>;

/** The selection of workloads in an object. */
export interface Selection {
  /** Labels that a workload must carry, all of them. Empty: every workload. */
  readonly labels: StringMap;
  /** Objects in its own namespace that it names instead: it is for the workloads that one of them stands for. */
  readonly targets: readonly PolicyTargetReference[];
}

/**
 * The workloads of other namespaces that an object of the root namespace may choose.
 *
 * - `any`: workloads of every namespace, by its labels.
 * - `all`: only without labels, and then every workload; with labels it is for workloads of the root namespace.
 */
export type RootReach = "any" | "all";

interface SelectingRow<K extends SelectingKind> {
  readonly root: RootReach;
  readonly selection: (spec: ConfigObject<K>["spec"]) => Selection;
}

/** Objects with these fields choose by `matchLabels` or by targets. */
interface Policy {
  readonly selector?: { readonly matchLabels?: StringMap };
  readonly targetRef?: PolicyTargetReference;
  readonly targetRefs?: readonly PolicyTargetReference[];
}

const none: StringMap = {};

function ofPolicy({ selector, targetRef, targetRefs = [] }: Policy): Selection {
  return { labels: selector?.matchLabels ?? none, targets: targetRef ? [targetRef, ...targetRefs] : targetRefs };
}

/** All of them. Where the root namespace reaches is Istio's rule for each kind. */
const SELECTING: { readonly [K in SelectingKind]: SelectingRow<K> } = {
  AuthorizationPolicy: { root: "any", selection: ofPolicy },
  PeerAuthentication: { root: "all", selection: ofPolicy },
  ProxyConfig: { root: "all", selection: ofPolicy },
  ProxyFilter: {
    root: "any",
    selection: ({ workloadSelector, targetRefs = [] }) => ({
      labels: workloadSelector?.labels ?? none,
      targets: targetRefs,
    }),
  },
  RequestAuthentication: { root: "any", selection: ofPolicy },
  Sidecar: {
    root: "all",
    selection: ({ workloadSelector }) => ({ labels: workloadSelector?.labels ?? none, targets: [] }),
  },
  Telemetry: { root: "all", selection: ofPolicy },
  WasmPlugin: { root: "any", selection: ofPolicy },
};

/** Kinds whose objects choose workloads. */
export const SELECTING_KINDS: readonly SelectingKind[] = Object.keys(SELECTING) as SelectingKind[];

/** Whether objects of a kind choose workloads. */
export function isSelecting(kind: Kind): kind is SelectingKind {
  return Object.hasOwn(SELECTING, kind);
}

/** Reads the selection of workloads in an object. */
export function selectionOf<K extends SelectingKind>(object: ConfigObject<K>): Selection {
  return SELECTING[object.kind].selection(object.spec);
}

/** The reach of objects of a kind in the root namespace. */
export function rootReach(kind: SelectingKind): RootReach {
  return SELECTING[kind].root;
}
