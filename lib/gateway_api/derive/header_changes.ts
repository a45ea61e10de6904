/**
 * Changes of headers.
 *
 * @module
 */
import type { HeaderFilter, HeaderOperations, Headers } from "../../config/kinds/kinds.ts";
import { isAuthorityHeader } from "../../config/validation/values.ts";

/**
 * The changes of a filter. Of equal names in a list the first counts, in any letter case. Values are taken literally:
 * the proxy's commands (`%ENVIRONMENT(X)%`) have no meaning in a route.
 */
export function headerOperations({ set = [], add = [], remove = [] }: HeaderFilter): HeaderOperations {
  const [toSet, toAdd, toRemove] = [values(set), values(add), firstNames(remove)];
  return {
    ...(Object.keys(toSet).length > 0 ? { set: toSet } : {}),
    ...(Object.keys(toAdd).length > 0 ? { add: toAdd } : {}),
    ...(toRemove.length > 0 ? { remove: toRemove } : {}),
  };
}

/** Changes without a new value of the Host header. */
export function withoutAuthority({ set = {}, add = {}, ...rest }: HeaderOperations): HeaderOperations {
  const others = (map: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(map).filter(([name]) => !isAuthorityHeader(name)));
  return { ...rest, set: others(set), add: others(add) };
}

/** The changes of both directions; undefined: none. */
export function headersOf(request?: HeaderOperations, response?: HeaderOperations): Headers | undefined {
  if (request === undefined && response === undefined) return undefined;
  return { ...(request && { request }), ...(response && { response }) };
}

function values(list: readonly { readonly name: string; readonly value: string }[]): Record<string, string> {
  const first = new Map<string, (typeof list)[number]>();
  for (const one of list) first.getOrInsert(one.name.toLowerCase(), one);
  return Object.fromEntries([...first.values()].map(({ name, value }) => [name, value.replaceAll("%", "%%")]));
}

function firstNames(list: readonly string[]): string[] {
  const first = new Map<string, string>();
  for (const name of list) first.getOrInsert(name.toLowerCase(), name);
  return [...first.values()];
}
