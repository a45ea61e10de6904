/**
 * Results of benchmarks: rows of figures, their comparison, and their values at the speed of the reference machine.
 *
 * @module
 */
import { REFERENCE } from "./calibration.ts";

/** The unit of a figure. Determines the format, and whether the speed of the machine matters. */
export type Unit =
  | "CPU s"
  | "s"
  | "ms"
  | "MB"
  | "kB"
  | "MiB"
  | "resources"
  | "messages"
  | "events/s"
  | "certificates/s"
  | "queries/s"
  | "%"
  | "x";

/** A measured quantity of a row, with a value per run. */
export interface Figure {
  /** Description. Empty if the unit is enough. */
  readonly name: string;
  readonly unit: Unit;
  readonly values: readonly number[];
  /** Upper bound at reference speed. Undefined: none. */
  readonly atMost?: number;
  /** Lower bound. */
  readonly atLeast?: number;
  /** The timed part of the figure, equal on every machine: the debounce. Default 0. */
  readonly waited?: number;
}

/** A row of the table. */
export interface Row {
  /** Name for `--only`. */
  readonly id: string;
  readonly work: string;
  /** Istio's figures for the same work. */
  readonly istio: string;
  readonly figures: readonly Figure[];
  /** CPU seconds of the calibrations around the work, one per run. */
  readonly calibrations: readonly number[];
  /** A remark, in one sentence. */
  readonly note?: string;
}

/** Median, least and greatest. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Spread of values. For an even number, the median is the mean of the middle two. */
export function spread(values: readonly number[]): Spread {
  if (values.length === 0) throw new RangeError("values: got none, expected one at least");
  const sorted = values.toSorted((a, b) => a - b);
  const at = (i: number) => sorted[i]!;
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2;
  return { median, min: at(0), max: at(sorted.length - 1) };
}

/**
 * CPU of edits: the mean of the middle half, and the maximum. (V8 collects the garbage of a storm once, some seconds
 * later, and the first edits run uncompiled code, so the mean of all edits would depend on chance.)
 */
export function editCost(cpu: readonly number[]): { readonly usual: number; readonly dearest: number } {
  const sorted = cpu.toSorted((a, b) => a - b);
  const aside = Math.floor((sorted.length + 1) / 4);
  const middle = sorted.slice(aside, sorted.length - aside);
  return { usual: middle.reduce((sum, one) => sum + one, 0) / middle.length, dearest: sorted.at(-1) ?? NaN };
}

/** The value below which a given part of the values lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
}

/** Units of time, which grow on a slower machine. */
const TIMES: ReadonlySet<Unit> = new Set(["CPU s", "s", "ms"]);

/** Whether a figure depends on the speed of the machine. */
export function dependsOnSpeed({ unit }: Figure): boolean {
  return TIMES.has(unit);
}

/**
 * The values of a figure at the speed of the reference machine: value divided by calibration, times the reference
 * calibration. Figures other than times are unchanged.
 */
export function atReference(figure: Figure, calibrations: readonly number[]): number[] {
  const { values, waited = 0 } = figure;
  if (!dependsOnSpeed(figure)) return [...values];
  if (calibrations.length !== values.length) {
    throw new RangeError(`calibrations: got ${calibrations.length}, expected one for each of ${values.length} values`);
  }
  return values.map((value, i) => {
    const fixed = Math.min(value, waited);
    return fixed + (value - fixed) * (REFERENCE / calibrations[i]!);
  });
}

/** Whether a value meets the target of a figure; undefined where there is none. */
export function meets({ atMost, atLeast }: Figure, value: number): boolean | undefined {
  if (atMost === undefined && atLeast === undefined) return undefined;
  return value <= (atMost ?? Infinity) && value >= (atLeast ?? -Infinity);
}

/** The same of the median at reference speed. */
export function met(figure: Figure, calibrations: readonly number[]): boolean | undefined {
  return meets(figure, spread(atReference(figure, calibrations)).median);
}

/** Joins the same row of several runs into a row with all values. */
export function joinRuns(runs: readonly (readonly Row[])[]): Row[] {
  const rows = new Map<string, Row>();
  for (const row of runs.flat()) {
    const before = rows.get(row.id);
    const figures = row.figures.map((figure, i) => ({
      ...figure,
      values: [...before?.figures[i]?.values ?? [], ...figure.values],
    }));
    rows.set(row.id, { ...row, figures, calibrations: [...before?.calibrations ?? [], ...row.calibrations] });
  }
  return [...rows.values()];
}
