/**
 * The destinations of a VirtualService, with where each is written and what share of its rule it gets.
 *
 * @module
 */
import type { Destination, VirtualServiceSpec } from "../../config/kinds/kinds.ts";

/** One destination. */
export interface WrittenDestination {
  readonly destination: Destination;
  /** Path of the destination: `spec.http[0].route[1].destination`. */
  readonly field: string;
  /** Share of the rule's traffic, 0 to 100; undefined: copies of it. */
  readonly percent: number | undefined;
}

/** All destinations, in the order in which they are written. */
export function* destinationsOf({ http = [], tls = [], tcp = [] }: VirtualServiceSpec): Iterable<WrittenDestination> {
  for (const [at, { route = [], mirror, mirrors = [] }] of http.entries()) {
    yield* weighted(route, `spec.http[${at}]`);
    if (mirror) yield { destination: mirror, field: `spec.http[${at}].mirror`, percent: undefined };
    for (const [index, { destination }] of mirrors.entries()) {
      yield { destination, field: `spec.http[${at}].mirrors[${index}].destination`, percent: undefined };
    }
  }
  for (const [at, { route = [] }] of tls.entries()) yield* weighted(route, `spec.tls[${at}]`);
  for (const [at, { route = [] }] of tcp.entries()) yield* weighted(route, `spec.tcp[${at}]`);
}

function* weighted(
  route: readonly { readonly destination: Destination; readonly weight?: number }[],
  rule: string,
): Iterable<WrittenDestination> {
  const total = route.reduce((sum, { weight = 0 }) => sum + weight, 0);
  for (const [index, { destination, weight = 0 }] of route.entries()) {
    const percent = route.length === 1 ? 100 : total === 0 ? 0 : Math.round(weight * 1000 / total) / 10;
    yield { destination, field: `${rule}.route[${index}].destination`, percent };
  }
}

/** What a destination that cannot be reached does to the requests of its rule. */
export function effectOf(percent: number | undefined): { readonly effect: string } {
  if (percent === undefined) return { effect: "No copy of a request arrives there." };
  return { effect: `${percent} % of what this rule matches is answered with 503 or closed.` };
}

/** Names that one message lists. */
const MOST_SHOWN = 10;

/** `a, b or c`. */
export function orList(words: readonly (string | number)[]): string {
  const all = [...new Set(words)];
  const more = all.length > MOST_SHOWN ? `, ... (${all.length})` : "";
  const shown = all.slice(0, MOST_SHOWN);
  const last = shown.pop();
  return `${shown.length === 0 ? "" : `${shown.join(", ")} or `}${last}${more}`;
}
