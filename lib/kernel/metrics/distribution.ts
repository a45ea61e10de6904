/**
 * Distributions for hot paths. The library's own histogram copies, validates and hashes labels at every value; a push to
 * 400 proxies observes thousands of them.
 *
 * @module
 */
import type { Histogram, MetricObjectWithValues, MetricValue, Registry } from "prom-client";

/** A label's values by its name. */
type SeriesLabels = Readonly<Record<string, string | number>>;

/** The values of one combination of labels. */
class DistributionSeries {
  readonly labels: SeriesLabels;
  readonly #bounds: readonly number[];
  /** Values up to each bound and above the one before; at last those above all. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[], labels: SeriesLabels) {
    this.#bounds = bounds;
    this.labels = labels;
    this.counts = new Float64Array(bounds.length + 1);
  }

  /** @throws TypeError when the value is not finite */
  observe(value: number): void {
    if (!Number.isFinite(value)) throw new TypeError(`value: got ${value}, expected a finite number`);
    let at = 0;
    while (at < this.#bounds.length && value > this.#bounds[at]!) at++;
    this.counts[at]!++;
    this.sum += value;
  }
}

/** What a registry reads of a metric to show it. */
type ShownDistribution =
  & Omit<MetricObjectWithValues<MetricValue<string>>, "collect" | "type">
  & { readonly type: "histogram" };

/** What a distribution is made with. */
export interface DistributionOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Upper bounds, rising. */
  readonly buckets: readonly number[];
}

/** A distribution that a registry of prom-client shows as it shows its own histograms. */
export class Distribution {
  readonly type = "histogram";
  readonly #options: DistributionOptions;
  readonly #series = new Map<string, DistributionSeries>();

  constructor(options: DistributionOptions, registry: Registry) {
    this.#options = options;
    if (options.labelNames.length === 0) this.labels({});
    // A registry asks of a metric for its name and its values alone; the types want the library's own classes.
    registry.registerMetric(this as unknown as Histogram);
  }

  get name(): string {
    return this.#options.name;
  }

  get help(): string {
    return this.#options.help;
  }

  observe(value: number): void;
  observe(labels: SeriesLabels, value: number): void;
  /** Notes a value, of a series of labels or of the one without any. @throws TypeError when the value is not finite */
  observe(labels: SeriesLabels | number, value = 0): void {
    if (typeof labels === "number") this.labels({}).observe(labels);
    else this.labels(labels).observe(value);
  }

  /** The series of these labels, made when it is first asked for. */
  labels(labels: SeriesLabels): DistributionSeries {
    const { labelNames, buckets } = this.#options;
    let key = "";
    for (const name of labelNames) {
      const value = labels[name];
      // With its length, so that no value looks like two.
      key += value === undefined ? "-" : `${String(value).length}:${value}`;
    }
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const made = new DistributionSeries(buckets, { ...labels });
    this.#series.set(key, made);
    return made;
  }

  /** What the registry shows. */
  get(): Promise<ShownDistribution> {
    const { name, help, type } = this;
    const values = [...this.#series.values()].flatMap((series) => this.#values(series));
    return Promise.resolve({ name, help, type, aggregator: "sum", values });
  }

  #values({ labels, counts, sum }: DistributionSeries): (MetricValue<string> & { readonly metricName: string })[] {
    const { name } = this;
    let count = 0;
    const buckets = [...this.#options.buckets, "+Inf"].map((le, i) => {
      count += counts[i]!;
      return { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` };
    });
    return [
      ...buckets,
      { labels: { ...labels }, value: sum, metricName: `${name}_sum` },
      { labels: { ...labels }, value: count, metricName: `${name}_count` },
    ];
  }
}
