/**
 * Compares two trees by alternating runs. Ratios are formed pair by pair, so a change of the whole machine affects both
 * sides of a ratio.
 *
 * @module
 */
import { atReference, type Figure, type Row, type Spread, spread } from "./result.ts";

/** A run of a scenario on each tree, one directly after the other. */
export interface Pair {
  readonly here: readonly Row[];
  readonly there: readonly Row[];
}

/** The relation of a figure of this tree to the same figure of the other. */
export interface Comparison {
  /** The row's id. */
  readonly id: string;
  readonly work: string;
  readonly figure: Figure;
  /** Median at reference speed in this tree and in the other. */
  readonly here: number;
  readonly there: number;
  /** This tree's value divided by the other's, for each pair. */
  readonly ratio: Spread;
  readonly ratios: readonly number[];
  /** Median of the raw ratios, without calibration: the runs of a pair are adjacent, and calibrations spread. */
  readonly raw: number;
  readonly verdict: Verdict;
}

/**
 * `worse` and `better`: by more than {@linkcode TOLERANCE}, and in all pairs but one, with and without calibration. A
 * machine that becomes slow within a pair changes the measurement, and calibrations themselves spread by a tenth.
 */
export type Verdict = "worse" | "better" | "same";

/** How much worse a figure may become: 5 %. */
export const TOLERANCE = 0.05;

/** The smallest number of pairs for a meaningful median. */
export const LEAST_PAIRS = 7;

/**
 * Compares all figures of both trees.
 *
 * @throws RangeError without a pair
 */
export function comparePairs(pairs: readonly Pair[]): Comparison[] {
  if (pairs.length === 0) throw new RangeError("pairs: got none, expected one at least");
  const found: Comparison[] = [];
  for (const row of pairs[0]!.here) {
    for (const figure of row.figures) {
      const values = pairs.flatMap(({ here, there }) => {
        const [a, b] = [valueIn(here, row.id, figure), valueIn(there, row.id, figure)];
        return a === undefined || b === undefined ? [] : [{ here: a, there: b }];
      });
      if (values.length > 0) found.push(comparison(row, figure, values));
    }
  }
  return found;
}

interface Value {
  readonly measured: number;
  readonly atReference: number;
}

interface Two {
  readonly here: Value;
  readonly there: Value;
}

function comparison({ id, work }: Row, figure: Figure, values: readonly Two[]): Comparison {
  const median = (pick: (two: Two) => number) => spread(values.map(pick)).median;
  const ratio = figure.unit === "%" ? ratioOfExcess : ratioOf;
  const ratios = values.map(({ here, there }) => ratio(here.atReference, there.atReference));
  const raw = values.map(({ here, there }) => ratio(here.measured, there.measured));
  const verdict = verdictOf(ratios, figure);
  return {
    id,
    work,
    figure,
    here: median(({ here }) => here.atReference),
    there: median(({ there }) => there.atReference),
    ratio: spread(ratios),
    ratios,
    raw: spread(raw).median,
    verdict: verdict === verdictOf(raw, figure) ? verdict : "same",
  };
}

/** Two values of nothing are the same. */
function ratioOf(here: number, there: number): number {
  return here === there ? 1 : here / there;
}

/**
 * A figure in percent says by how much something is more than something else: 2 % against 1 % is a hundredth more, not
 * twice as much, and either may be below zero.
 */
function ratioOfExcess(here: number, there: number): number {
  return ratioOf(100 + here, 100 + there);
}

/** The figure's value in the rows of a run. */
function valueIn(rows: readonly Row[], id: string, { name, unit }: Figure): Value | undefined {
  const row = rows.find((r) => r.id === id);
  const figure = row?.figures.find((f) => f.name === name && f.unit === unit);
  return row && figure && {
    measured: spread(figure.values).median,
    atReference: spread(atReference(figure, row.calibrations)).median,
  };
}

/** The verdict of ratios: more is worse, except for figures with a lower bound. */
export function verdictOf(ratios: readonly number[], { atLeast }: Pick<Figure, "atLeast">): Verdict {
  const worse = ratios.map((ratio) => atLeast === undefined ? ratio : 1 / ratio);
  const { median } = spread(worse);
  const most = ratios.length > 1 ? ratios.length - 1 : 1;
  if (median > 1 + TOLERANCE && worse.filter((ratio) => ratio > 1).length >= most) return "worse";
  if (median < 1 / (1 + TOLERANCE) && worse.filter((ratio) => ratio < 1).length >= most) return "better";
  return "same";
}
