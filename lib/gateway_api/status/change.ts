/**
 * Changes of a status.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { StatusJson } from "./conditions.ts";

/** The status with new fields; undefined: nothing changes. Fields of undefined are removed. */
export function changedStatus(present: StatusJson, fields: Readonly<Record<string, unknown>>): StatusJson | undefined {
  const next = Object.fromEntries(Object.entries({ ...present, ...fields }).filter(([, one]) => one !== undefined));
  return isDeepStrictEqual(present, next) ? undefined : next;
}
