/**
 * The service behind a name, for builders and for judges of names.
 *
 *     exact host ─> alias, followed ─> exact host ...
 *     else the most specific wildcard over the name
 *
 * @module
 */
import { isWildcard, wildcardsOver } from "./host_match.ts";

/** An alias of an alias of ... ends here. */
const MAX_ALIASES = 4;

/** Where a name leads. */
export interface NamedService<S> {
  /** The last name: of the question, or behind aliases. */
  readonly name: string;
  /** Host of the service, or the name if there is no service. A wildcard for names under the wildcard. */
  readonly host: string;
  /** Absent: no service has the name, or an alias has no end. */
  readonly service?: S;
}

/** The fact about a service that decides where the name leads. */
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
