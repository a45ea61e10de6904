/**
 * Mesh configurations in texts of objects: objects that install a control plane, and the control plane's config map.
 *
 * @module
 */
import { isObject } from "../schema/field.ts";
import { parseJson, parseYaml } from "../yaml/parse.ts";
import { splitDocuments } from "../yaml/split.ts";
import { type MeshCarrier, meshCarrierOf } from "./carrier.ts";

/** A mesh configuration in a text. */
export interface CarriedMesh {
  /** YAML or JSON. */
  readonly text: string;
  /** The object, for people: `IstioOperator istio-system/main`. */
  readonly object: string;
  /** 1-based line of the object's document. */
  readonly line: number;
  /** Equal for equal configurations, in any spelling. */
  readonly identity: string;
}

/** The kinds with a mesh configuration: other texts are not parsed. */
const MAY_CARRY = /\b(?:IstioOperator|IstioRevision|Istio|ConfigMap)\b/;

/** The mesh configurations in the objects of a text, in order. Texts that do not parse have none. */
export function* carriedIn(
  bytes: Uint8Array,
  { json = false, defaultNamespace = "default" }: { readonly json?: boolean; readonly defaultNamespace?: string } = {},
): Generator<CarriedMesh> {
  for (const { tree, line } of treesOf(bytes, json)) {
    const carrier = meshCarrierOf(tree, defaultNamespace);
    const content = carrier && contentOf(carrier);
    if (carrier === undefined || content === undefined) continue;
    const { kind, namespace, name, config } = carrier;
    const text = typeof config === "string" ? config : JSON.stringify(config);
    yield { text, object: `${kind} ${namespace}/${name}`, line, identity: canonical(content) };
  }
}

function* treesOf(bytes: Uint8Array, json: boolean): Iterable<{ readonly tree: unknown; readonly line: number }> {
  const decoder = new TextDecoder();
  if (json) {
    const text = decoder.decode(bytes);
    if (MAY_CARRY.test(text)) yield* listed(parseJson(text), 1);
    return;
  }
  for (const range of splitDocuments(bytes)) {
    const text = decoder.decode(bytes.subarray(range.start, range.end));
    if (MAY_CARRY.test(text)) yield* listed(parseYaml(text), range.line);
  }
}

function* listed(parsed: ReturnType<typeof parseYaml>, line: number) {
  if ("problem" in parsed) return;
  const { tree } = parsed;
  const items = isObject(tree) && Array.isArray(tree["items"]) ? tree["items"] : [tree];
  for (const one of items) yield { tree: one as unknown, line };
}

/** The tree of a mesh configuration; undefined: the text does not parse. */
function contentOf({ config }: MeshCarrier): unknown {
  if (typeof config !== "string") return config;
  const parsed = parseYaml(config);
  return "problem" in parsed ? undefined : parsed.tree ?? {};
}

/** The same text for equal trees. */
function canonical(tree: unknown): string {
  return JSON.stringify(
    tree,
    (_key, value: unknown) =>
      isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1)) : value,
  );
}
