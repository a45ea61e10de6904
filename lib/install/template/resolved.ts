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
