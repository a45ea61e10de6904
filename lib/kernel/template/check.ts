/**
 * Finds unknown functions and templates before a template runs, so that a bad template is refused when read and not
 * when needed.
 *
 * @module
 */
import { parseTemplate } from "./parse.ts";
import { type Operand, type Pipe, type TemplateNode, TextTemplateError } from "./syntax.ts";

/** Functions of the evaluator. */
const OF_EVALUATOR: readonly string[] = ["and", "or"];

/**
 * The mistakes in a template that do not depend on data. A line for each mistake has file, line and name. Without a
 * mistake, the template can run.
 *
 * @param file Name of the template, for messages.
 * @param known Whether a function of a name exists.
 */
export function templateProblems(text: string, file: string, known: (name: string) => boolean): string[] {
  try {
    const nodes = parseTemplate(text, file);
    const defined = new Set(nodes.flatMap((node) => node.kind === "define" ? [node.name] : []));
    return [...new Set(nodes.flatMap((node) => problemsOf(node, file, known, defined)))];
  } catch (error) {
    if (error instanceof TextTemplateError) return [error.message];
    throw error;
  }
}

function problemsOf(
  node: TemplateNode,
  file: string,
  known: (name: string) => boolean,
  defined: ReadonlySet<string>,
): string[] {
  if (node.kind === "text") return [];
  const inside = (nodes: readonly TemplateNode[]) => nodes.flatMap((one) => problemsOf(one, file, known, defined));
  if (node.kind === "define") return inside(node.body);
  const unknown = functionsOf(node.pipe).filter(({ name }) => !OF_EVALUATOR.includes(name) && !known(name));
  const problems = unknown.map(({ name, line }) => `${file}:${line}: there is no function ${name}`);
  if (node.kind === "call" && !defined.has(node.name)) {
    problems.push(`${file}:${node.pipe.line}: there is no template ${JSON.stringify(node.name)}`);
  }
  if (node.kind === "print" || node.kind === "set" || node.kind === "call") return problems;
  return [...problems, ...inside(node.body), ...inside(node.otherwise)];
}

function functionsOf({ commands, line }: Pipe): { readonly name: string; readonly line: number }[] {
  const of = (operand: Operand) => {
    if (operand.kind === "function") return [{ name: operand.name, line }];
    return operand.kind === "path" && typeof operand.from === "object" && "commands" in operand.from
      ? functionsOf(operand.from)
      : [];
  };
  return commands.flat().flatMap(of);
}
