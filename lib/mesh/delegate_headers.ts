/**
 * The joined header operations of a root's rule and a delegate's rule: the root's operations first, then the
 * delegate's. For the same header the delegate's operations hold.
 *
 * @module
 */
import type { HeaderOperations, Headers, StringMap } from "../config/kinds/kinds.ts";

/** Operations of both rules. */
export interface JoinedHeaders {
  /** Absent: neither has any. */
  readonly headers?: Headers;
  /** Operations of the root without effect, `request.set x-a`. */
  readonly lost: readonly string[];
}

export function joinedHeaders(root: Headers | undefined, own: Headers | undefined): JoinedHeaders {
  if (root === undefined || own === undefined) {
    const only = own ?? root;
    return { ...(only && { headers: only }), lost: [] };
  }
  const lost: string[] = [];
  const request = joinedOperations(root.request, own.request, "request", lost);
  const response = joinedOperations(root.response, own.response, "response", lost);
  return { headers: { ...(request && { request }), ...(response && { response }) }, lost };
}

/** A proxy removes, then sets, then adds. An operation of the root must not undo an operation of the delegate. */
function joinedOperations(
  root: HeaderOperations | undefined,
  own: HeaderOperations | undefined,
  direction: keyof Headers,
  lost: string[],
): HeaderOperations | undefined {
  if (root === undefined || own === undefined) return own ?? root;
  const [set, add, removed] = [named(own.set), named(own.add), new Set((own.remove ?? []).map(lower))];
  const kept = (operation: "set" | "add", over: readonly ReadonlyMap<string, string>[]) =>
    Object.entries(root[operation] ?? {}).filter(([name, value]) => {
      const decided = over.find((map) => map.has(lower(name)))?.get(lower(name));
      if (decided === undefined && !removed.has(lower(name))) return true;
      if (decided !== value) lost.push(`${direction}.${operation} ${name}`);
      return false;
    });
  const joined = {
    set: Object.fromEntries([...kept("set", [set]), ...Object.entries(own.set ?? {})]),
    add: Object.fromEntries([...kept("add", [set, add]), ...Object.entries(own.add ?? {})]),
    remove: [...new Set([...root.remove ?? [], ...own.remove ?? []])],
  };
  return {
    ...(Object.keys(joined.set).length > 0 && { set: joined.set }),
    ...(Object.keys(joined.add).length > 0 && { add: joined.add }),
    ...(joined.remove.length > 0 && { remove: joined.remove }),
  };
}

function named(map: StringMap = {}): ReadonlyMap<string, string> {
  return new Map(Object.entries(map).map(([name, value]) => [lower(name), value]));
}

function lower(name: string): string {
  return name.toLowerCase();
}
