/**
 * Objects with a mesh configuration that are not objects of the mesh: objects that install a control plane, and the
 * control plane's config map.
 *
 * @module
 */
import { type Finding, findingOf, shownName } from "../../finding/finding.ts";
import type { FileOrigin } from "../../finding/origin.ts";
import { isObject } from "../schema/field.ts";
import { splitApiVersion } from "../spelling/near_kind.ts";

/** A mesh configuration in an object. */
export interface MeshCarrier {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Path of the mesh configuration in the object. */
  readonly field: string;
  /** The mesh configuration: a text, or a tree. */
  readonly config: unknown;
}

/** Groups of the objects that install a control plane, by kind. */
const INSTALLERS: Readonly<Record<string, { readonly group: RegExp; readonly path: readonly string[] }>> = {
  IstioOperator: { group: /^install\.(?:istio|mesh)\.io$/, path: ["spec", "meshConfig"] },
  Istio: { group: /^(?:sailoperator|operator)\.io$|^operator\.istio\.io$/, path: ["spec", "values", "meshConfig"] },
  IstioRevision: { group: /^sailoperator\.io$/, path: ["spec", "values", "meshConfig"] },
};

/** Names of the config map, alone or with a revision behind: `istio`, `istio-canary`, `mesh`. */
const CONFIG_MAP = /^(?:istio|mesh)(?:-[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)?$/;

/** Key of the mesh configuration in the config map. */
const CONFIG_MAP_KEY = "mesh";

/** The mesh configuration in a tree; undefined: none. */
export function meshCarrierOf(tree: unknown, defaultNamespace: string): MeshCarrier | undefined {
  if (!isObject(tree)) return undefined;
  const { kind, apiVersion, metadata } = tree;
  if (typeof kind !== "string" || typeof apiVersion !== "string") return undefined;
  const written = isObject(metadata) ? metadata : {};
  const part = (key: string) => (typeof written[key] === "string" ? written[key] : "");
  const place = { kind, namespace: part("namespace") || defaultNamespace, name: part("name") };
  if (kind === "ConfigMap") {
    const data = isObject(tree["data"]) ? tree["data"] : {};
    const config = data[CONFIG_MAP_KEY];
    if (!CONFIG_MAP.test(place.name) || typeof config !== "string") return undefined;
    return { ...place, field: `data.${CONFIG_MAP_KEY}`, config };
  }
  const installer = Object.hasOwn(INSTALLERS, kind) ? INSTALLERS[kind] : undefined;
  if (installer === undefined || !installer.group.test(splitApiVersion(apiVersion)[0])) return undefined;
  let config: unknown = tree;
  for (const key of installer.path) config = isObject(config) ? config[key] : undefined;
  if (!isObject(config) || Object.keys(config).length === 0) return undefined;
  return { ...place, field: installer.path.join("."), config };
}

/** The finding about a mesh configuration that is not read from its object. */
export function carrierFinding({ kind, namespace, name, field }: MeshCarrier, origin: FileOrigin): Finding {
  const object = { kind, namespace: shownName(namespace), name: shownName(name) };
  return findingOf("mesh-configuration-elsewhere", {
    severity: "warning",
    place: { objects: [object], field, origin, line: 0 },
    message:
      `${field} of ${kind} ${object.namespace}/${object.name} is a mesh configuration, which is not read from there`,
  });
}
