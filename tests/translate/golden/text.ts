/**
 * Trees as YAML that fits a screen: short parts are on one line, and a repeated large part is an alias of the first.
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

/** The approximate length of a node on one line. */
function lengthOf(node: Node): number {
  const json = JSON.stringify(node.toJSON());
  return json.length - (isMap(node) ? json.match(/"[\w@.-]+":/g)?.length ?? 0 : 0);
}

/** Length, in characters, from which a repeated part becomes an alias. */
const LARGE = 160;

/** The same tree, with equal large parts replaced by one object. */
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
