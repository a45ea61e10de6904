/**
 * Counters and gauges: a number for each combination of labels.
 *
 * @module
 */
import { headLines, labelText, type LabelValues, sampleLine } from "./label_text.ts";

/** Number of distinct values of a bounded label. A series takes about 150 bytes of a scrape. */
const MOST = 500;
/** Longest value, in UTF-16 units. */
const LONGEST = 256;

/**
 * Limits the values of a label that anyone can invent without end. The first values are shown, later values become
 * `other`.
 */
export class BoundedLabel {
  readonly #shown = new Set<string>();
  readonly #most: number;

  /** @param most Number of shown values. Default: 500. */
  constructor(most: number = MOST) {
    this.#most = most;
  }

  /** The label's value for a text. */
  of(text: string): string {
    const value = text.slice(0, LONGEST);
    if (this.#shown.has(value)) return value;
    if (this.#shown.size >= this.#most) return "other";
    this.#shown.add(value);
    return value;
  }
}

/** Inputs of a counter or a gauge. */
export interface SingleValueOptions {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly labelNames: readonly string[];
  /** The label with values from outside. Default: none. */
  readonly bounded?: string | undefined;
}

/**
 * A counter or a gauge. Without labels, its value is 0 from the start. A series with labels exists from the first value
 * on.
 *
 * A counter takes finite numbers from 0 on and throws RangeError otherwise, because one NaN would spoil the counter for
 * good. A gauge takes any number. The types of the handles decide which methods a program may call.
 */
export class SingleValue {
  readonly #options: SingleValueOptions;
  /** Values by label text, in the order of the first values. */
  readonly #values = new Map<string, number>();
  readonly #bound = new BoundedLabel();

  constructor(options: SingleValueOptions) {
    this.#options = options;
    if (options.labelNames.length === 0) this.#values.set("", 0);
  }

  inc(value?: number): void;
  inc(labels: LabelValues<string>, value?: number): void;
  /** Adds to a series: 1 by default. */
  inc(first: LabelValues<string> | number = 1, second = 1): void {
    if (typeof first === "number") this.#add("", first);
    else this.#add(this.#key(first), second);
  }

  dec(value?: number): void;
  dec(labels: LabelValues<string>, value?: number): void;
  /** Subtracts from a series: 1 by default. */
  dec(first: LabelValues<string> | number = 1, second = 1): void {
    if (typeof first === "number") this.#add("", -first);
    else this.#add(this.#key(first), -second);
  }

  set(value: number): void;
  set(labels: LabelValues<string>, value: number): void;
  /** Sets the value of a series. */
  set(first: LabelValues<string> | number, second = 0): void {
    if (typeof first === "number") this.#values.set("", first);
    else this.#values.set(this.#key(first), second);
  }

  /** The series for the labels. The page shows a series from the first value on. */
  labels(labels: LabelValues<string>): {
    inc(value?: number): void;
    dec(value?: number): void;
    set(value: number): void;
  } {
    const key = this.#key(labels);
    return {
      inc: (value = 1) => this.#add(key, value),
      dec: (value = 1) => this.#add(key, -value),
      set: (value) => void this.#values.set(key, value),
    };
  }

  /** Forgets a series. */
  remove(labels: LabelValues<string>): void {
    this.#values.delete(this.#key(labels));
  }

  /** The metric's part of the metrics page. */
  text(): string {
    const { name, help, type } = this.#options;
    let text = headLines(name, help, type);
    for (const [labels, value] of this.#values) text += `\n${sampleLine(name, labels, value)}`;
    return text;
  }

  #add(key: string, value: number): void {
    if (this.#options.type === "counter" && !(value >= 0 && Number.isFinite(value))) {
      throw new RangeError(`${this.#options.name}: got ${value}, expected a finite number from 0 on`);
    }
    this.#values.set(key, (this.#values.get(key) ?? 0) + value);
  }

  #key(labels: LabelValues<string>): string {
    const { labelNames, bounded } = this.#options;
    const value = bounded === undefined ? undefined : labels[bounded];
    if (bounded === undefined || typeof value !== "string") return labelText(labelNames, labels);
    return labelText(labelNames, { ...labels, [bounded]: this.#bound.of(value) });
  }
}
