/**
 * An arrow of an object's neighbourhood.
 *
 * @module
 */
import { KINDS } from "../config/kinds/kinds.ts";
import { objectUrl } from "../debug/links.ts";

/** An arrow between two objects, or from an object to an undefined host. */
export interface ObjectArrow {
  /** Key of an object. */
  readonly from: string;
  /** Key of an object, a host, or the name of a proxy. */
  readonly to: string;
  /** The page of the target; absent: the target has no page. */
  readonly href?: string;
  /** The target does not exist. */
  readonly missing: boolean;
}

/** An arrow to an object or a host. An undefined host and an object of an unknown kind have no page. */
export function objectArrow(from: string, to: string, missing = false): ObjectArrow {
  const [kind = "", ...rest] = to.split("/");
  const hasPage = rest.length === 2 && KINDS.some((one) => one === kind);
  return { from, to, missing, ...(hasPage ? { href: objectUrl(to) } : {}) };
}
