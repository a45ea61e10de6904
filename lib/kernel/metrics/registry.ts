/**
 * The metrics of a process, typed by name. Each process has a registry of its own; no registry is global.
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

/** A counter, which only grows. */
export interface CounterHandle<L extends string> {
  inc(value?: number): void;
  inc(labels: LabelValues<L>, value?: number): void;
  /** The series for the labels. Keep the result on hot paths. */
  labels(labels: LabelValues<L>): { inc(value?: number): void };
  /** Forgets a series. */
  remove(labels: LabelValues<L>): void;
}

/** A gauge, which keeps the last value. */
export interface GaugeHandle<L extends string> {
  set(value: number): void;
  set(labels: LabelValues<L>, value: number): void;
  inc(value?: number): void;
  inc(labels: LabelValues<L>, value?: number): void;
  dec(value?: number): void;
  dec(labels: LabelValues<L>, value?: number): void;
  /** The series for the labels. Keep the result on hot paths. */
  labels(labels: LabelValues<L>): { set(value: number): void; inc(value?: number): void; dec(value?: number): void };
  /** Forgets a series. */
  remove(labels: LabelValues<L>): void;
}

/** Counts values by size. */
export interface HistogramHandle<L extends string> {
  observe(value: number): void;
  observe(labels: LabelValues<L>, value: number): void;
  /** The series for the labels. Keep the result on hot paths. */
  labels(labels: LabelValues<L>): { observe(value: number): void };
}

/** The metrics of a process. The handle of a metric that the program does not have does nothing. */
export interface Metrics {
  counter<K extends MetricNameOf<"Sum">>(name: K): CounterHandle<LabelsOf<K>>;
  gauge<K extends MetricNameOf<"LastValue">>(name: K): GaugeHandle<LabelsOf<K>>;
  histogram<K extends MetricNameOf<"Distribution">>(name: K): HistogramHandle<LabelsOf<K>>;
  /** Calls the function before each scrape, for values that are computed on demand. */
  onScrape(compute: () => void): void;
  /** The text of a scrape, with its content type. */
  scrape(): Promise<{ readonly contentType: string; readonly body: string }>;
}

type Instrument = SingleValue | Distribution;

/** The text format, which all scrapers accept. */
const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Differences between programs. */
export interface MetricsOptions {
  /** Put before every name; default none. */
  readonly prefix?: string;
  /**
   * Called with an exception from an {@link Metrics.onScrape} function, and the other metrics stay right. Default:
   * `scrape` throws the exception.
   */
  readonly failed?: (error: unknown) => void;
}

/**
 * Metrics of a program. Each metric with a source exists from the start, and without labels its value is 0. A metric
 * without a source in the program is not shown: a 0 would be a statement (a certificate expires now), and alarms would
 * believe the statement.
 */
export function createMetrics(program: Program, options: MetricsOptions = {}): Metrics {
  const instruments = new Map<MetricName, Instrument>();
  const needless = NEEDLESS_METRICS[program];
  for (const [name, metric] of metricsUsedBy(program)) {
    if (notBuilt("metric", name) || Object.hasOwn(needless, name)) continue;
    instruments.set(name, instrument((options.prefix ?? "") + name, metric));
  }
  const computed: (() => void)[] = [];
  // The catalogue gives the types: the instrument of a name has the catalogue's type and labels.
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

/** Metrics without storage, for tests and embedding. */
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
