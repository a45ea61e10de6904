/**
 * The service behind a name. Builders of resources and checks of references follow names in the same way.
 *
 *     exact host ─> alias, followed ─> exact host ...
 *     else the most specific wildcard over the name
 *
 * @module
 */
import { isWildcard, wildcardsOver } from "./host_match.ts";

/** Longest chain of aliases. */
const MAX_ALIASES = 4;

/** Where a name leads. */
export interface NamedService<S> {
  /** The given name, or the name at the end of the aliases. */
  readonly name: string;
  /** Host of the service: `name`, or the wildcard over `name`. Without a service: `name`. */
  readonly host: string;
  /** Absent: no service has the name, or the chain of aliases is too long. */
  readonly service?: S;
}

/** The property of a service that leads to another name. */
interface Aliased {
  /** The host behind the alias. */
  readonly externalName?: string | undefined;
}

/**
 * Follows a name.
 *
 * @param find The service of exactly this host, as visible to the caller.
 */
export function namedService<S extends Aliased>(host: string, find: (host: string) => S | undefined): NamedService<S> {
  let name = host;
  for (let hops = 0; hops <= MAX_ALIASES; hops++) {
    const service = find(name);
    if (service === undefined) return underWildcard(name, find);
    if (!service.externalName) return { name, host: name, service };
    name = service.externalName.toLowerCase();
  }
  return { name, host: name };
}

/** The service of the most specific wildcard over a name. Aliases do not count. */
export function wildcardServiceOver<S extends Aliased>(
  name: string,
  find: (host: string) => S | undefined,
): { readonly host: string; readonly service: S } | undefined {
  for (const pattern of wildcardsOver(name)) {
    const service = find(pattern);
    if (service !== undefined && !service.externalName) return { host: pattern, service };
  }
  return undefined;
}

function underWildcard<S extends Aliased>(name: string, find: (host: string) => S | undefined): NamedService<S> {
  // A rule with a wildcard as destination means the service of exactly this wildcard.
  const found = isWildcard(name) ? undefined : wildcardServiceOver(name, find);
  return found === undefined ? { name, host: name } : { name, ...found };
}
