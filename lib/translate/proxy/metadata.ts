/**
 * What a proxy tells about itself in node metadata. Booleans and numbers may travel as strings.
 *
 * @module
 */
import { ownKey, ownLabelValue } from "../../config/spelling/spelling.ts";
import { parseDuration } from "../../config/schema/duration.ts";

/** Reads typed values out of metadata and collects what does not fit. */
export class Metadata {
  readonly #data: Readonly<Record<string, unknown>>;
  /** What was not as expected, each with key, value and expectation. Such a value counts as absent. */
  readonly problems: string[] = [];

  constructor(data: Readonly<Record<string, unknown>>) {
    this.#data = data;
  }

  #value(key: string): unknown {
    const value = Object.hasOwn(this.#data, key) ? this.#data[key] : undefined;
    return value === null || value === "" ? undefined : value;
  }

  #refuse(key: string, expected: string): undefined {
    this.problems.push(`metadata ${key}=${JSON.stringify(this.#value(key))}, expected ${expected}`);
    return undefined;
  }

  /** A string; empty when absent. */
  text(key: string): string {
    const value = this.#value(key);
    if (value === undefined || typeof value === "string") return value ?? "";
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    this.#refuse(key, "a string");
    return "";
  }

  /** A switch: true, "true", "1" and their opposites; absent is `fallback`. */
  flag(key: string, fallback = false): boolean {
    const value = this.#value(key);
    if (value === undefined) return fallback;
    const text = String(value).toLowerCase();
    if (text === "true" || text === "1") return true;
    if (text === "false" || text === "0") return false;
    this.#refuse(key, "true or false");
    return fallback;
  }

  /** A whole number from 0 to `most`; absent is 0. */
  count(key: string, most: number): number {
    const value = this.#value(key);
    if (value === undefined) return 0;
    const number = Number(value);
    if (Number.isInteger(number) && number >= 0 && number <= most) return number;
    this.#refuse(key, `a whole number from 0 to ${most}`);
    return 0;
  }

  /** A duration in Go syntax, in ms; absent is 0. */
  duration(key: string): number {
    const value = this.#value(key);
    if (value === undefined) return 0;
    const ms = typeof value === "string" ? parseDuration(value) : undefined;
    return ms ?? this.#refuse(key, "a duration such as 30s") ?? 0;
  }

  /** A list: comma separated, or a real list of strings. */
  list(key: string): string[] {
    const value = this.#value(key);
    if (value === undefined) return [];
    if (typeof value === "string") return value.split(",").map((x) => x.trim()).filter((x) => x !== "");
    if (Array.isArray(value) && value.every((x) => typeof x === "string")) return value;
    this.#refuse(key, "a comma separated list");
    return [];
  }

  /** Labels or annotations in our spelling. */
  labels(key: string): Record<string, string> {
    const value = this.#value(key);
    if (value === undefined) return {};
    if (typeof value !== "object" || Array.isArray(value)) return this.#refuse(key, "a map of strings") ?? {};
    const labels: [string, string][] = [];
    for (const [name, text] of Object.entries(value as Record<string, unknown>)) {
      if (typeof text !== "string") this.#refuse(key, `a string at ${JSON.stringify(name)}`);
      else labels.push([ownKey(name), ownLabelValue(ownKey(name), text)]);
    }
    return Object.fromEntries(labels);
  }

  /** A JSON object, as it is or as text. */
  object(key: string): Readonly<Record<string, unknown>> | undefined {
    let value = this.#value(key);
    if (typeof value === "string") {
      try {
        value = JSON.parse(value);
      } catch {
        return this.#refuse(key, "a JSON object");
      }
    }
    if (value === undefined) return undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return this.#refuse(key, "a JSON object");
    return value as Record<string, unknown>;
  }
}
