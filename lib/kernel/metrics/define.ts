/**
 * The definition of a metric, as data.
 *
 * @module
 */
import type { Users } from "../program/program.ts";

/** Kinds of metrics, named as in the reference tables: counter, gauge, histogram. */
export type MetricType = "Sum" | "LastValue" | "Distribution";

export interface Metric<T extends MetricType = MetricType, L extends string = string> {
  readonly type: T;
  readonly users: Users;
  readonly help: string;
  readonly labels: readonly L[];
  /** The label with values from outside, unlimited in number: the first values are shown, the rest as `other`. */
  readonly bounded?: L;
  /** Upper bounds of a distribution. */
  readonly buckets?: readonly number[];
}

/**
 * A counter, which only grows.
 *
 * @param bounded See {@linkcode Metric.bounded}.
 */
export function sum<const L extends string = never>(
  users: Users,
  help: string,
  labels: readonly L[] = [],
  bounded?: NoInfer<L>,
): Metric<"Sum", L> {
  return { type: "Sum", users, help, labels, ...(bounded !== undefined && { bounded }) };
}

/** A gauge, which keeps the last value. */
export function gauge<const L extends string = never>(
  users: Users,
  help: string,
  labels: readonly L[] = [],
): Metric<"LastValue", L> {
  return { type: "LastValue", users, help, labels };
}

/**
 * A histogram.
 *
 * @param buckets Upper bounds of the buckets.
 */
export function distribution<const L extends string = never>(
  users: Users,
  help: string,
  buckets: readonly number[],
  labels: readonly L[] = [],
): Metric<"Distribution", L> {
  return { type: "Distribution", users, help, labels, buckets };
}
