/**
 * How configuration objects choose workloads: by labels, or by naming an object that stands for workloads (a Gateway, a
 * Service). A row for each kind.
 *
 * @module
 */
import type { PolicyTargetReference, StringMap } from "../../config/kinds/kinds.ts";
import type { AnyConfigObject, ConfigObject, Kind } from "../../config/types.ts";

/** Kinds with chosen workloads: of the object's namespace, and of all namespaces for the root namespace. */
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
  /** Required labels of a workload. Empty: every workload. */
  readonly labels: StringMap;
  /** Named objects of the same namespace, instead of labels: a named object stands for the chosen workloads. */
  readonly targets: readonly PolicyTargetReference[];
}

/**
 * The reach of an object of the root namespace into other namespaces.
 *
 * - `any`: workloads of every namespace, by labels.
 * - `all`: without labels every workload; with labels workloads of the root namespace only.
 */
export type RootReach = "any" | "all";

interface SelectingRow<K extends SelectingKind> {
  readonly root: RootReach;
  /** With selectors for gateways switched off, workloads of Gateways of the Gateway API are chosen only by targets. */
  readonly switched?: true;
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

/** All rows. The reach of the root namespace is Istio's rule for each kind. */
const SELECTING: { readonly [K in SelectingKind]: SelectingRow<K> } = {
  AuthorizationPolicy: { root: "any", switched: true, selection: ofPolicy },
  PeerAuthentication: { root: "all", selection: ofPolicy },
  ProxyConfig: { root: "all", selection: ofPolicy },
  ProxyFilter: {
    root: "any",
    selection: ({ workloadSelector, targetRefs = [] }) => ({
      labels: workloadSelector?.labels ?? none,
      targets: targetRefs,
    }),
  },
  RequestAuthentication: { root: "any", switched: true, selection: ofPolicy },
  Sidecar: {
    root: "all",
    selection: ({ workloadSelector }) => ({ labels: workloadSelector?.labels ?? none, targets: [] }),
  },
  Telemetry: { root: "all", switched: true, selection: ofPolicy },
  WasmPlugin: { root: "any", switched: true, selection: ofPolicy },
};

/** All kinds with chosen workloads. */
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

/**
 * Whether objects of a kind without targets choose workloads of Gateways of the Gateway API.
 *
 * @param gatewaySelectors `ENABLE_SELECTOR_BASED_ORCH_GATEWAY_POLICY`.
 */
export function selectsGateways(kind: SelectingKind, gatewaySelectors: boolean): boolean {
  return gatewaySelectors || SELECTING[kind].switched !== true;
}
