/**
 * Reads templates in the syntax of Go's `text/template`: values, pipelines, `if`, `with`, `range`, variables, comments,
 * `define` and `template`.
 *
 * Not read: `block`, `break`, `continue`, `else with`.
 *
 * @module
 */
import { type BlockNode, type Operand, type Pipe, type TemplateNode, TextTemplateError } from "./syntax.ts";
import { type TemplatePart, templateParts } from "./tokens.ts";

/**
 * Reads a template.
 *
 * @param file Name of the template, for messages.
 * @throws {TextTemplateError} with the line, the text at fault and the expectation.
 */
export function parseTemplate(text: string, file: string): TemplateNode[] {
  const reader = new TemplateReader(templateParts(text, file), file);
  const { nodes, end } = reader.nodes();
  if (end !== undefined) throw reader.error(end.line, `got ${end.words[0]} without a block that it belongs to`);
  return nodes;
}

type ActionPart = Extract<TemplatePart, { kind: "action" }>;

const BLOCKS: readonly string[] = ["if", "with", "range"];
const REFUSED = ["block", "break", "continue"];

class TemplateReader {
  readonly #parts: readonly TemplatePart[];
  readonly #file: string;
  #at = 0;

  constructor(parts: readonly TemplatePart[], file: string) {
    this.#parts = parts;
    this.#file = file;
  }

  error(line: number, message: string): TextTemplateError {
    return new TextTemplateError(`${this.#file}:${line}: ${message}`);
  }

  /** Everything up to `else`, `end`, or the end of the template. */
  nodes(): { readonly nodes: TemplateNode[]; readonly end: ActionPart | undefined } {
    const nodes: TemplateNode[] = [];
    for (let part = this.#parts[this.#at++]; part !== undefined; part = this.#parts[this.#at++]) {
      if (part.kind === "text") nodes.push(part);
      else if (part.words[0] === "else" || part.words[0] === "end") return { nodes, end: part };
      else nodes.push(this.#action(part));
    }
    return { nodes, end: undefined };
  }

  #action(action: ActionPart): TemplateNode {
    const [first = "", second] = action.words;
    if (REFUSED.includes(first)) throw this.error(action.line, `${first} is not known here`);
    if (first === "define" || first === "template") return this.#named(first, action);
    if (BLOCKS.includes(first)) return this.#block(first as BlockNode["kind"], action, 1);
    if (first.startsWith("$") && (second === ":=" || second === "=")) {
      return { kind: "set", name: first, declares: second === ":=", pipe: this.#pipe(action, 2) };
    }
    return { kind: "print", pipe: this.#pipe(action, 0) };
  }

  #named(first: "define" | "template", action: ActionPart): TemplateNode {
    const { words: [, word = ""], line } = action;
    if (!/^["`]/.test(word)) throw this.error(line, `${first}: got ${word || "nothing"}, expected a name in quotes`);
    const name = word.startsWith("`") ? word.slice(1, -1) : this.#unquoted(word, line);
    if (first === "template") {
      const hasValue = action.words.length > 2;
      const pipe = hasValue ? this.#pipe(action, 2) : { commands: [], line };
      return { kind: "call", name, pipe, hasValue };
    }
    const { nodes: body, end } = this.nodes();
    if (end?.words[0] !== "end") throw this.error(line, "define without end");
    return { kind: "define", name, body };
  }

  /** @param at Index of the word behind the keyword. */
  #block(kind: BlockNode["kind"], action: ActionPart, at: number): BlockNode {
    const { words, line } = action;
    const sign = words.indexOf(":=");
    const names = sign < 0 ? [] : words.slice(at, sign).filter((word) => word !== ",");
    const most = kind === "range" ? 2 : 1;
    if (names.length > most || names.some((name) => !/^\$\w+$/.test(name))) {
      throw this.error(line, `got ${names.join(", ")}, expected at most ${most} names such as $name before :=`);
    }
    const pipe = this.#pipe(action, sign < 0 ? at : sign + 1);
    const { nodes: body, end } = this.nodes();
    if (end === undefined) throw this.error(line, `${kind} without end`);
    return { kind, names, pipe, body, otherwise: this.#otherwise(kind, end) };
  }

  #otherwise(kind: BlockNode["kind"], end: ActionPart): TemplateNode[] {
    if (end.words[0] === "end") return [];
    if (end.words[1] === "if" && kind === "if") return [this.#block("if", end, 2)];
    if (end.words.length > 1) throw this.error(end.line, `got ${end.words.join(" ")}, expected else`);
    const { nodes, end: last } = this.nodes();
    if (last?.words[0] !== "end") throw this.error(end.line, "else without end");
    return nodes;
  }

  /** The pipeline from a word to the end of the action. */
  #pipe({ words, line }: ActionPart, from: number): Pipe {
    const state = { words, at: from };
    const pipe = this.#commands(state, line);
    if (state.at < words.length) throw this.error(line, `got ${words[state.at]}, expected |, a value or }}`);
    return pipe;
  }

  #commands(state: { readonly words: readonly string[]; at: number }, line: number): Pipe {
    const commands: Operand[][] = [[]];
    for (let word = state.words[state.at]; word !== undefined; word = state.words[state.at]) {
      if (word.startsWith(")")) break;
      state.at++;
      if (word === "|") commands.push([]);
      else if (word === "(") commands.at(-1)!.push(this.#inParentheses(state, line));
      else commands.at(-1)!.push(this.#operand(word, line));
    }
    if (commands.some((command) => command.length === 0)) throw this.error(line, "got nothing, expected a value");
    return { commands, line };
  }

  #inParentheses(state: { readonly words: readonly string[]; at: number }, line: number): Operand {
    const from = this.#commands(state, line);
    if (state.words[state.at] !== ")") throw this.error(line, "expected ) after (");
    state.at++;
    const fields = state.words[state.at]?.startsWith(").") ? state.words[state.at++]!.slice(2).split(".") : [];
    return { kind: "path", from, fields };
  }

  #operand(word: string, line: number): Operand {
    if (word.startsWith("`")) return { kind: "literal", value: word.slice(1, -1) };
    if (word.startsWith('"')) return { kind: "literal", value: this.#unquoted(word, line) };
    if (/^-?\d/.test(word)) return { kind: "literal", value: Number(word) };
    if (word === "true" || word === "false") return { kind: "literal", value: word === "true" };
    if (word === "nil") return { kind: "literal", value: null };
    if (word.startsWith(".")) return { kind: "path", from: "dot", fields: word.slice(1).split(".").filter(Boolean) };
    if (word.startsWith("$")) {
      const [variable = "$", ...fields] = word.split(".");
      return { kind: "path", from: { variable }, fields };
    }
    if (/^[A-Za-z_]\w*$/.test(word)) return { kind: "function", name: word };
    throw this.error(line, `got ${word}, expected a value`);
  }

  #unquoted(word: string, line: number): string {
    try {
      return JSON.parse(word);
    } catch {
      throw this.error(line, `got ${word}, expected a text in quotes`);
    }
  }
}
