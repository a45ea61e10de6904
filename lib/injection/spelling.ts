/**
 * Labels and annotations of pods in this project's spelling, even where the user took the other one.
 *
 * @module
 */
import { ownKey, ownLabelValue } from "../config/spelling/spelling.ts";

/** Labels or annotations by key. */
export type Texts = Readonly<Record<string, string>>;

/** The texts by their own keys. A key that is there in both spellings has the value of ours. */
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
