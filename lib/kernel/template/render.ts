/**
 * Runs a template over a value.
 *
 * @module
 */
import { fieldOf, isThere, printed, sorted, TEMPLATE_FUNCTIONS, type TemplateFunction } from "./functions.ts";
import { parseTemplate } from "./parse.ts";
import { type BlockNode, type Operand, type Pipe, type TemplateNode, TextTemplateError } from "./syntax.ts";

/** Longest result in characters: nested loops must not fill the memory. */
const MAX_RESULT = 16 * 1024 * 1024;

/** Limits of nested calls and of all calls, so that every template ends. */
const MAX_DEPTH = 32;
const MAX_CALLS = 10_000;

/** Extras of a template besides the common functions. */
export interface RenderOptions {
  /** Functions by name. They override the common functions. */
  readonly functions?: Readonly<Record<string, TemplateFunction>>;
  /** The text of a printed value. Default: Go's printed form. */
  readonly print?: (value: unknown) => string;
}

/**
 * The text of a template for a value. An unknown name is false in a condition, and an error when printed.
 *
 * @param file The template's name, for messages.
 * @throws {TextTemplateError} with the line and the mistake.
 */
export function renderTemplate(text: string, file: string, value: unknown, options: RenderOptions = {}): string {
  return renderNodes(parseTemplate(text, file), file, value, options);
}

/** Like `renderTemplate`, for a parsed template. */
export function renderNodes(
  nodes: readonly TemplateNode[],
  file: string,
  value: unknown,
  options: RenderOptions = {},
): string {
  const run = new TemplateRun(file, value, nodes, options);
  run.nodes(nodes, value, new TemplateScope(new Map([["$", value]])));
  return run.result;
}

/** Variables of a block. They hide the variables of outer blocks. */
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

  /** False if the variable does not exist. */
  replace(name: string, value: unknown): boolean {
    if (!this.#own.has(name)) return this.#outer?.replace(name, value) ?? false;
    this.#own.set(name, value);
    return true;
  }
}

class TemplateRun {
  readonly #file: string;
  readonly #root: unknown;
  readonly #functions: Readonly<Record<string, TemplateFunction>>;
  readonly #print: (value: unknown) => string;
  readonly #defined = new Map<string, readonly TemplateNode[]>();
  #depth = 0;
  #calls = 0;
  result = "";

  constructor(file: string, root: unknown, nodes: readonly TemplateNode[], { functions, print }: RenderOptions) {
    this.#file = file;
    this.#root = root;
    this.#functions = { ...TEMPLATE_FUNCTIONS, ...functions };
    this.#print = print ?? printed;
    for (const node of nodes) if (node.kind === "define") this.#defined.set(node.name, node.body);
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
    if (node.kind === "define") return;
    if (node.kind === "call") return this.#named(node, dot, scope);
    const value = this.#pipe(node.pipe, dot, scope);
    if (node.kind === "print") {
      if (value === undefined) throw this.#error(node.pipe, "there is no such value to print");
      this.result += this.#print(value);
    } else if (node.kind === "set") {
      if (node.declares) scope.declare(node.name, value);
      else if (!scope.replace(node.name, value)) throw this.#error(node.pipe, `${node.name} is not declared`);
    } else if (node.kind === "range") this.#range(node, value, dot, scope);
    else this.#choice(node, value, dot, scope);
  }

  #named({ name, pipe, hasValue }: Extract<TemplateNode, { kind: "call" }>, dot: unknown, scope: TemplateScope): void {
    const body = this.#defined.get(name);
    if (body === undefined) throw this.#error(pipe, `there is no template ${JSON.stringify(name)}`);
    if (this.#depth >= MAX_DEPTH) throw this.#error(pipe, `more than ${MAX_DEPTH} templates call each other`);
    if (++this.#calls > MAX_CALLS) throw this.#error(pipe, `more than ${MAX_CALLS} calls of templates`);
    const value = hasValue ? this.#pipe(pipe, dot, scope) : undefined;
    this.#depth++;
    this.nodes(body, value, new TemplateScope(new Map()));
    this.#depth--;
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
    const found = Object.hasOwn(this.#functions, name) ? this.#functions[name] : undefined;
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
    if (from === "dot") return this.#member(dot, fields, pipe);
    if ("commands" in from) return this.#member(this.#pipe(from, dot, scope), fields, pipe);
    const variable = from.variable === "$" ? { value: this.#root } : scope.get(from.variable);
    if (variable === undefined) throw this.#error(pipe, `${from.variable} is not declared`);
    return this.#member(variable.value, fields, pipe);
  }

  #member(value: unknown, fields: readonly string[], pipe: Pipe): unknown {
    try {
      return fields.reduce<unknown>(fieldOf, value);
    } catch (error) {
      throw this.#error(pipe, `.${fields.join(".")}: ${(error as Error).message}`);
    }
  }
}
