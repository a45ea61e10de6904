/**
 * Objects that are not configuration: manifests that become facts, and documents that are passed over.
 *
 * @module
 */
import { type FactOptions, readFact } from "../facts/read.ts";
import { type AnyFact, FACT_API_VERSIONS, isFactKind } from "../facts/types.ts";
import { fieldFinding, type Finding, shownName } from "../../finding/finding.ts";
import type { ObjectName } from "../../finding/object_name.ts";
import type { Origin } from "../../finding/origin.ts";
import { KINDS } from "../kinds/kinds.ts";
import { isObject } from "../schema/field.ts";
import { isBuiltInGroup, splitApiVersion } from "../spelling/near_kind.ts";

/** The count's name for texts without an object: settings of other programs. */
export const OTHER_TEXT = "other text";

/** The count's name for texts that become objects when a chart is filled in. */
export const TEMPLATE = "template";

/** The result of reading a tree. */
export interface ManifestRead {
  readonly fact?: AnyFact;
  /**
   * Neither a fact nor refused: the name of the count. This is the kind, with the group if other groups have the kind
   * too (`Service.serving.knative.dev`), or {@linkcode OTHER_TEXT}.
   */
  readonly passedOver?: string;
  readonly findings: readonly Finding[];
  /** The readable part of the object's name. */
  readonly name: ObjectName;
}

/** Longest name of a count, characters. */
const LABEL_LENGTH = 100;

/** Whether a tree is of a kind of facts, in any version of an orchestrator's own groups, or in none. */
export function isManifest(tree: unknown): boolean {
  if (!isObject(tree) || typeof tree["kind"] !== "string" || !isFactKind(tree["kind"])) return false;
  const { apiVersion } = tree;
  return typeof apiVersion !== "string" || isBuiltInGroup(splitApiVersion(apiVersion)[0]);
}

/**
 * Reads a tree that is not an object of the mesh. Never throws.
 *
 * @param options Without `facts` every manifest is passed over.
 */
export function readManifest(
  tree: unknown,
  origin: Origin,
  { facts, defaultNamespace }: { readonly facts?: FactOptions; readonly defaultNamespace: string },
): ManifestRead {
  const { apiVersion, kind } = isObject(tree) ? tree : {};
  const name = { kind: "", namespace: "", name: "" };
  if (typeof kind !== "string" || (typeof apiVersion !== "string" && !(isFactKind(kind) && isWhole(tree)))) {
    return { passedOver: OTHER_TEXT, findings: [], name };
  }
  if (!isFactKind(kind)) return { passedOver: labelOf(String(apiVersion), kind), findings: [], name };
  const expected = FACT_API_VERSIONS[kind];
  if (apiVersion === expected) {
    if (facts === undefined) return { passedOver: kind, findings: [], name };
    return readFact(kind, tree, origin, { ...facts, defaultNamespace });
  }
  const passedOver = labelOf(String(apiVersion ?? ""), kind);
  const isTheirs = typeof apiVersion === "string" && !isBuiltInGroup(splitApiVersion(apiVersion)[0]);
  if (isTheirs) return { passedOver, findings: [], name };
  const written = isObject(tree) && isObject(tree["metadata"]) ? tree["metadata"] : {};
  const part = (key: string) => (typeof written[key] === "string" ? shownName(written[key]) : "");
  const object = { kind, namespace: part("namespace") || defaultNamespace, name: part("name") };
  const place = { objects: [object], field: "apiVersion", origin, line: 0 };
  const found = fieldFinding(
    "unknown-kind",
    "warning",
    place,
    apiVersion,
    `${expected} for a ${kind} (it is not read)`,
  );
  return { passedOver, findings: [found], name: object };
}

/** A tree without `apiVersion` is a manifest if all other parts are present. */
function isWhole(tree: unknown): boolean {
  return isObject(tree) && isObject(tree["metadata"]) && typeof tree["metadata"]["name"] === "string";
}

/** The kind; with the group if we or an orchestrator have the kind too. */
function labelOf(apiVersion: string, kind: string): string {
  const [group] = splitApiVersion(apiVersion);
  const isAmbiguous = isFactKind(kind) || (KINDS as readonly string[]).includes(kind);
  return (isAmbiguous && group !== "" ? `${kind}.${group}` : kind).slice(0, LABEL_LENGTH);
}
