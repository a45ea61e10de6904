/**
 * The rules of virtual services behind each route of a proxy.
 *
 * A route names only its virtual service. But routes keep the order of the rules and their matches, and each route has
 * the condition of its match. So a route belongs to the first match that holds for this proxy, makes the same
 * condition, and follows the matches of the routes before. The rules of a delegate replace the delegating rule, and the
 * delegating rule narrows the rules of the delegate.
 *
 * @module
 */
import { carriesLabels } from "../../config/schema/labels.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { HttpMatchRequest, HttpRoute } from "../../config/kinds/kinds.ts";
import { encode } from "../../pb/codec.ts";
import type { Labels } from "../../registry/labels.ts";
import { mergeDelegate } from "../../mesh/delegate.ts";
import { routeMatch } from "../../translate/route/match.ts";

type Route = envoy.config.route.v3.Route;

/** Where a route was written. */
export interface RuleAt {
  /** 0-based, among the rules of the virtual service. */
  readonly rule: number;
  /** The delegate that contains the rule. */
  readonly delegate?: {
    readonly key: string;
    /** 0-based, among the rules of the delegate. */
    readonly rule: number;
  };
  /** Path in this object: of the match, or of a rule without a match. */
  readonly field: string;
  readonly name: string;
}

/** A virtual service that others delegate to. */
export interface DelegateRules {
  readonly key: string;
  readonly rules: readonly HttpRoute[];
}

/** Rules, and where the rules of delegates are found. */
export interface WrittenRules {
  readonly rules: readonly HttpRoute[];
  readonly delegateOf: (rule: HttpRoute) => DelegateRules | undefined;
  /** Prefixes of paths are of whole segments. */
  readonly segmentPrefixes: boolean;
}

/** The proxy that has the routes. */
export interface RuleProxy {
  readonly namespace: string;
  readonly labels: Labels;
  /** Port dialled by clients. */
  readonly port: number;
  /** A sidecar; else a gateway. */
  readonly mesh: boolean;
}

const MESH = "mesh";
const MATCH = "envoy.config.route.v3.RouteMatch";

/** The rule behind each route; undefined: none fits (no rule made the route). */
export function rulesBehind(
  routes: readonly Route[],
  { rules, delegateOf, segmentPrefixes }: WrittenRules,
  proxy: RuleProxy,
): (RuleAt | undefined)[] {
  const reader: WrittenRuleReader = { ...proxy, segmentPrefixes };
  const written = rules.flatMap((rule, index) => {
    if (rule.delegate === undefined) return entriesOf(rule, index, reader);
    const delegate = delegateOf(rule);
    return delegate === undefined ? [] : delegatedEntries(rule, index, delegate, reader);
  });
  let next = 0;
  return routes.map((route) => {
    const wanted = textOf(route.match ?? {});
    const at = written.findIndex((entry, index) =>
      index >= next && entry.condition === wanted && entry.name === (route.name ?? "")
    );
    if (at < 0) return undefined;
    next = at + 1;
    const { condition: _, ...place } = written[at]!;
    return place;
  });
}

interface Written extends RuleAt {
  readonly condition: string;
}

type WrittenRuleReader = RuleProxy & Pick<WrittenRules, "segmentPrefixes">;

function entriesOf(rule: HttpRoute, index: number, reader: WrittenRuleReader): Written[] {
  const matches: readonly (HttpMatchRequest | undefined)[] = rule.match?.length ? rule.match : [undefined];
  return matches.flatMap((match, at) => {
    if (match !== undefined && !holdsFor(match, reader)) return [];
    return [{
      rule: index,
      field: `spec.http[${index}]${match === undefined ? "" : `.match[${at}]`}`,
      name: [rule.name, match?.name].filter(Boolean).join("."),
      condition: textOf(routeMatch(match, reader.segmentPrefixes)),
    }];
  });
}

/** The entries of a delegate's rules. Each match is merged alone, so its result is known. */
function delegatedEntries(
  root: HttpRoute,
  rule: number,
  { key, rules }: DelegateRules,
  reader: WrittenRuleReader,
): Written[] {
  return rules.flatMap((own, index) => {
    if (mergeDelegate(root, [own]).routes.length === 0) return [];
    const matches: readonly (HttpMatchRequest | undefined)[] = own.match?.length ? own.match : [undefined];
    return matches.flatMap((match, at) => {
      const alone = match === undefined ? own : { ...own, match: [match] };
      const field = `spec.http[${index}]${match === undefined ? "" : `.match[${at}]`}`;
      return mergeDelegate(root, [alone]).routes.flatMap((merged) =>
        entriesOf(merged, rule, reader).map((entry) => ({ ...entry, field, delegate: { key, rule: index } }))
      );
    });
  });
}

function holdsFor(match: HttpMatchRequest, { namespace, labels, port, mesh }: RuleProxy): boolean {
  if (match.port && match.port !== port) return false;
  if (match.gateways?.length && match.gateways.includes(MESH) !== mesh && mesh) return false;
  if (match.sourceNamespace && match.sourceNamespace !== namespace) return false;
  return carriesLabels(labels, match.sourceLabels ?? {});
}

/** Equal for conditions that are equal on the wire. */
function textOf(match: envoy.config.route.v3.RouteMatch): string {
  return encode(MATCH, match).toBase64();
}
