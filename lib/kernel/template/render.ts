/**
 * Runs a template over a value.
 *
 * @module
 */
import { isThere, memberOf, printed, sorted, TEMPLATE_FUNCTIONS } from "./functions.ts";
import { parseTemplate } from "./parse.ts";
import { type BlockNode, type Operand, type Pipe, type TemplateNode, TextTemplateError } from "./syntax.ts";

/** Longest result, characters: loops in loops must not fill the memory. */
const MAX_RESULT = 16 * 1024 * 1024;

/**
 * The text that a template makes of a value. A name that the value does not have is false in a condition and an error
 * where it is printed.
 *
 * @param file the template's name, for messages
 * @throws {TextTemplateError} naming the line and what is wrong
 */
export function renderTemplate(text: string, file: string, value: unknown): string {
  const run = new TemplateRun(file, value);
  run.nodes(parseTemplate(text, file), value, new TemplateScope(new Map([["$", value]])));
  return run.result;
}

/** Variables of a block, over those around it. */
class TemplateScope {
  readonly #own: Map<string, unknown>;
  readonly #outer: TemplateScope | undefined;

  constructor(own: Map<string, unknown>, outer?: TemplateScope) {
    this.#own = own;
    this.#outer = outer;
  }

  get(name: string): { readonly value: unknown } | undefined {
    return this.#own.has(name) ? { value: this.#own.get(name) } : this.#outer?.get(name);
  }

  declare(name: string, value: unknown): void {
    this.#own.set(name, value);
  }

  /** False: there is no such variable. */
  replace(name: string, value: unknown): boolean {
    if (!this.#own.has(name)) return this.#outer?.replace(name, value) ?? false;
    this.#own.set(name, value);
    return true;
  }
}

class TemplateRun {
  readonly #file: string;
  readonly #root: unknown;
  result = "";

  constructor(file: string, root: unknown) {
    this.#file = file;
    this.#root = root;
  }

  nodes(nodes: readonly TemplateNode[], dot: unknown, scope: TemplateScope): void {
    for (const node of nodes) this.#node(node, dot, scope);
    if (this.result.length > MAX_RESULT) {
      throw new TextTemplateError(`${this.#file}: more than ${MAX_RESULT} characters`);
    }
  }

  #node(node: TemplateNode, dot: unknown, scope: TemplateScope): void {
    if (node.kind === "text") {
      this.result += node.text;
      return;
    }
    const value = this.#pipe(node.pipe, dot, scope);
    if (node.kind === "print") {
      if (value === undefined) throw this.#error(node.pipe, "there is no such value to print");
      this.result += printed(value);
    } else if (node.kind === "set") {
      if (node.declares) scope.declare(node.name, value);
      else if (!scope.replace(node.name, value)) throw this.#error(node.pipe, `${node.name} is not declared`);
    } else if (node.kind === "range") this.#range(node, value, dot, scope);
    else this.#choice(node, value, dot, scope);
  }

  #choice(node: BlockNode, value: unknown, dot: unknown, scope: TemplateScope): void {
    const inner = new TemplateScope(new Map(node.names.map((name) => [name, value])), scope);
    if (!isThere(value)) this.nodes(node.otherwise, dot, inner);
    else this.nodes(node.body, node.kind === "with" ? value : dot, inner);
  }

  #range(node: BlockNode, value: unknown, dot: unknown, scope: TemplateScope): void {
    if (!isThere(value)) return this.nodes(node.otherwise, dot, new TemplateScope(new Map(), scope));
    if (typeof value !== "object" || value === null) {
      throw this.#error(node.pipe, `range: got ${printed(value)}, expected a list or a map`);
    }
    const rows = Array.isArray(value) ? [...value.entries()] : sorted(value);
    for (const [key, one] of rows) {
      const values = node.names.length === 1 ? [one] : [key, one];
      const own = new Map(node.names.map((name, i) => [name, values[i]]));
      this.nodes(node.body, one, new TemplateScope(own, scope));
    }
  }

  #error({ line }: Pipe, message: string): TextTemplateError {
    return new TextTemplateError(`${this.#file}:${line}: ${message}`);
  }

  #pipe(pipe: Pipe, dot: unknown, scope: TemplateScope): unknown {
    return pipe.commands.reduce<unknown>((before, command, at) => {
      const [first, ...rest] = command;
      const piped = at === 0 ? [] : [() => before];
      if (first!.kind === "function") {
        const values = rest.map((operand) => () => this.#operand(operand, pipe, dot, scope));
        return this.#call(first!.name, [...values, ...piped], pipe);
      }
      if (rest.length > 0 || at > 0) throw this.#error(pipe, "got values without a function before them");
      return this.#operand(first!, pipe, dot, scope);
    }, undefined);
  }

  #call(name: string, values: readonly (() => unknown)[], pipe: Pipe): unknown {
    if (name === "and" || name === "or") {
      let last: unknown;
      for (const value of values) {
        last = value();
        if (isThere(last) === (name === "or")) break;
      }
      return last;
    }
    const found = Object.hasOwn(TEMPLATE_FUNCTIONS, name) ? TEMPLATE_FUNCTIONS[name] : undefined;
    if (found === undefined) throw this.#error(pipe, `there is no function ${name}`);
    const known = values.map((value) => value());
    try {
      return found(...known);
    } catch (error) {
      throw this.#error(pipe, `${name}: ${(error as Error).message}`);
    }
  }

  #operand(operand: Operand, pipe: Pipe, dot: unknown, scope: TemplateScope): unknown {
    if (operand.kind === "literal") return operand.value;
    if (operand.kind === "function") return this.#call(operand.name, [], pipe);
    const { from, fields } = operand;
    if (from === "dot") return fields.reduce<unknown>(memberOf, dot);
    if ("commands" in from) return fields.reduce<unknown>(memberOf, this.#pipe(from, dot, scope));
    const variable = from.variable === "$" ? { value: this.#root } : scope.get(from.variable);
    if (variable === undefined) throw this.#error(pipe, `${from.variable} is not declared`);
    return fields.reduce<unknown>(memberOf, variable.value);
  }
}
