/**
 * Decoding of users' JSON or YAML into typed specs, by the rules of protobuf's JSON mapping: both field spellings, null
 * means unset, integers as strings, enumerations by name or number, zero values count as unset. Unlike protobuf,
 * decoding reports every mistake, not only the first.
 *
 *     raw value ──> Field.decode(value, context) ──> typed value
 *                                  │
 *                                  └──> findings with path, value and expectation
 *
 * A schema is a value of type `Field<Spec>` made by `message({...})`. The compiler infers the spec's type from the
 * schema: a field that is neither `required` nor has a default gets a `?`. The comments of the schema's fields are the
 * comments of the type's fields, in editors and in the reference.
 *
 * @module
 */
import type { Findings } from "../../finding/findings.ts";
import type { ValuePool } from "./value_pool.ts";

/** The accepted values of a field, for printing in another schema language. */
export type FieldShape =
  | { readonly type: "string" | "boolean" | "number" | "duration" | "base64" | "struct" }
  | { readonly type: "integer"; readonly minimum: number; readonly maximum: number }
  /** Names in protobuf's order, from number 0. */
  | { readonly type: "enum"; readonly names: readonly string[] }
  | { readonly type: "list"; readonly element: Field<unknown> }
  | { readonly type: "map"; readonly value: Field<unknown> }
  | MessageShape;

/** Shape of an object with known fields. */
export interface MessageShape {
  readonly type: "message";
  readonly fields: Readonly<Record<string, Field<unknown> & Partial<PresentField<unknown>>>>;
  /** Groups of fields of which at most one may be written. */
  readonly oneOf: readonly (readonly string[])[];
  /** Names accepted and dropped. */
  readonly ignored: readonly string[];
}

/** Limits of values, in words of JSON Schema. */
export interface FieldLimits {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly number[];
}

/** How one value is decoded. */
export interface Field<T> {
  /** The accepted values. */
  readonly shape: FieldShape;
  /** Limits of the accepted values; absent: the shape says everything. */
  readonly limits?: FieldLimits;
  /** The expectation, for findings: "a string". */
  readonly expected: string;
  /** The typed value; undefined: the reason is reported. */
  decode(value: unknown, context: DecodeContext): T | undefined;
  /** Stands in for a value that failed, so that the rest can still be checked. */
  zero(): T;
  /** Whether the value is the zero value, which counts as not written; absent: zero is kept. */
  isZero?(value: T): boolean;
}

/** A field with a value in every spec. */
export interface PresentField<T> extends Field<T> {
  readonly present: true;
  /** The value when not written; absent: the field must be written. */
  readonly fallback?: () => T;
}

/** The state of decoding: the place in the object, and the receiver of findings. */
export class DecodeContext {
  readonly #path: (string | number)[] = [];
  readonly #findings: Findings;
  readonly #root: string;
  /** Whether an unknown field refuses the object. */
  readonly unknownFields: "error" | "warning";
  /** The pool that makes equal values one. */
  readonly pool: ValuePool | undefined;

  /**
   * @param root First part of every path, for example `spec`; may be empty.
   * @param findings Gets the findings.
   * @param unknownFields How unknown fields are reported; default `error`.
   * @param pool Makes equal values one; default: none.
   */
  constructor(root: string, findings: Findings, unknownFields: "error" | "warning" = "error", pool?: ValuePool) {
    this.#root = root;
    this.pool = pool;
    this.#findings = findings;
    this.unknownFields = unknownFields;
  }

  /** Enters a field, key or index. Pair with `leave`. */
  enter(key: string | number): void {
    this.#path.push(key);
  }

  /** Leaves the entered field, key or index. */
  leave(): void {
    this.#path.pop();
  }

  /**
   * Paths of values that did not decode. A rule's finding about such a path, or about a path below, is noise.
   * Unreported paths are left out.
   */
  readonly failed: string[] = [];

  /** Reports that the value at the current path does not decode. */
  fail(value: unknown, expected: string): void {
    const where = this.#findings.hasRoom("error") ? this.#where() : "";
    if (where !== "") this.failed.push(where);
    this.#findings.error(where, value, expected);
  }

  /** Reports an error at the current path whose value decodes nevertheless. */
  conflict(value: unknown, expected: string): void {
    this.#findings.error(this.#where(), value, expected, "exclusive-fields");
  }

  /** Reports an unknown field below the current path; `expected` is asked for only if the finding is kept. */
  unknown(key: string, value: unknown, expected: () => string): void {
    const isKept = this.#findings.hasRoom(this.unknownFields);
    const where = isKept ? joinPath(this.#where(), key) : "";
    this.#findings.report(this.unknownFields, where, value, isKept ? expected() : "", "unknown-field");
  }

  #where(): string {
    return this.#path.reduce<string>(joinPath, this.#root);
  }
}

const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Appends a key or index to a path: `a`, `b` give `a.b`; `0` gives `a[0]`; `x-y` gives `a["x-y"]`. */
export function joinPath(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  if (!PLAIN.test(key)) return `${path}[${JSON.stringify(key.length > 80 ? `${key.slice(0, 79)}…` : key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** Whether a value is a JSON object (not null, not a list). */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The field must be written. `expected` may say more than the type does: "a host name". */
export function required<T>(field: Field<T>, expected: string = field.expected): PresentField<T> {
  return { ...bound(field), expected, present: true };
}

/** The field has this value when not written. */
export function withDefault<T>(field: Field<T>, value: NoInfer<T>): PresentField<T> {
  return { ...bound(field), present: true, fallback: () => value };
}

/** The zero value is kept: zero and not written are different (protobuf wrappers, members of a oneof). */
export function keepZero<T>(field: Field<T>): Field<T> {
  const { isZero: _isZero, ...kept } = bound(field);
  return kept;
}

// Spreading an object literal with methods keeps them as plain functions; no field uses `this`.
function bound<T>(field: Field<T>): Field<T> {
  return { ...field };
}
