/**
 * Copies that are made only where something differs.
 *
 * @module
 */

/**
 * An object with other values of some fields; the object itself where it has them all.
 *
 * @param fields `undefined`: the object lacks the field, and goes on to.
 */
export function withFields<Base extends object, T extends Base>(
  one: T,
  fields: { readonly [K in keyof Base]?: Base[K] | undefined },
): T {
  const other = Object.entries(fields).filter(([name, value]) => value !== one[name as keyof T]);
  return other.length === 0 ? one : { ...one, ...Object.fromEntries(other) };
}

/** The list with `make` applied to each item; the list itself where `make` returns each item itself. */
export function mapped<T>(list: readonly T[], make: (item: T) => T): readonly T[] {
  const made = list.map(make);
  return made.every((item, at) => item === list[at]) ? list : made;
}

/** Each item once; the list itself where none comes twice. */
export function unique<T>(list: readonly T[]): readonly T[] {
  const items = new Set(list);
  return items.size === list.length ? list : [...items];
}
