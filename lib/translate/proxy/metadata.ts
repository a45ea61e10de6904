/**
 * What a proxy tells about itself in node metadata. Booleans and numbers may travel as strings.
 *
 * @module
 */
import { ownKey, ownLabelValue } from "../../config/spelling/spelling.ts";
import { parseDuration } from "../../config/schema/duration.ts";

/** UTF-16 units of one text, and of the name or value of one label. Istio's own are names, addresses and paths. */
const MAX_TEXT = 1024;
/** Units of a list, and of an object that is kept whole, as JSON. */
const MAX_STRUCTURE = 16 * 1024;
/** Units of a value that a refusal shows. */
const MAX_SHOWN = 100;

/** A value as a refusal shows it. */
function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}... (${text.length} characters)`;
}

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
    this.problems.push(`metadata ${key}=${shown(this.#value(key))}, expected ${expected}`);
    return undefined;
  }

  /** A string; empty when absent. */
  text(key: string): string {
    const value = this.#value(key);
    if (value === undefined) return "";
    if (typeof value === "string") return this.#short(key, value, MAX_TEXT);
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    this.#refuse(key, "a string");
    return "";
  }

  /** A text that is not too long; empty otherwise. */
  #short(key: string, text: string, most: number): string {
    if (text.length <= most) return text;
    this.#refuse(key, `at most ${most} characters`);
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
    const texts = typeof value === "string" ? value.split(",") : value;
    if (Array.isArray(texts) && texts.every((x) => typeof x === "string")) {
      this.#short(key, texts.join(), MAX_STRUCTURE);
      return texts.map((x) => x.trim()).filter((x) => x !== "");
    }
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
      if (typeof text !== "string") this.#refuse(key, `a string at ${shown(name)}`);
      else if (name.length > MAX_TEXT || text.length > MAX_TEXT) {
        this.#refuse(key, `at most ${MAX_TEXT} characters in the name and in the value of ${shown(name)}`);
      } else labels.push([ownKey(name), ownLabelValue(ownKey(name), text)]);
    }
    return Object.fromEntries(labels);
  }

  /** A field of an object that is kept as long as its proxy; absent when it is too large. */
  part<T>(key: string, field: string): T | undefined {
    const part = this.object(key)?.[field];
    if (part === undefined || JSON.stringify(part).length <= MAX_STRUCTURE) return part as T | undefined;
    return this.#refuse(key, `at most ${MAX_STRUCTURE} characters of ${field} as JSON`);
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
