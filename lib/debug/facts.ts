/**
 * Pages about facts, and about other documents in folders and orchestrators.
 *
 * @module
 */
import * as z from "zod";
import { describeOrigin } from "../finding/origin.ts";
import { type AnyFact, FACT_KINDS, type FactKind, isFactKind } from "../config/facts/types.ts";
import { typedFactKind, typedKey } from "../config/typed/typed_kind.ts";
import { type HttpRequest, type HttpResponse, jsonResponse } from "../http/message.ts";
import { queried, textQuery } from "./query.ts";
import type { DebugView } from "./view.ts";

/** Facts on a page by default. */
const PAGE_SIZE = 100;

/** Facts on a page at most. */
const MAX_PAGE_SIZE = 1000;

const LIMIT_EXPECTED = `1 to ${MAX_PAGE_SIZE}`;

const QUERY = z.object({
  kind: z.string().transform((word) => typedFactKind(word) ?? word)
    .refine(isFactKind, { error: `one of ${FACT_KINDS.join(", ")}` }).optional(),
  namespace: textQuery("a namespace").optional(),
  limit: z.string().regex(/^[0-9]{1,4}$/, { error: LIMIT_EXPECTED }).transform(Number)
    .refine((limit) => limit >= 1 && limit <= MAX_PAGE_SIZE, { error: LIMIT_EXPECTED }).default(PAGE_SIZE),
  after: textQuery("a key, as `next` of a page").transform(typedKey).optional(),
});

/**
 * `/debug/factz`: facts by kind and key. `limit` (100, at most 1000) bounds their number, `after` is the last key of
 * the page before, and `next` is the key for the next page. Secrets and config maps show only the names of their keys
 * and the lengths of their values.
 */
export const factz = queried(QUERY, (request, view, { kind, namespace, limit, after }): HttpResponse => {
  const kinds = FACT_KINDS.filter((one) => kind === undefined || one === kind);
  const counts = kinds.map((one) => [one, factsOf(view, one, namespace).length] as const);
  const all = kinds.flatMap((one) => factsOf(view, one, namespace));
  const start = after === undefined ? 0 : startAfter(all, after);
  const page = all.slice(start, start + limit);
  const rest = all.length - start - page.length;
  return jsonResponse({
    total: all.length,
    kinds: Object.fromEntries(counts.filter(([, count]) => count > 0)),
    facts: page.map(written),
    ...(rest > 0 ? { next: page.at(-1)?.key } : {}),
  }, request);
});

function factsOf(view: DebugView, kind: FactKind, namespace: string | undefined): readonly AnyFact[] {
  // A list of a kind has only facts of the kind. The compiler cannot follow this rule through an unknown kind.
  return view.facts.list(kind, ...(namespace === undefined ? [] : [namespace])) as readonly AnyFact[];
}

/** Where to continue after a key, even if the fact of the key is gone. */
function startAfter(all: readonly AnyFact[], after: string): number {
  const rank = (key: string) => (FACT_KINDS as readonly string[]).indexOf(key.slice(0, key.indexOf("/")));
  const isAfter = ({ key }: AnyFact) => rank(key) > rank(after) || (rank(key) === rank(after) && key > after);
  const found = all.findIndex(isAfter);
  return found < 0 ? all.length : found;
}

function written(fact: AnyFact) {
  const { kind, meta: { namespace, name, labels, annotations }, origin } = fact;
  const spec = fact.kind === "Secret"
    ? { type: fact.spec.type, lengths: lengths(fact.spec.data) }
    : fact.kind === "ConfigMap"
    ? { lengths: lengths({ ...fact.spec.data, ...fact.spec.binaryData }) }
    : fact.spec;
  return { kind, namespace, name, from: describeOrigin(origin), labels, annotations, spec };
}

function lengths(data: Readonly<Record<string, { readonly length: number }>>): Record<string, number> {
  return Object.fromEntries(Object.entries(data).map(([key, { length }]) => [key, length]));
}

/**
 * `/debug/passed_over`: content of each folder that is neither configuration nor a fact, by kind, with some of its
 * files.
 */
export function passedOver(request: HttpRequest, view: DebugView): HttpResponse {
  const folders = [...view.passedOver()].map(({ folder, kinds }) => ({
    folder,
    passedOver: [...kinds].sort(([a, { count: x }], [b, { count: y }]) => y - x || (a < b ? -1 : 1))
      .slice(0, MAX_PAGE_SIZE)
      .map(([what, { count, files }]) => ({ what, count, files })),
  }));
  return jsonResponse(folders, request);
}
