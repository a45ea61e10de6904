/**
 * The syntax tree of a text template, and where in its text something is wrong.
 *
 * @module
 */

/** A template that cannot be read or run: the message names its file and line. */
export class TextTemplateError extends Error {
  override readonly name = "TextTemplateError";
}

/** One part of a template. */
export type TemplateNode =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "print"; readonly pipe: Pipe }
  /** `$name := pipe` declares, `$name = pipe` replaces. */
  | { readonly kind: "set"; readonly name: string; readonly declares: boolean; readonly pipe: Pipe }
  /** A part with a name, which runs where it is called. */
  | { readonly kind: "define"; readonly name: string; readonly body: readonly TemplateNode[] }
  | { readonly kind: "call"; readonly name: string; readonly pipe: Pipe; readonly hasValue: boolean }
  | BlockNode;

/** A part with parts of its own. */
export interface BlockNode {
  readonly kind: "if" | "with" | "range";
  /** Variables that `range` and `with` declare: index and element, or the element alone. */
  readonly names: readonly string[];
  readonly pipe: Pipe;
  readonly body: readonly TemplateNode[];
  readonly otherwise: readonly TemplateNode[];
}

/** Commands, each of which gets the result of the one before as its last argument. */
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
