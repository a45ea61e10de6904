/**
 * The one catalogue of what is accepted and not built yet: warnings at start, help, `/debug/live`, the metrics page and
 * the reference ask it.
 *
 * @module
 */
import { ambient } from "./ambient.ts";
import { entriesOf, type NotBuilt, type NotBuiltPart, type NotBuiltWhat } from "./entry.ts";
import { extensions } from "./extensions.ts";
import { filters } from "./filters.ts";
import { gatewayApi } from "./gateway_api.ts";
import { NEEDLESS_MESH_FIELDS, NEEDLESS_SETTINGS } from "./needless.ts";
import { networks } from "./networks.ts";
import { orchestrator } from "./orchestrator.ts";

/** The parts, in the order of the reference page. */
export const NOT_BUILT_PARTS: readonly NotBuiltPart[] = [
  ...[orchestrator, gatewayApi, ambient],
  ...[extensions, filters, networks],
];

/** Every entry. */
export const NOT_BUILT: readonly NotBuilt[] = NOT_BUILT_PARTS.flatMap(entriesOf);

const byName = new Map(NOT_BUILT.map((entry) => [`${entry.what} ${entry.name}`, entry]));

/** The entry of a name; undefined: it has the effect that it should have. */
export function notBuilt(what: NotBuiltWhat, name: string): NotBuilt | undefined {
  return byName.get(`${what} ${name}`);
}

/** All entries of one sort, by name. */
export function notBuiltNames(what: NotBuiltWhat): string[] {
  return NOT_BUILT.filter((entry) => entry.what === what).map(({ name }) => name).sort();
}

/** Names of given flags of a program that have no effect, with their dashes, sorted. */
export function flagsNotBuilt(program: string, given: Iterable<string>): string[] {
  return [...given].map((name) => `--${name}`).filter((flag) => notBuilt("flag", `${program} ${flag}`)).sort();
}

/** Names of given settings that have no effect, sorted: not built yet, or never needed here. */
export function settingsWithoutEffect(given: Iterable<string>): string[] {
  return [...given].filter((name) => notBuilt("setting", name) || Object.hasOwn(NEEDLESS_SETTINGS, name)).sort();
}

/** Fields of the mesh configuration that have no effect, sorted: not built yet, or never needed here. */
export function meshFieldsWithoutEffect(): string[] {
  return [...notBuiltNames("mesh field"), ...Object.keys(NEEDLESS_MESH_FIELDS)].sort();
}

/**
 * The warning for an object of a kind; undefined: the kind is in force.
 *
 * @param written The kind as its author spelled it.
 */
export function kindNotBuiltText(kind: string, written: string = kind): string | undefined {
  const entry = notBuilt("kind", kind);
  return entry && `${written} ${entry.effect} in this version (not built yet: ${entry.part})`;
}

/** Kinds of which nothing or not everything is in force. */
export function kindsNotBuilt(): string[] {
  return [...new Set([...notBuiltNames("kind"), ...notBuiltNames("kind field").map((name) => name.split(".")[0]!)])];
}

/**
 * The warning for an object of which nothing or not everything is in force; undefined: all of it is.
 *
 * @param written The kind as its author spelled it.
 */
export function objectNotBuiltText(
  { kind, spec }: { readonly kind: string; readonly spec: object },
  written: string = kind,
): string | undefined {
  const whole = kindNotBuiltText(kind, written);
  if (whole !== undefined) return whole;
  const inert = Object.keys(spec).flatMap((field) => notBuilt("kind field", `${kind}.${field}`) ?? []);
  const [first] = inert;
  if (first === undefined) return undefined;
  const fields = inert.map(({ name }) => name.slice(kind.length + 1)).join(" and ");
  return `${fields} of ${written}: checked, and without effect in this version (not built yet: ${first.part})`;
}
