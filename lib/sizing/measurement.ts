/**
 * The form of the measured rows.
 *
 * @module
 */

/** The machine and the date of measurements, as the page of benchmarks names them. */
export type MeasuredOn = Readonly<Record<string, string>>;

/** Figures of a work by name, each with its unit: `303 MiB`. */
export type Figures = Readonly<Record<string, string>>;

/** Measurements of one run of the benchmarks. */
export interface Measurements {
  readonly machine: MeasuredOn;
  readonly works: Readonly<Record<string, Figures>>;
}

/** One figure of a work. */
export interface MeasuredFigure {
  readonly work: string;
  readonly figure: string;
  readonly value: number;
  readonly unit: string;
}

/**
 * A figure of the measurements.
 *
 * @throws {RangeError} when the figure is missing: the benchmarks and the series do not name the same works
 */
export function figureOf({ works }: Measurements, work: string, figure: string): MeasuredFigure {
  const text = works[work]?.[figure] ?? "";
  const [, number, unit] = /^(\d+(?:\.\d+)?) ([A-Za-z/% ]+)$/.exec(text) ?? [];
  if (number === undefined || unit === undefined) {
    throw new RangeError(
      `measurements: got ${JSON.stringify(text)} for "${work}", figure "${figure}", expected a figure`,
    );
  }
  return { work, figure, value: Number(number), unit };
}
