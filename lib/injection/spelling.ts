/**
 * Labels and annotations of pods in this project's spelling, even if the user chose Istio's spelling.
 *
 * @module
 */
import { ownKey, ownLabelValue } from "../config/spelling/spelling.ts";

/** Labels or annotations by key. */
export type Texts = Readonly<Record<string, string>>;

/** The texts with this project's keys. When a key exists in both spellings, this project's value counts. */
export function ownTexts(texts: Texts | undefined): Texts {
  const own: Record<string, string> = Object.create(null);
  for (const [key, value] of Object.entries(texts ?? {})) {
    const owned = ownKey(key);
    if (owned === key || !Object.hasOwn(texts!, owned)) own[owned] = ownLabelValue(owned, value);
  }
  return own;
}

/** Whether texts have a key, in either spelling. */
export function hasOwnKey(texts: Texts | undefined, key: string): boolean {
  return Object.keys(texts ?? {}).some((one) => ownKey(one) === key);
}
