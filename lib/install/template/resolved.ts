/**
 * The installation's objects with their values filled in.
 *
 * @module
 */
import type { InstallData } from "./node.ts";

/** Data with comments, and without places for values. */
export type Resolved = InstallData | Commented | readonly Resolved[] | { readonly [key: string]: Resolved };

/** Data with a comment in front. */
export class Commented {
  constructor(readonly text: string, readonly data: Resolved) {}
}

export function withoutComments(data: Resolved): InstallData {
  if (data instanceof Commented) return withoutComments(data.data);
  if (Array.isArray(data)) return data.map(withoutComments);
  if (typeof data !== "object" || data === null) return data as InstallData;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, withoutComments(value)]));
}
