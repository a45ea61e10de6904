/**
 * Parts of rules that cannot be served as written. A rule with such a part answers its requests with an error, and the
 * other rules of the route serve.
 *
 * @module
 */
import { shownValue } from "../../finding/finding.ts";

/**
 * Reason of a refusal, as in conditions of a route's status.
 *
 * - `InvalidFilter`: a filter is unknown, or its content cannot be sent.
 * - `IncompatibleFilters`: two filters exclude each other.
 * - `UnsupportedValue`: another value cannot be served.
 */
export type RuleRefusalReason = "InvalidFilter" | "IncompatibleFilters" | "UnsupportedValue";

/** A refused part of a rule. */
export interface RuleRefusal {
  /** Position of the rule, from 0. */
  readonly rule: number;
  readonly reason: RuleRefusalReason;
  /** Path from the spec: `rules[0].filters[1]`. */
  readonly field: string;
  /** The refused value as findings show it; empty: no value. */
  readonly value: string;
  readonly expected: string;
  /** Field, value and expectation. */
  readonly message: string;
}

/** Takes the refusals of one rule. */
export type ReportRefusal = (reason: RuleRefusalReason, field: string, value: unknown, expected: string) => void;

/** Most refusals of a route. Further refusals are not kept: the first show what to change. */
const MOST_PROBLEMS = 50;

/** Collects the refusals of a route. */
export class RuleRefusals {
  readonly list: RuleRefusal[] = [];

  /** Takes the refusals of a rule. Fields are below `rules[N]`. */
  of(rule: number): ReportRefusal {
    return (reason, field, value, expected) => {
      if (this.list.length >= MOST_PROBLEMS) return;
      const place = `rules[${rule}]${field === "" ? "" : `.${field}`}`;
      const shown = shownValue(value);
      const message = `${place}${shown === "" ? "" : `: ${shown}`}, expected ${expected}`;
      this.list.push({ rule, reason, field: place, value: shown, expected, message });
    };
  }
}
