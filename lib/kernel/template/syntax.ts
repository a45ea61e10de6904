/**
 * The syntax tree of a text template, and the error for a mistake in the text.
 *
 * @module
 */

/** A template that cannot be read or run. The message names file and line. */
export class TextTemplateError extends Error {
  override readonly name = "TextTemplateError";
}

/** A part of a template. */
export type TemplateNode =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "print"; readonly pipe: Pipe }
  /** `$name := pipe` declares, `$name = pipe` replaces. */
  | { readonly kind: "set"; readonly name: string; readonly declares: boolean; readonly pipe: Pipe }
  /** A part with a name. A `template` action runs the part by name. */
  | { readonly kind: "define"; readonly name: string; readonly body: readonly TemplateNode[] }
  | { readonly kind: "call"; readonly name: string; readonly pipe: Pipe; readonly hasValue: boolean }
  | BlockNode;

/** A part with inner parts. */
export interface BlockNode {
  readonly kind: "if" | "with" | "range";
  /** Variables from `range` and `with`: index and element, or only the element. */
  readonly names: readonly string[];
  readonly pipe: Pipe;
  readonly body: readonly TemplateNode[];
  readonly otherwise: readonly TemplateNode[];
}

/** A chain of commands. Each command gets the previous command's result as the last argument. */
export interface Pipe {
  readonly commands: readonly (readonly Operand[])[];
  readonly line: number;
}

/** A value of a command. */
export type Operand =
  | { readonly kind: "literal"; readonly value: string | number | boolean | null }
  | { readonly kind: "function"; readonly name: string }
  | {
    readonly kind: "path";
    readonly from: "dot" | { readonly variable: string } | Pipe;
    readonly fields: readonly string[];
  };
