/**
 * Distributions: how many values came, by size.
 *
 * A push to 400 proxies observes thousands of values, so a series is found once and then only counts.
 *
 * @module
 */
import { headLines, labelText, type LabelValues, sampleLine } from "./label_text.ts";

/** The values for a combination of labels. */
class DistributionSeries {
  readonly #bounds: readonly number[];
  /**
   * Number of values up to each bound and above the previous bound. The last element counts values above all bounds.
   */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  /** @throws {TypeError} when the value is not finite. */
  observe(value: number): void {
    if (!Number.isFinite(value)) throw new TypeError(`value: got ${value}, expected a finite number`);
    let at = 0;
    while (at < this.#bounds.length && value > this.#bounds[at]!) at++;
    this.counts[at]!++;
    this.sum += value;
  }
}

/** Inputs of a distribution. */
export interface DistributionOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Upper bounds, rising. */
  readonly buckets: readonly number[];
}

/** A histogram. A series with labels exists from the first look-up. */
export class Distribution {
  readonly #options: DistributionOptions;
  /** By the labels' text. */
  readonly #series = new Map<string, DistributionSeries>();

  constructor(options: DistributionOptions) {
    this.#options = options;
    if (options.labelNames.length === 0) this.labels({});
  }

  observe(value: number): void;
  observe(labels: LabelValues<string>, value: number): void;
  /**
   * Records a value, in the series of the given labels or in the series without labels.
   *
   * @throws {TypeError} when the value is not finite.
   */
  observe(labels: LabelValues<string> | number, value = 0): void {
    if (typeof labels === "number") this.labels({}).observe(labels);
    else this.labels(labels).observe(value);
  }

  /** The series for the labels, made at the first look-up. */
  labels(labels: LabelValues<string>): DistributionSeries {
    const key = labelText(this.#options.labelNames, labels);
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const made = new DistributionSeries(this.#options.buckets);
    this.#series.set(key, made);
    return made;
  }

  /** The histogram's part of the metrics page. */
  text(): string {
    const { name, help, buckets } = this.#options;
    const lines = [headLines(name, help, "histogram")];
    for (const [labels, { counts, sum }] of this.#series) {
      let count = 0;
      for (const [i, le] of [...buckets, "+Inf"].entries()) {
        count += counts[i]!;
        lines.push(sampleLine(`${name}_bucket`, `le="${le}"${labels === "" ? "" : `,${labels}`}`, count));
      }
      lines.push(sampleLine(`${name}_sum`, labels, sum), sampleLine(`${name}_count`, labels, count));
    }
    return lines.join("\n");
  }
}
