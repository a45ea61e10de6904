/**
 * The destinations of a VirtualService, each with its path and its share of the rule's traffic.
 *
 * @module
 */
import type {
  Destination,
  HttpRouteDestination,
  RouteDestination,
  VirtualServiceSpec,
} from "../../config/kinds/kinds.ts";

export class WrittenDestination {
  readonly destination: Destination;
  /** Share of the rule's traffic, 0 to 100; undefined: the destination gets copies. */
  readonly percent: number | undefined;
  readonly #rule: RulePlace;
  readonly #list: "route" | "mirror" | "mirrors";
  readonly #index: number;

  /** @param list The field of the rule with the destination. A mirror is not in a list. */
  constructor(
    destination: Destination,
    percent: number | undefined,
    rule: RulePlace,
    list: "route" | "mirror" | "mirrors",
    index = 0,
  ) {
    this.destination = destination;
    this.percent = percent;
    this.#rule = rule;
    this.#list = list;
    this.#index = index;
  }

  /**
   * Path of the destination: `spec.http[0].route[1].destination`. Made on demand, because most destinations are right.
   */
  get field(): string {
    const { protocol, at } = this.#rule;
    const list = `spec.${protocol}[${at}].${this.#list}`;
    return this.#list === "mirror" ? list : `${list}[${this.#index}].destination`;
  }
}

/** The place of a rule. */
interface RulePlace {
  readonly protocol: "http" | "tls" | "tcp";
  readonly at: number;
}

/** All destinations, in the written order. A list, because an iterator would cost more than the search. */
export function destinationsOf({ http, tls, tcp }: VirtualServiceSpec): readonly WrittenDestination[] {
  const found: WrittenDestination[] = [];
  http?.forEach(({ route, mirror, mirrors }, at) => {
    const rule = { protocol: "http", at } as const;
    if (route) addWeighted(found, route, rule);
    if (mirror) found.push(new WrittenDestination(mirror, undefined, rule, "mirror"));
    mirrors?.forEach(({ destination }, index) =>
      found.push(new WrittenDestination(destination, undefined, rule, "mirrors", index))
    );
  });
  tls?.forEach(({ route }, at) => route && addWeighted(found, route, { protocol: "tls", at }));
  tcp?.forEach(({ route }, at) => route && addWeighted(found, route, { protocol: "tcp", at }));
  return found;
}

function addWeighted(
  to: WrittenDestination[],
  route: readonly (HttpRouteDestination | RouteDestination)[],
  rule: RulePlace,
): void {
  const total = route.reduce((sum, { weight = 0 }) => sum + weight, 0);
  route.forEach(({ destination, weight = 0, internal }, index) => {
    if (internal !== undefined) return;
    const percent = route.length === 1 ? 100 : total === 0 ? 0 : Math.round(weight * 1000 / total) / 10;
    to.push(new WrittenDestination(destination, percent, rule, "route", index));
  });
}

/** The effect of an unreachable destination on the requests of its rule. */
export function effectOf(percent: number | undefined): { readonly effect: string } {
  if (percent === undefined) return { effect: "No copy of a request arrives there." };
  return { effect: `${percent} % of what this rule matches is answered with 503 or closed.` };
}

/** The most names listed in a message. */
const MOST_SHOWN = 10;

/** `a, b or c`. */
export function orList(words: readonly (string | number)[]): string {
  const all = [...new Set(words)];
  const more = all.length > MOST_SHOWN ? `, ... (${all.length})` : "";
  const shown = all.slice(0, MOST_SHOWN);
  const last = shown.pop();
  return `${shown.length === 0 ? "" : `${shown.join(", ")} or `}${last}${more}`;
}

/** Whether some rules are only for certain clients. */
export function choosesClients({ http = [], tls = [], tcp = [] }: VirtualServiceSpec): boolean {
  return [...http, ...tls, ...tcp].some(({ match = [] }) =>
    match.some(({ sourceNamespace, sourceLabels }) => sourceNamespace !== undefined || sourceLabels !== undefined)
  );
}
