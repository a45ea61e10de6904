/**
 * The catalogue of names that are accepted but not built yet. Used by warnings at start, help, `/debug/live`, the
 * metrics page and the reference.
 *
 * @module
 */
import { entriesOf, type NotBuilt, type NotBuiltPart, type NotBuiltWhat } from "./entry.ts";
import { NEEDLESS_MESH_FIELDS, NEEDLESS_SETTINGS } from "./needless.ts";

/** The parts, in the order of the reference page. At present everything is built. */
export const NOT_BUILT_PARTS: readonly NotBuiltPart[] = [];

/** Every entry. */
export const NOT_BUILT: readonly NotBuilt[] = NOT_BUILT_PARTS.flatMap(entriesOf);

const byName = new Map(NOT_BUILT.map((entry) => [`${entry.what} ${entry.name}`, entry]));

/** The entry of a name. Undefined for a name with its full effect. */
export function notBuilt(what: NotBuiltWhat, name: string): NotBuilt | undefined {
  return byName.get(`${what} ${name}`);
}

/** All names of a sort, sorted. */
export function notBuiltNames(what: NotBuiltWhat): string[] {
  return NOT_BUILT.filter((entry) => entry.what === what).map(({ name }) => name).sort();
}

/** The given flags of a program that have no effect, with dashes, sorted. */
export function flagsNotBuilt(program: string, given: Iterable<string>): string[] {
  return [...given].map((name) => `--${name}`).filter((flag) => notBuilt("flag", `${program} ${flag}`)).sort();
}

/** The given settings without effect, sorted: not built yet, or never needed here. */
export function settingsWithoutEffect(given: Iterable<string>): string[] {
  return [...given].filter((name) => notBuilt("setting", name) || Object.hasOwn(NEEDLESS_SETTINGS, name)).sort();
}

/** Fields of the mesh configuration without effect, sorted: not built yet, or never needed here. */
export function meshFieldsWithoutEffect(): string[] {
  return [...notBuiltNames("mesh field"), ...Object.keys(NEEDLESS_MESH_FIELDS)].sort();
}
