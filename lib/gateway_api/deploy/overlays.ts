/**
 * Overlays of deployed objects: strategic merge patches in the entries of a ConfigMap, by kind of the object.
 *
 * @module
 */
import { isTree, type JsonTree } from "../../injection/merge.ts";
import type { Fact } from "../../config/facts/types.ts";
import type { ApiGatewaySpec } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import { parseYaml } from "../../config/yaml/parse.ts";
import { byPrecedence } from "../attach/precedence.ts";
import { DEPLOYED_KINDS, type DeployedObject, type OverlayKey } from "./types.ts";
import { patched } from "./patch.ts";

/** Label of ConfigMaps in the system namespace with overlays for a class. */
export const DEFAULTS_FOR_CLASS = "gateway.mesh.io/defaults-for-class";

/** Patches by key. */
export type Overlays = Readonly<Partial<Record<OverlayKey, JsonTree>>>;

/** Overlays, or the mistake in a ConfigMap. */
type ReadOverlays = { readonly overlays: Overlays } | { readonly problem: string };

const KEYS = Object.keys(DEPLOYED_KINDS) as readonly OverlayKey[];

/** Fields of metadata that a patch must leave alone. */
const FIXED = ["name", "namespace", "ownerReferences", "finalizers"] as const;

/** The oldest ConfigMap with the label of overlays for a class. @param all The ConfigMaps of the system namespace */
export function classDefaults(
  all: readonly Fact<"ConfigMap">[],
  className: string,
): Fact<"ConfigMap"> | undefined {
  const found = all.filter(({ meta: { labels } }) => labels[DEFAULTS_FOR_CLASS] === className);
  return found.toSorted(byPrecedence)[0];
}

/** The ConfigMap that a Gateway names for its overlays; undefined: the Gateway names no ConfigMap. */
export function parametersMap({ infrastructure }: Pick<ApiGatewaySpec, "infrastructure">): string | undefined {
  const ref = infrastructure?.parametersRef;
  return ref !== undefined && isConfigMap(ref) ? ref.name : undefined;
}

function isConfigMap({ group, kind }: { readonly group: string; readonly kind: string }): boolean {
  return group === "" && kind === "ConfigMap";
}

/**
 * Why the parameters of a Gateway cannot be used, for a condition of reason `InvalidParameters`; undefined: the Gateway has
 * no parameters, or they can be used.
 *
 * @param map The ConfigMap of {@linkcode parametersMap}; undefined: it does not exist.
 */
export function parametersProblem(
  { spec: { infrastructure } }: Pick<ConfigObject<"ApiGateway">, "spec">,
  map: Fact<"ConfigMap"> | undefined,
): string | undefined {
  const ref = infrastructure?.parametersRef;
  if (ref === undefined) return undefined;
  if (!isConfigMap(ref)) {
    const got = ref.group === "" ? ref.kind : `${ref.kind} of group ${ref.group}`;
    return `infrastructure.parametersRef: ${got}, expected a ConfigMap`;
  }
  if (map === undefined) {
    return `infrastructure.parametersRef: ConfigMap ${ref.name}, expected one that exists in the Gateway's namespace`;
  }
  const read = readOverlays(map);
  return "problem" in read ? `infrastructure.parametersRef: ${read.problem}` : undefined;
}

/** Reads the overlays of a ConfigMap. One mistake refuses all overlays of the map. */
export function readOverlays({ meta: { name }, spec: { data, binaryData } }: Fact<"ConfigMap">): ReadOverlays {
  const at = `ConfigMap ${name}`;
  const unknown = [...Object.keys(data), ...Object.keys(binaryData)].find((key) => !KEYS.includes(key as OverlayKey));
  if (unknown !== undefined) {
    return { problem: `${at}: got entry ${JSON.stringify(unknown.slice(0, 80))}, expected ${KEYS.join(", ")}` };
  }
  const overlays: Partial<Record<OverlayKey, JsonTree>> = {};
  for (const key of KEYS) {
    const text = data[key];
    if (text === undefined) continue;
    const parsed = parseYaml(text);
    if ("problem" in parsed) {
      return { problem: `${at}: ${key}: line ${parsed.problem.line + 1}: ${parsed.problem.reason}`.slice(0, 500) };
    }
    const tree = parsed.tree ?? {};
    const problem = patchProblem(key, tree);
    if (problem !== undefined) return { problem: `${at}: ${key}${problem}` };
    overlays[key] = tree as JsonTree;
  }
  return { overlays };
}

function patchProblem(key: OverlayKey, tree: unknown): string | undefined {
  if (!isTree(tree)) return `: got ${typeof tree}, expected the fields of an object`;
  const { apiVersion, kind } = DEPLOYED_KINDS[key];
  for (const [field, wanted] of [["apiVersion", apiVersion], ["kind", kind]] as const) {
    const got = tree[field];
    if (got !== undefined && got !== wanted) return `.${field}: expected ${wanted}, or no field`;
  }
  const metadata = tree["metadata"] ?? {};
  if (!isTree(metadata)) return ".metadata: expected the fields of an object";
  const fixed = FIXED.find((field) => metadata[field] !== undefined);
  if (fixed !== undefined) return `.metadata.${fixed}: expected no field, because it cannot be changed`;
  if ("$patch" in tree || "$patch" in metadata) return ": expected no $patch of the whole object or of its metadata";
  return undefined;
}

/** An object with a patch over it. Labels that say who manages the object stay. */
export function withOverlay(object: DeployedObject, overlay: JsonTree | undefined): DeployedObject {
  if (overlay === undefined) return object;
  const merged = patched(object, overlay) as DeployedObject;
  const labels = { ...merged.metadata["labels"] as JsonTree | undefined, ...fixedOf(object) };
  return { ...merged, metadata: { ...merged.metadata, labels } };
}

/** Domains of labels that overlays cannot change. */
const FOUND_BY = ["gateway.networking.k8s.io/", "gateway.mesh.io/"];

/** Labels by which the server finds its objects again. */
function fixedOf({ metadata }: DeployedObject): JsonTree {
  const entries = Object.entries(metadata["labels"] as JsonTree | undefined ?? {});
  return Object.fromEntries(entries.filter(([key]) => FOUND_BY.some((domain) => key.startsWith(domain))));
}
