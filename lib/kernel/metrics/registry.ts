/**
 * The metrics of one process: a registry of its own, no global one, with typed access by name.
 *
 * `metrics.counter("pilot_xds_pushes").inc({ type: "cds" })`; on hot paths keep `counter(...).labels({ type: "cds" })`.
 *
 * @module
 */
import { notBuilt } from "../not_built/catalogue.ts";
import { NEEDLESS_METRICS } from "../not_built/needless.ts";
import type { Program } from "../program/program.ts";
import { type LabelsOf, type MetricName, type MetricNameOf, metricsUsedBy } from "./catalogue.ts";
import { SingleValue } from "./single_value.ts";
import type { Metric } from "./define.ts";
import { Distribution } from "./distribution.ts";
import type { LabelValues } from "./label_text.ts";

/** Grows. */
export interface CounterHandle<L extends string> {
  inc(value?: number): void;
  inc(labels: LabelValues<L>, value?: number): void;
  /** The series of these labels, looked up once. */
  labels(labels: LabelValues<L>): { inc(value?: number): void };
  /** Forgets a series. */
  remove(labels: LabelValues<L>): void;
}

/** Holds the last value. */
export interface GaugeHandle<L extends string> {
  set(value: number): void;
  set(labels: LabelValues<L>, value: number): void;
  inc(value?: number): void;
  inc(labels: LabelValues<L>, value?: number): void;
  dec(value?: number): void;
  dec(labels: LabelValues<L>, value?: number): void;
  /** The series of these labels, looked up once. */
  labels(labels: LabelValues<L>): { set(value: number): void; inc(value?: number): void; dec(value?: number): void };
  /** Forgets a series. */
  remove(labels: LabelValues<L>): void;
}

/** Counts values by size. */
export interface HistogramHandle<L extends string> {
  observe(value: number): void;
  observe(labels: LabelValues<L>, value: number): void;
  /** The series of these labels, looked up once. */
  labels(labels: LabelValues<L>): { observe(value: number): void };
}

/** The metrics of a process. A metric that the program does not have is a handle that does nothing. */
export interface Metrics {
  counter<K extends MetricNameOf<"Sum">>(name: K): CounterHandle<LabelsOf<K>>;
  gauge<K extends MetricNameOf<"LastValue">>(name: K): GaugeHandle<LabelsOf<K>>;
  histogram<K extends MetricNameOf<"Distribution">>(name: K): HistogramHandle<LabelsOf<K>>;
  /** Called before each scrape, for values that are computed when asked. */
  onScrape(compute: () => void): void;
  /** The text of a scrape, and its content type. */
  scrape(): Promise<{ readonly contentType: string; readonly body: string }>;
}

type Instrument = SingleValue | Distribution;

/** The text format that all scrapers take. */
const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Differences between programs. */
export interface MetricsOptions {
  /** Put before every name; default none. */
  readonly prefix?: string;
  /**
   * Called with an exception of an {@link Metrics.onScrape} function, which spoils no other metric; default: thrown on.
   */
  readonly failed?: (error: unknown) => void;
}

/**
 * Metrics of a program; all that are fed exist from the start, those without labels with value 0. One that nothing feeds
 * yet, or ever in this program, is not shown: a 0 would say something of the world (that a certificate expires now), and
 * alarms would believe it.
 */
export function createMetrics(program: Program, options: MetricsOptions = {}): Metrics {
  const instruments = new Map<MetricName, Instrument>();
  const needless = NEEDLESS_METRICS[program];
  for (const [name, metric] of metricsUsedBy(program)) {
    if (notBuilt("metric", name) || Object.hasOwn(needless, name)) continue;
    instruments.set(name, instrument((options.prefix ?? "") + name, metric));
  }
  const computed: (() => void)[] = [];
  // Types are by the catalogue: an instrument of that name has that type and those labels.
  const find = <T>(name: MetricName): T => (instruments.get(name) ?? nothing) as unknown as T;
  return {
    counter: (name) => find(name),
    gauge: (name) => find(name),
    histogram: (name) => find(name),
    onScrape: (compute) => void computed.push(compute),
    scrape() {
      for (const compute of computed) {
        try {
          compute();
        } catch (error) {
          if (options.failed === undefined) throw error;
          options.failed(error);
        }
      }
      const body = `${[...instruments.values()].map((instrument) => instrument.text()).join("\n\n")}\n`;
      return Promise.resolve({ contentType: CONTENT_TYPE, body });
    },
  };
}

function instrument(name: string, { type, help, labels: labelNames, bounded, buckets = [] }: Metric): Instrument {
  switch (type) {
    case "Sum":
      return new SingleValue({ name, help, type: "counter", labelNames, bounded });
    case "LastValue":
      return new SingleValue({ name, help, type: "gauge", labelNames });
    case "Distribution":
      return new Distribution({ name, help, labelNames, buckets });
  }
}

/** Does nothing. */
const nothing = {
  inc() {},
  dec() {},
  set() {},
  observe() {},
  remove() {},
  labels: () => nothing,
};

/** Metrics that are kept nowhere, for tests and embedding. */
export function noMetrics(): Metrics {
  const handle = () => nothing;
  return {
    counter: handle,
    gauge: handle,
    histogram: handle,
    onScrape() {},
    scrape: () => Promise.resolve({ contentType: "text/plain", body: "" }),
  };
}
