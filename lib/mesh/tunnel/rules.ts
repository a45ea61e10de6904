/**
 * A rule of an AuthorizationPolicy as a group of a tunnel's policy.
 *
 *     to   ─> any operation ─┐
 *     from ─> any source ────┼─> all of them
 *     when ─> each condition ┘
 *
 * @module
 */
import type { istio } from "../../../proto/gen/types.ts";
import type { AuthorizationRule } from "../../config/kinds/authorization_policy/schema.ts";
import {
  CONDITION_ATTRIBUTES,
  OPERATION_ATTRIBUTES,
  type RuleHome,
  SOURCE_ATTRIBUTES,
  type TunnelAttribute,
} from "./attributes.ts";

type Match = istio.security.Match;

/** A condition of a rule that no tunnel compares. */
export interface Omission {
  /** The attribute as written: `paths`, `notHosts`, `request.headers[name]`. */
  readonly attribute: string;
  /** Why. `request`: only requests have the attribute. `value`: a value has a form that tunnels do not know. */
  readonly why: "request" | "value";
}

/** A rule in the tunnel's form. */
export interface TunnelRule {
  /** The comparable conditions of the rule. An omitted condition counts as true. */
  readonly group: istio.security.Group;
  /** The omitted conditions, each once. Empty: the group has exactly the meaning of the rule. */
  readonly omissions: readonly Omission[];
  /** The number of compared values. */
  readonly values: number;
}

/**
 * Matches every connection: no connection has port 0. A match without fields would be skipped by tunnels, and a DENY
 * policy with such a match would refuse nothing.
 */
export function everyConnection(): Match {
  return { not_destination_ports: [0] };
}

/** The rule in the tunnel's form. */
export function tunnelRule({ from = [], to = [], when = [] }: AuthorizationRule, home: RuleHome): TunnelRule {
  const omitted = new Map<string, Omission>();
  let values = 0;
  const matchOf = (conditions: readonly WrittenCondition[]) => {
    const match: Match = {};
    for (const condition of conditions) {
      const part = compared(condition, home);
      if ("why" in part) omitted.set(part.attribute, part);
      else {
        Object.assign(match, part.match);
        values += part.values;
      }
    }
    return Object.keys(match).length === 0 ? everyConnection() : match;
  };
  const operations = to.map(({ operation = {} }) => matchOf(fieldsOf(operation, OPERATION_ATTRIBUTES)));
  const sources = from.map(({ source = {} }) => matchOf(fieldsOf(source, SOURCE_ATTRIBUTES)));
  const conditions = when.map((one) => matchOf(partsOf([one.key, one.key], attributeOf(one.key), one)));
  const rules = [operations, sources, ...conditions.map((one) => [one])].filter((matches) => matches.length > 0);
  return { group: { rules: rules.map((matches) => ({ matches })) }, omissions: [...omitted.values()], values };
}

/** Wanted or refused values of an attribute. */
interface WrittenCondition {
  /** The name of the field as written. */
  readonly attribute: string;
  /** Undefined: no tunnel knows the attribute. */
  readonly of: TunnelAttribute | undefined;
  /** The place of the values' field in `fields` of the attribute: 0 for wanted values, 1 for refused values. */
  readonly side: 0 | 1;
  readonly values: readonly string[];
}

interface WrittenValues {
  readonly values?: readonly string[] | undefined;
  readonly notValues?: readonly string[] | undefined;
}

/** The conditions of a source or an operation. Fields with refused values are named `not...`. */
function fieldsOf<F extends string>(
  fields: Readonly<Partial<Record<string, readonly string[]>>>,
  attributes: Readonly<Record<F, TunnelAttribute | undefined>>,
): WrittenCondition[] {
  return (Object.keys(attributes) as F[]).flatMap((name) => {
    const opposite = `not${name[0]?.toUpperCase()}${name.slice(1)}`;
    return partsOf([name, opposite], attributes[name], { values: fields[name], notValues: fields[opposite] });
  });
}

function attributeOf(key: string): TunnelAttribute | undefined {
  return Object.hasOwn(CONDITION_ATTRIBUTES, key) ? CONDITION_ATTRIBUTES[key] : undefined;
}

function partsOf(
  [wanted, refused]: readonly [string, string],
  of: TunnelAttribute | undefined,
  { values = [], notValues = [] }: WrittenValues,
): WrittenCondition[] {
  return [
    { attribute: wanted, of, side: 0 as const, values },
    { attribute: refused, of, side: 1 as const, values: notValues },
  ].filter((one) => one.values.length > 0);
}

/** The field of a match for a condition, or why tunnels do not compare the condition. */
function compared(
  { attribute, of, side, values }: WrittenCondition,
  home: RuleHome,
): Omission | { readonly match: Match; readonly values: number } {
  if (of === undefined) return { attribute, why: "request" };
  const matchers: unknown[] = [];
  for (const value of values) {
    const found = of.matchers(value, home);
    // The list without this value has another meaning, so the whole condition is omitted.
    if (found === undefined) return { attribute, why: "value" };
    matchers.push(...found);
  }
  return { match: { [of.fields[side]]: matchers } as Match, values: matchers.length };
}
