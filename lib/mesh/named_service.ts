/**
 * The service that a name leads to, for all who follow a name: what builds, and what judges whether a name exists.
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
  /** The last name: that of the question, or behind aliases. */
  readonly name: string;
  /** Host of the service; of none the name. A wildcard, where the name lies under one. */
  readonly host: string;
  /** Absent: no service has the name, or an alias has no end. */
  readonly service?: S;
}

/** The fact about a service that decides where its name leads. */
interface Aliased {
  /** The host that it stands for. */
  readonly externalName?: string | undefined;
}

/**
 * Follows a name.
 *
 * @param find The service of exactly that host, as the one who asks sees it.
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

/** The service of the most specific wildcard over a name that is no alias. */
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
  // A rule that sends to a wildcard means the service of that very wildcard.
  const found = isWildcard(name) ? undefined : wildcardServiceOver(name, find);
  return found === undefined ? { name, host: name } : { name, ...found };
}
