/**
 * Finds the namespace of the objects for the whole mesh, when the mesh configuration does not name the namespace.
 *
 * Folders written for Istio keep such objects in `istio-system`; our namespace is `mesh-system`, or the namespace of
 * the control plane. The folder decides: first by objects that have another meaning in the root namespace, and without
 * such objects by any object.
 *
 * @module
 */
import { describeOrigin } from "../../finding/origin.ts";
import type { AnyConfigObject, ConfigObject } from "../types.ts";

/** Conventional root namespaces, beside the namespace of the control plane. */
const CONVENTIONAL = ["mesh-system", "istio-system"];

/** A choice, or why there is none. */
export type RootNamespaceChoice =
  | { readonly namespace: string; readonly conflict?: never }
  /** Several namespaces hold objects for the whole mesh; a sentence with their names. */
  | { readonly conflict: string; readonly namespace?: never };

/** Most objects of each namespace in the sentence. */
const MAX_NAMED = 5;

/**
 * Chooses the root namespace from the present objects.
 *
 * @param own Namespace of the control plane: the choice when no object decides.
 */
export function chooseRootNamespace(objects: Iterable<ConfigObject>, own: string): RootNamespaceChoice {
  const candidates = rootNamespaceCandidates(own);
  const used = new Set<string>();
  const meshWide = new Map<string, ConfigObject[]>();
  for (const object of objects) {
    const { namespace } = object.meta;
    if (!candidates.has(namespace)) continue;
    used.add(namespace);
    if (!isMeshWideInRoot(object as AnyConfigObject)) continue;
    const list = meshWide.get(namespace);
    if (list) list.push(object);
    else meshWide.set(namespace, [object]);
  }
  if (meshWide.size > 1) return { conflict: conflictText(meshWide) };
  const [only] = meshWide.keys();
  if (only !== undefined) return { namespace: only };
  const [first] = used;
  return { namespace: used.size === 1 && first !== undefined ? first : own };
}

/** Namespaces that may become the root namespace without being named. */
export function rootNamespaceCandidates(own: string): ReadonlySet<string> {
  return new Set([own, ...CONVENTIONAL]);
}

/** Whether an object would apply to more than its own namespace in the root namespace. */
export function isMeshWideInRoot(object: AnyConfigObject): boolean {
  switch (object.kind) {
    case "Sidecar":
      return object.spec.workloadSelector === undefined;
    case "PeerAuthentication":
      return object.spec.selector === undefined;
    case "DestinationRule":
    case "AuthorizationPolicy":
    case "RequestAuthentication":
    case "Telemetry":
    case "WasmPlugin":
    case "ProxyFilter":
    case "ProxyConfig":
      return true;
    default:
      return false;
  }
}

function conflictText(meshWide: ReadonlyMap<string, readonly ConfigObject[]>): string {
  const parts = [...meshWide].sort(([a], [b]) => (a < b ? -1 : 1)).map(([namespace, objects]) => {
    const named = objects.slice(0, MAX_NAMED).map(({ key, origin }) => `${key} (${describeOrigin(origin)})`);
    const others = objects.length > MAX_NAMED ? ` and ${objects.length - MAX_NAMED} more` : "";
    return `${namespace}: ${named.join(", ")}${others}`;
  });
  return `objects for the whole mesh lie in ${meshWide.size} namespaces, expected one of them as rootNamespace in the ` +
    `mesh configuration, or all in one namespace; ${parts.join("; ")}`;
}
