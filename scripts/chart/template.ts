/**
 * The installation's objects as templates of Helm.
 *
 * @module
 */
import {
  Conditional,
  Each,
  isFields,
  MergedNode,
  type Node,
  Noted,
  Ref,
  Spread,
  YamlText,
} from "../../lib/install/template/node.ts";
import { commentLines, scalar } from "../../lib/install/template/text.ts";
import { bare, conditionText, isScalar, operand, placeText } from "./expression.ts";

/** A template of objects. @param isTree Whether a value is an object or a list. */
export function templateText(nodes: readonly Node[], isTree: (place: Ref) => boolean): string {
  const writer = new TemplateWriter(isTree);
  return nodes.flatMap((node) => writer.document(node)).map((line) => `${line}\n`).join("");
}

/** A value behind its key, or lines below the key. */
type Written = string | readonly string[];

class TemplateWriter {
  readonly #isTree: (place: Ref) => boolean;

  constructor(isTree: (place: Ref) => boolean) {
    this.#isTree = isTree;
  }

  document(node: Node): readonly string[] {
    return structured(node, (inner) => {
      const [comment, object] = uncommented(inner);
      const lines = this.#value(object, 0);
      return ["---", ...commentLines(comment, 0), ...(typeof lines === "string" ? [lines] : lines)];
    });
  }

  #value(node: Node, indent: number): Written {
    if (node instanceof Ref && this.#isTree(node)) return `{{- toYaml ${placeText(node)} | nindent ${indent} }}`;
    if (node instanceof MergedNode) return `{{- toYaml ${operand(node)} | nindent ${indent} }}`;
    if (node instanceof Ref || (isScalar(node) && typeof node === "object")) {
      return `{{ ${bare(operand(node))} | toJson }}`;
    }
    if (typeof node !== "object") return verbatim(scalar(node));
    if (Array.isArray(node)) return this.#list(node, indent);
    if (!isFields(node)) throw new Error(`a template has no form for a ${node.constructor.name} here`);
    const fields = Object.entries(node);
    return fields.length === 0 ? "{}" : fields.flatMap(([key, value]) => this.#field(key, value, indent));
  }

  #field(key: string, node: Node, indent: number): readonly string[] {
    const head = `${" ".repeat(indent)}${verbatim(scalar(key))}:`;
    if (node instanceof Conditional && !isScalar(node)) {
      return structured(node, (inner) => this.#field(key, inner, indent));
    }
    if (node instanceof Noted) {
      return [...commentLines(node.text, indent), ...this.#field(key, node.node, indent)];
    }
    if (node instanceof YamlText) {
      const lines = this.#value(node.node, indent + 2);
      return typeof lines === "string" ? [`${head} |${behind(lines)}`] : [`${head} |`, ...lines];
    }
    const lines = this.#value(node, indent + 2);
    return typeof lines === "string" ? [`${head}${behind(lines)}`] : [head, ...lines];
  }

  #list(items: readonly Node[], indent: number): Written {
    if (items.every((item) => typeof item !== "object")) {
      return `[${items.map((item) => verbatim(scalar(item))).join(", ")}]`;
    }
    return items.flatMap((item) => {
      if (!(item instanceof Spread)) return structured(item, (inner) => this.#item(inner, indent));
      const list = placeText(item.list);
      return [`{{- with ${list} }}`, `{{- toYaml . | nindent ${indent} }}`, "{{- end }}"];
    });
  }

  #item(node: Node, indent: number): readonly string[] {
    const pad = " ".repeat(indent);
    const [comment, item] = uncommented(node);
    const head = commentLines(comment, indent);
    const lines = this.#value(item, indent + 2);
    if (typeof lines === "string") return [...head, `${pad}-${behind(lines)}`];
    const [first = "", ...rest] = lines;
    // A dash cannot stand before a condition or a comment.
    const startsPlain = !/^\s*(?:\{\{|#)/.test(first);
    return startsPlain ? [...head, `${pad}- ${first.trimStart()}`, ...rest] : [...head, `${pad}-`, ...lines];
  }
}

/** A node that may be absent or repeated, with the lines of its template around. */
function structured(node: Node, write: (node: Node) => readonly string[]): readonly string[] {
  if (node instanceof Conditional && !isScalar(node)) {
    const otherwise = node.otherwise === undefined ? [] : ["{{- else }}", ...structured(node.otherwise, write)];
    return [
      `{{- if ${bare(conditionText(node.condition))} }}`,
      ...structured(node.then, write),
      ...otherwise,
      "{{- end }}",
    ];
  }
  if (node instanceof Each) {
    const body = node.body.flatMap((inner) => structured(inner, write));
    return [...rangeLines(node), ...body, "{{- end }}"];
  }
  return write(node);
}

/** The start of a loop. An item with fields of its own gets its defaults by the helper of its name. */
function rangeLines({ as, list }: Each): readonly string[] {
  if (as !== "gateway") return [`{{- range $${as} := ${placeText(list)} }}`];
  return [
    `{{- range $given := ${placeText(list)} }}`,
    `{{- $${as} := include "mesh.${as}" (list $given $) | fromJson }}`,
  ];
}

function uncommented(node: Node): [comment: string, node: Node] {
  return node instanceof Noted ? [node.text, node.node] : ["", node];
}

/** A value behind a key or a dash. A cut to the left needs no space. */
function behind(value: string): string {
  return value.startsWith("{{- ") ? value : ` ${value}`;
}

/** A text that is not read as a template. */
export function verbatim(text: string): string {
  return text.replaceAll("{{", '{{ "{{" }}');
}
