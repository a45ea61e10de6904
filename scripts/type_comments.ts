/**
 * The comments of types, as `deno doc` prints them, for schemas that are printed with descriptions.
 *
 * Permissions: run of Deno, read of the files.
 *
 * @module
 */
import type { TypeComment } from "../lib/config/schema/json_schema.ts";

/** A type in the output of `deno doc --json`, as far as it is read here. */
interface DocType {
  readonly kind: string;
  readonly value: unknown;
}

interface DocProperty {
  readonly name: string;
  readonly jsDoc?: { readonly doc?: string };
  readonly tsType: DocType;
}

interface DocInterface {
  readonly name: string;
  readonly description: string | undefined;
  readonly extends: readonly DocType[];
  readonly properties: readonly DocProperty[];
}

/** Interfaces and other names of some files. */
export class TypeComments {
  readonly #interfaces = new Map<string, DocInterface>();
  readonly #aliases = new Map<string, DocType>();
  readonly #files = new Map<string, string>();

  /** Reads the comments of files. */
  static async read(files: readonly string[]): Promise<TypeComments> {
    const { code, stdout, stderr } = await new Deno.Command("deno", {
      args: ["doc", "--quiet", "--json", ...files],
      stdout: "piped",
      stderr: "piped",
    }).output();
    if (code !== 0) throw new Error(`deno doc failed: ${new TextDecoder().decode(stderr)}`);
    const comments = new TypeComments();
    comments.#take(JSON.parse(new TextDecoder().decode(stdout)));
    return comments;
  }

  /** The comments of an interface and of everything in it. @throws when there is no such interface */
  of(name: string): TypeComment {
    const found = this.#interfaces.get(name);
    if (found === undefined) throw new Error(`no interface ${name} in the files`);
    return this.#ofInterface(found);
  }

  /** The comment of the file that declares an interface; empty: it has none. */
  fileOf(name: string): string {
    return this.#files.get(name) ?? "";
  }

  #take({ nodes }: { readonly nodes: Readonly<Record<string, DocFile>> }): void {
    for (const { symbols = [], module_doc } of Object.values(nodes)) {
      for (const { name, declarations } of symbols) {
        this.#files.set(name, textOf(module_doc?.doc) ?? "");
        for (const { kind, jsDoc, def } of declarations) {
          if (kind === "typeAlias") this.#aliases.set(name, def.tsType as DocType);
          if (kind !== "interface") continue;
          this.#interfaces.set(name, {
            name,
            description: textOf(jsDoc?.doc),
            extends: def.extends ?? [],
            properties: def.properties ?? [],
          });
        }
      }
    }
  }

  #ofInterface({ name, description, properties, extends: bases }: DocInterface): TypeComment {
    return { name, ...described(description), ...this.#ofProperties(properties, bases) };
  }

  #ofProperties(properties: readonly DocProperty[], bases: readonly DocType[]): Pick<TypeComment, "field"> {
    const field = (name: string) => {
      const own = properties.find((property) => property.name === name);
      if (own !== undefined) return { type: this.#ofType(own.tsType), ...described(textOf(own.jsDoc?.doc)) };
      return bases.map((base) => this.#ofType(base).field(name)).find((found) => found !== undefined);
    };
    return { field };
  }

  #ofType(type: DocType): TypeComment {
    switch (type.kind) {
      case "typeOperator":
        return this.#ofType((type.value as { readonly tsType: DocType }).tsType);
      case "array":
        return { field: () => undefined, element: this.#ofType(type.value as DocType) };
      case "typeLiteral":
        return this.#ofProperties((type.value as { readonly properties: readonly DocProperty[] }).properties, []);
      case "intersection":
        return this.#ofAll(type.value as readonly DocType[]);
      case "typeRef":
        return this.#ofReference(type.value as DocReference);
      default:
        return { field: () => undefined };
    }
  }

  /** A type that has the fields of several. */
  #ofAll(types: readonly DocType[]): TypeComment {
    const parts = types.map((type) => this.#ofType(type));
    return { field: (name) => parts.map((part) => part.field(name)).find((found) => found !== undefined) };
  }

  #ofReference({ typeName, typeParams = [] }: DocReference): TypeComment {
    const [first, second] = typeParams;
    if ((typeName === "Readonly" || typeName === "Partial" || typeName === "Omit") && first) return this.#ofType(first);
    if (typeName === "Record" && second) return { field: () => undefined, element: this.#ofType(second) };
    const found = this.#interfaces.get(typeName);
    if (found !== undefined) return this.#ofInterface(found);
    const alias = this.#aliases.get(typeName);
    return alias === undefined ? { field: () => undefined } : this.#ofType(alias);
  }
}

interface DocReference {
  readonly typeName: string;
  readonly typeParams?: readonly DocType[];
}

interface DocFile {
  readonly module_doc?: { readonly doc?: string };
  readonly symbols?: readonly DocSymbol[];
}

interface DocSymbol {
  readonly name: string;
  readonly declarations: readonly {
    readonly kind: string;
    readonly jsDoc?: { readonly doc?: string };
    readonly def: {
      readonly tsType?: DocType;
      readonly extends?: readonly DocType[];
      readonly properties?: readonly DocProperty[];
    };
  }[];
}

function described(description: string | undefined): { readonly description?: string } {
  return description === undefined ? {} : { description };
}

function textOf(doc: string | undefined): string | undefined {
  const text = doc?.replace(/\{@\w+ ([^}]*)\}/g, "`$1`").replace(/\s+/g, " ").trim();
  return text === "" ? undefined : text;
}
