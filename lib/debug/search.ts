/**
 * `/debug/search`: objects, proxies and services with a text in their name.
 *
 * @module
 */
import * as z from "zod";
import { KINDS } from "../config/kinds/kinds.ts";
import { typedKey } from "../config/typed/typed_kind.ts";
import { serviceKey } from "../registry/types.ts";
import { type HttpResponse, jsonResponse } from "../http/message.ts";
import { queried, textQuery } from "./query.ts";
import type { DebugView } from "./view.ts";

/** Names of each sort in an answer. */
const MAX_FOUND = 20;

/** Characters of a text to search for. */
const MAX_TEXT = 200;

/** Found names of a sort: the first names, and the number of all. */
export interface FoundNames {
  readonly names: readonly string[];
  readonly total: number;
}

/** The names found: keys of objects, node ids of proxies, keys of services (`namespace/hostname`). */
export interface FoundByName {
  readonly objects: FoundNames;
  readonly proxies: FoundNames;
  readonly services: FoundNames;
}

/** The page; query `q`. */
export const search = queried(
  z.object({ q: textQuery("a part of a name").max(MAX_TEXT, { error: `at most ${MAX_TEXT} characters of a name` }) }),
  (request, view, { q }): HttpResponse => jsonResponse(searchNames(q, view), request),
);

/** Looks through all names; case does not count, and `vs/shop` is `VirtualService/shop`. An empty text finds nothing. */
export function searchNames(text: string, view: DebugView): FoundByName {
  const wanted = text.slice(0, MAX_TEXT).trim().toLowerCase();
  const key = typedKey(wanted).toLowerCase();
  const among = (names: Iterable<string>, texts = [wanted]): FoundNames => {
    const holds = (name: string) => texts.some((one) => name.includes(one));
    const found = wanted === "" ? [] : [...names].filter((name) => holds(name.toLowerCase()));
    // Names that begin with the text come first.
    const rank = (name: string) => name.slice(name.lastIndexOf("/") + 1).toLowerCase().startsWith(wanted) ? 0 : 1;
    found.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
    return { names: found.slice(0, MAX_FOUND), total: found.length };
  };
  return {
    objects: among(KINDS.flatMap((kind) => view.store.list(kind).map((one) => one.key)), [wanted, key]),
    proxies: among(new Set([...view.xds.streams()].map(({ node }) => node?.id ?? ""))),
    services: among([...view.services.services()].map(serviceKey)),
  };
}
