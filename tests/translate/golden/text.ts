/**
 * Trees as YAML that fits a screen: what fits a line stands in one, and a large part that comes again is an alias of the
 * first.
 *
 * @module
 */
import { Document, isCollection, isMap, isPair, type Node, visit } from "yaml";

/** Columns of a line. */
const WIDTH = 118;

/** A tree as YAML. */
export function yamlText(tree: unknown): string {
  const document = new Document(shared(tree, new Map()), { anchorPrefix: "same" });
  visit(document, {
    Collection(_key, node, path) {
      const depth = path.filter((parent) => isCollection(parent)).length;
      const label = path.findLast((parent) => isPair(parent));
      const key = label && isPair(label) ? String(label.key).length : 0;
      if (depth === 0 || lengthOf(node) + key + 2 * depth > WIDTH) return undefined;
      node.flow = true;
      return visit.SKIP;
    },
  });
  return document.toString({ lineWidth: 0, flowCollectionPadding: false, indentSeq: false });
}

/** The length of a node in one line, roughly. */
function lengthOf(node: Node): number {
  const json = JSON.stringify(node.toJSON());
  return json.length - (isMap(node) ? json.match(/"[\w@.-]+":/g)?.length ?? 0 : 0);
}

/** Characters of a part that is said once. */
const LARGE = 160;

/** The same tree, with one object in the place of equal large parts. */
function shared(tree: unknown, known: Map<string, unknown>): unknown {
  if (typeof tree !== "object" || tree === null) return tree;
  const text = JSON.stringify(tree);
  const first = known.get(text);
  if (first !== undefined) return first;
  const own = Array.isArray(tree)
    ? tree.map((part) => shared(part, known))
    : Object.fromEntries(Object.entries(tree).map(([key, part]) => [key, shared(part, known)]));
  if (text.length > LARGE) known.set(text, own);
  return own;
}
