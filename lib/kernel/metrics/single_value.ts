/**
 * Counters and gauges: one number for each combination of labels.
 *
 * @module
 */
import { headLines, labelText, type LabelValues, sampleLine } from "./label_text.ts";

/** Values that are shown; a series takes about 150 bytes of a scrape. */
const MOST = 500;
/** UTF-16 units of a value. */
const LONGEST = 256;

/** The first values are shown as they are, later ones as `other`: they are made up without end. */
export class BoundedLabel {
  readonly #shown = new Set<string>();
  readonly #most: number;

  /** @param most values that are shown; default 500 */
  constructor(most: number = MOST) {
    this.#most = most;
  }

  /** The label's value. */
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
  /** The label whose values others choose. Default: none. */
  readonly bounded?: string | undefined;
}

/**
 * A counter or a gauge. Without labels it is 0 from the start; a series with labels exists from its first value on.
 *
 * A counter takes finite numbers from 0 on and throws RangeError otherwise: one NaN would spoil it for good. A gauge takes
 * any number. The types of the handles decide which of their methods a program may call.
 */
export class SingleValue {
  readonly #options: SingleValueOptions;
  /** By the labels' text, in the order of their first values. */
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
  /** Takes from a series: 1 by default. */
  dec(first: LabelValues<string> | number = 1, second = 1): void {
    if (typeof first === "number") this.#add("", -first);
    else this.#add(this.#key(first), -second);
  }

  set(value: number): void;
  set(labels: LabelValues<string>, value: number): void;
  /** Gives a series its value. */
  set(first: LabelValues<string> | number, second = 0): void {
    if (typeof first === "number") this.#values.set("", first);
    else this.#values.set(this.#key(first), second);
  }

  /** The series of these labels; it is shown from its first value on. */
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

  /** Its part of the page of metrics. */
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
