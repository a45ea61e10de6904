/**
 * Templates of users that make whole objects: several documents of YAML in one text.
 *
 * @module
 */
import { splitDocuments } from "../../config/yaml/split.ts";
import { parseYaml } from "../../config/yaml/parse.ts";
import { parseTemplate } from "../../kernel/template/parse.ts";
import { renderNodes } from "../../kernel/template/render.ts";
import { type TemplateNode, TextTemplateError } from "../../kernel/template/syntax.ts";
import type { JsonTree } from "../merge.ts";
import { injectionFunctions } from "./functions.ts";
import { Marks } from "./markup.ts";

/** Parsed templates by their configuration. */
const PARSED = new WeakMap<object, Map<string, readonly TemplateNode[]>>();

/**
 * The trees of the documents that a template makes, or the problems of the template, one per line.
 *
 * @param config The configuration that has the text: a text is parsed once for a configuration.
 * @param values The template's data.
 */
export function templateDocuments(
  { name, text, config }: { readonly name: string; readonly text: string; readonly config: object },
  values: JsonTree,
): { readonly trees: readonly unknown[] } | { readonly problems: readonly string[] } {
  const at = `template ${JSON.stringify(name)}`;
  const marks = new Marks();
  let yaml: string;
  try {
    const parsed = PARSED.getOrInsertComputed(config, () => new Map<string, readonly TemplateNode[]>());
    const nodes = parsed.getOrInsertComputed(text, () => parseTemplate(text, at));
    yaml = renderNodes(nodes, at, values, { functions: injectionFunctions(marks), print: marks.print });
  } catch (error) {
    if (!(error instanceof TextTemplateError)) throw error;
    return { problems: [error.message] };
  }
  const bytes = new TextEncoder().encode(yaml);
  const trees: unknown[] = [];
  for (const { start, end, line } of splitDocuments(bytes)) {
    const parsed = parseYaml(new TextDecoder().decode(bytes.subarray(start, end)));
    if ("problem" in parsed) {
      const { problem } = parsed;
      return { problems: [`${at}: its YAML does not parse: line ${line + problem.line}: ${problem.reason}`] };
    }
    trees.push(marks.restored(parsed.tree));
  }
  return { trees };
}
