/**
 * Which of several objects comes first: the oldest, then the first by namespace and name.
 *
 * @module
 */
import { compareTexts } from "../../kernel/text/compare.ts";
import type { ObjectMeta } from "../../config/types.ts";

/** Compares objects by precedence. */
export function byPrecedence(a: { readonly meta: ObjectMeta }, b: { readonly meta: ObjectMeta }): number {
  const age = a.meta.creationTimestamp - b.meta.creationTimestamp;
  return age !== 0 ? age : compareTexts(nameOf(a.meta), nameOf(b.meta));
}

function nameOf({ namespace, name }: ObjectMeta): string {
  return `${namespace}/${name}`;
}
