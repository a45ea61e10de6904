/**
 * The mesh configuration that lies among the files of a command, in the objects that usually have one.
 *
 * @module
 */
import { type MeshCarrier, meshCarrierOf } from "../config/mesh/carrier.ts";
import { isObject } from "../config/schema/field.ts";
import { parseJson, parseYaml } from "../config/yaml/parse.ts";
import { splitDocuments } from "../config/yaml/split.ts";
import type { FileRead } from "../folder/index.ts";

/** A mesh configuration among the files. */
export interface FoundMeshConfig {
  /** YAML or JSON. */
  readonly text: string;
  /** Where it is from, for people: `IstioOperator istio-system/main, install.yaml:1`. */
  readonly name: string;
}

/** The kinds that have a mesh configuration: other texts are not parsed. */
const MAY_CARRY = /\b(?:IstioOperator|IstioRevision|Istio|ConfigMap)\b/;

/**
 * The mesh configuration of some files: where there is one, or where all say the same; undefined: there is none, or
 * several that differ, of which a reader would have to guess one.
 */
export function meshConfigOf(reads: readonly FileRead[], defaultNamespace = "default"): FoundMeshConfig | undefined {
  const found: (MeshCarrier & { readonly tree: unknown; readonly place: string })[] = [];
  for (const { path, bytes } of reads) {
    if (!(bytes instanceof Uint8Array)) continue;
    for (const { tree, line } of treesOf(path, bytes)) {
      const carrier = meshCarrierOf(tree, defaultNamespace);
      if (carrier === undefined) continue;
      const content = contentOf(carrier.config);
      if (content !== undefined) found.push({ ...carrier, tree: content, place: `${path}:${line}` });
    }
  }
  const [first, ...others] = found;
  if (first === undefined || others.some(({ tree }) => canonical(tree) !== canonical(first.tree))) return undefined;
  const text = typeof first.config === "string" ? first.config : JSON.stringify(first.config);
  return { text, name: `${first.kind} ${first.namespace}/${first.name}, ${first.place}` };
}

function* treesOf(path: string, bytes: Uint8Array): Iterable<{ readonly tree: unknown; readonly line: number }> {
  if (path.endsWith(".json")) {
    const text = new TextDecoder().decode(bytes);
    if (MAY_CARRY.test(text)) yield* listed(parseJson(text), 1);
    return;
  }
  for (const range of splitDocuments(bytes)) {
    const text = new TextDecoder().decode(bytes.subarray(range.start, range.end));
    if (MAY_CARRY.test(text)) yield* listed(parseYaml(text), range.line);
  }
}

function* listed(parsed: ReturnType<typeof parseYaml>, line: number) {
  if ("problem" in parsed) return;
  const { tree } = parsed;
  const items = isObject(tree) && Array.isArray(tree["items"]) ? tree["items"] : [tree];
  for (const one of items) yield { tree: one as unknown, line };
}

/** The tree of a mesh configuration; undefined: its text does not parse. */
function contentOf(config: unknown): unknown {
  if (typeof config !== "string") return config;
  const parsed = parseYaml(config);
  return "problem" in parsed ? undefined : parsed.tree ?? {};
}

/** A text that is equal for equal trees. */
function canonical(tree: unknown): string {
  return JSON.stringify(
    tree,
    (_key, value: unknown) =>
      isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1)) : value,
  );
}
