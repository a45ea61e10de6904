/**
 * The language of the installation's objects: plain data with places for values.
 *
 * The objects are written once in this language, for two readers. {@linkcode ./resolve.ts} fills in the values. A chart
 * prints each place as an expression of Helm's template language. So a special node is plain data, and only the readers
 * have code for it.
 *
 * @module
 */

/** JSON data. */
export type InstallData = string | number | boolean | null | readonly InstallData[] | {
  readonly [key: string]: InstallData;
};

/** Data with places for values. */
export type Node =
  | string
  | number
  | boolean
  | Ref
  | Joined
  | Conditional
  | Each
  | Spread
  | Noted
  | YamlText
  | MergedNode
  | readonly Node[]
  | { readonly [key: string]: Node };

/** Where a value comes from. */
export interface ValuePlace {
  /** `values` for the values of the installation, otherwise the name of the enclosing {@linkcode Each}. */
  readonly of: string;
  /** Path of the value, with dots. Empty: the whole item of the list. */
  readonly path: string;
}

/** A value unchanged: a text, a number, or a whole object. */
export class Ref implements ValuePlace {
  constructor(readonly of: string, readonly path: string) {}
}

/** A text made of texts and values. */
export class Joined {
  constructor(readonly parts: readonly Node[]) {}
}

/** A node under a condition. Without `otherwise`, the field, the list item or the object is left out. */
export class Conditional {
  constructor(readonly condition: ValueCondition, readonly then: Node, readonly otherwise?: Node) {}
}

/** The nodes of `body` for each item of a list value. The nodes take the place of this node in its list. */
export class Each {
  /** @param as Name of the item in the places of the body. */
  constructor(readonly list: ValuePlace, readonly as: string, readonly body: readonly Node[]) {}
}

/** All items of a list value. The items take the place of this node in its list. */
export class Spread {
  constructor(readonly list: ValuePlace) {}
}

/** A node with a comment in front: of the object, of the field, or of the list item. */
export class Noted {
  /** @param text Without comment signs. Line breaks stay. */
  constructor(readonly text: string, readonly node: Node) {}
}

/** A text with the node as YAML, such as an entry of a config map. */
export class YamlText {
  constructor(readonly node: Node) {}
}

/** Objects merged field by field, in all depths. A later object's field replaces an earlier object's field. */
export class MergedNode {
  constructor(readonly parts: readonly Node[]) {}
}

/** A condition on values. */
export type ValueCondition =
  /** The value is neither null, false, zero nor empty. */
  | { readonly filled: ValuePlace }
  /** The value is this text. */
  | { readonly is: ValuePlace; readonly text: string }
  | { readonly not: ValueCondition }
  | { readonly all: readonly ValueCondition[] }
  | { readonly any: readonly ValueCondition[] };

export function when(condition: ValueCondition, then: Node, otherwise?: Node): Conditional {
  return new Conditional(condition, then, otherwise);
}

/** A value, or nothing where the value is empty. */
export function given(place: Ref): Conditional {
  return when({ filled: place }, place);
}

export function not(condition: ValueCondition): ValueCondition {
  return { not: condition };
}

/** A text with values: `` text`${hub}/proxy:${tag}` ``. */
export function text(strings: TemplateStringsArray, ...values: readonly Node[]): Joined {
  return new Joined(
    strings.flatMap((part, index) => [part, ...values.slice(index, index + 1)]).filter((p) => p !== ""),
  );
}

export function noted(words: string, node: Node): Noted {
  return new Noted(words, node);
}

/**
 * The nodes of `body` for each item of a list value. @param body Gets a function that makes the place of an item's
 * field.
 */
export function each(list: ValuePlace, as: string, body: (field: (path: string) => Ref) => readonly Node[]): Each {
  return new Each(list, as, body((path) => new Ref(as, path)));
}

/** Whether a node is an object with fields. */
export function isFields(node: Node): node is { readonly [key: string]: Node } {
  return typeof node === "object" && Object.getPrototypeOf(node) === Object.prototype;
}
