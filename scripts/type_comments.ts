/**
 * The comments in schemas, for schemas that are printed with descriptions: of the types that are inferred from messages,
 * and of the fields of messages.
 *
 * Permissions: read of the files.
 *
 * @module
 */
import { dirname, resolve } from "node:path";
import jsTokens from "js-tokens";
import type { TypeComment } from "../lib/config/schema/json_schema.ts";

/** A value in source form: a name, a call, an object, or any other value, which has no comments. */
type Written =
  | { readonly name: string }
  | { readonly call: string; readonly values: readonly Written[] }
  | { readonly fields: readonly WrittenField[] };

/** A field of an object, or a nameless spread object. */
interface WrittenField {
  readonly name?: string;
  readonly comment: string;
  readonly value: Written;
}

interface SchemaFile {
  readonly path: string;
  readonly comment: string;
  readonly constants: Map<string, Written>;
  /** Types by the constants from which types are inferred. */
  readonly types: Map<string, { readonly name: string; readonly comment: string }>;
  /** The files of imported names. */
  readonly imports: Map<string, string>;
}

const NOTHING: TypeComment = { field: () => undefined };

/** The types and constants of some files. */
export class TypeComments {
  readonly #files = new Map<string, SchemaFile>();

  /** Reads the comments of files. */
  static async read(paths: readonly string[]): Promise<TypeComments> {
    const comments = new TypeComments();
    for (const path of paths) comments.#files.set(path, new Reader(path, await Deno.readTextFile(path)).file());
    return comments;
  }

  /**
   * The comments of a type and its members.
   *
   * @throws When no constant has the type.
   */
  of(name: string): TypeComment {
    const [file, constant] = this.#find(name);
    return this.#ofName(constant, file);
  }

  /** The comment of the file that declares a type. */
  fileOf(name: string): string {
    return this.#find(name)[0].comment;
  }

  #find(name: string): [SchemaFile, string] {
    for (const file of this.#files.values()) {
      for (const [constant, type] of file.types) if (type.name === name) return [file, constant];
    }
    throw new Error(`no type ${name} is inferred in the files`);
  }

  #ofName(name: string, file: SchemaFile): TypeComment {
    const from = file.imports.get(name);
    const there = from === undefined ? file : this.#files.get(from);
    const written = there?.constants.get(name);
    if (there === undefined || written === undefined) return NOTHING;
    const type = there.types.get(name);
    const inner = this.#of(written, there);
    return type === undefined ? inner : { ...inner, name: type.name, ...described(type.comment) };
  }

  #of(written: Written, file: SchemaFile): TypeComment {
    if ("name" in written) return this.#ofName(written.name, file);
    if ("fields" in written) return { field: (name) => this.#field(name, written.fields, file) };
    const [first] = written.values;
    if (first === undefined) return NOTHING;
    const inner = this.#of(first, file);
    return written.call === "list" || written.call === "map" ? { ...NOTHING, element: inner } : inner;
  }

  #field(name: string, fields: readonly WrittenField[], file: SchemaFile): ReturnType<TypeComment["field"]> {
    for (const field of fields) {
      if (field.name === name) return { type: this.#of(field.value, file), ...described(field.comment) };
      const spread = field.name === undefined ? this.#of(field.value, file).field(name) : undefined;
      if (spread !== undefined) return spread;
    }
    return undefined;
  }
}

/** Reads the constants of a file from tokens. */
class Reader {
  readonly #path: string;
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(path: string, text: string) {
    this.#path = path;
    this.#tokens = [...jsTokens(text)]
      .filter(({ type, value }) =>
        type === "MultiLineComment" ? value.startsWith("/**") : !/Comment|White|Line/.test(type)
      )
      .map(({ value }) => value);
  }

  file(): SchemaFile {
    const file: SchemaFile = {
      path: this.#path,
      comment: textOf(this.#tokens[0] ?? ""),
      constants: new Map(),
      types: new Map(),
      imports: new Map(),
    };
    while (this.#at < this.#tokens.length) this.#statement(file);
    return file;
  }

  #next(): string {
    return this.#tokens[this.#at++] ?? "";
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  #comment(): string {
    let comment = "";
    while (this.#tokens[this.#at]?.startsWith("/**")) comment = textOf(this.#next());
    return comment;
  }

  #statement(file: SchemaFile): void {
    const comment = this.#comment();
    const isExported = this.#take("export");
    if (this.#take("import")) this.#import(file);
    else if (this.#take("const")) {
      const name = this.#next();
      while (this.#at < this.#tokens.length && !this.#take("=")) this.#at++;
      file.constants.set(name, this.#value());
      while (this.#at < this.#tokens.length && !this.#take(";")) this.#at++;
    } else if (isExported && this.#take("interface")) {
      // The type before defaults stands for the type with defaults.
      const name = this.#next().replace(/^Written/, "");
      while (this.#at < this.#tokens.length && !this.#take("typeof") && this.#tokens[this.#at] !== "{") this.#at++;
      file.types.set(this.#next(), { name, comment });
    } else this.#at++;
  }

  #import(file: SchemaFile): void {
    const names: string[] = [];
    while (this.#at < this.#tokens.length && !this.#take("from")) names.push(this.#next());
    const from = resolve(dirname(this.#path), this.#next().slice(1, -1));
    for (const name of names) if (/^\w+$/.test(name)) file.imports.set(name, from);
  }

  #value(): Written {
    if (this.#take("{")) return { fields: this.#list("}", () => this.#field()) };
    const name = this.#next();
    if (name === "[") this.#list("]", () => this.#value());
    else if (this.#take("(")) return { call: name, values: this.#list(")", () => this.#value()) };
    return { name };
  }

  #field(): WrittenField {
    const comment = this.#comment();
    if (this.#take("...")) return { comment, value: this.#value() };
    const name = this.#next();
    return { name, comment, value: this.#take(":") ? this.#value() : { name } };
  }

  /** Items up to a closing bracket. The rest of an item after its value is skipped. */
  #list<T>(end: string, item: () => T): T[] {
    const items: T[] = [];
    while (this.#at < this.#tokens.length && !this.#take(end)) {
      items.push(item());
      while (this.#at < this.#tokens.length && !this.#take(",") && this.#tokens[this.#at] !== end) this.#at++;
    }
    return items;
  }
}

function described(description: string): { readonly description?: string } {
  return description === "" ? {} : { description };
}

/** The text of a comment, without tags. */
function textOf(comment: string): string {
  const lines = comment.replace(/^\/\*\*|\*\/$/g, "").split("\n").map((line) => line.replace(/^\s*\* ?/, ""));
  const tag = lines.findIndex((line) => line.startsWith("@"));
  const text = (tag < 0 ? lines : lines.slice(0, tag)).join(" ");
  return text.replace(/\{@\w+ ([^}]*)\}/g, "`$1`").replace(/\s+/g, " ").trim();
}
