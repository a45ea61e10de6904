/**
 * Trees with a record of reads of their fields.
 * @module
 */

/** A tree, and the paths of the read fields, whether present or absent: `spec.ports[].name`. */
export function traced(tree: object): { readonly tree: object; readonly paths: ReadonlySet<string> } {
  const paths = new Set<string>();
  const wrap = (value: unknown, path: string): unknown => {
    if (typeof value !== "object" || value === null) return value;
    const isList = Array.isArray(value);
    const at = (key: string) => (isList ? `${path}[]` : path === "" ? key : `${path}.${key}`);
    const note = (key: string | symbol) => {
      if (typeof key === "string" && !isList) paths.add(at(key));
    };
    return new Proxy(value, {
      get(target, key) {
        note(key);
        const inner: unknown = Reflect.get(target, key);
        return typeof key === "string" && typeof inner !== "function" ? wrap(inner, at(key)) : inner;
      },
      has(target, key) {
        note(key);
        return Reflect.has(target, key);
      },
    });
  };
  return { tree: wrap(tree, "") as object, paths };
}
