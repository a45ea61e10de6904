/**
 * The node metadata in which a proxy describes itself. Booleans and numbers may travel as strings.
 *
 * @module
 */
import { Findings } from "../../finding/findings.ts";
import { proxySettings } from "../../config/mesh/proxy_schema.ts";
import type { ProxySettings } from "../../config/mesh/types.ts";
import { DecodeContext } from "../../config/schema/field.ts";
import {
  count,
  duration,
  flag,
  labels,
  list,
  MAX_STRUCTURE,
  type MetadataForm,
  object,
  shown,
  text,
} from "./metadata_form.ts";

/** Reads typed values out of metadata and collects those that do not fit. */
export class Metadata {
  readonly #data: Readonly<Record<string, unknown>>;
  /** Values that are not as expected, each with key, value and expectation. Such a value counts as absent. */
  readonly problems: string[] = [];

  constructor(data: Readonly<Record<string, unknown>>) {
    this.#data = data;
  }

  /** Whether there is a value. */
  has(key: string): boolean {
    return this.#value(key) !== undefined;
  }

  /** A string; empty when absent. */
  text(key: string): string {
    return this.#read(key, text) ?? "";
  }

  /** A switch: true, "true", "1" and their opposites; absent is `fallback`. */
  flag(key: string, fallback = false): boolean {
    return this.#read(key, flag) ?? fallback;
  }

  /** A whole number from 0 to `most`; absent is 0. */
  count(key: string, most: number): number {
    return this.#value(key) === undefined ? 0 : this.#read(key, count(most)) ?? 0;
  }

  /** A duration in Go syntax, in ms; absent is 0. */
  duration(key: string): number {
    return this.#read(key, duration) ?? 0;
  }

  /** A list: comma separated, or a real list of strings. */
  list(key: string): string[] {
    return this.#read(key, list) ?? [];
  }

  /** Labels or annotations in our spelling. */
  labels(key: string): Record<string, string> {
    return this.#read(key, labels) ?? {};
  }

  /** Some proxy settings of an object, or of one as text; settings that are too large to be kept count as absent. */
  settings<K extends keyof ProxySettings>(key: string, ...names: readonly K[]): Partial<Pick<ProxySettings, K>> {
    const whole = this.#read(key, object);
    if (whole === undefined) return {};
    const given = names.filter((name) => whole[name] !== undefined);
    const large = given.filter((name) => JSON.stringify(whole[name]).length > MAX_STRUCTURE);
    for (const name of large) this.#refuse(key, `at most ${MAX_STRUCTURE} characters of ${name} as JSON`);
    const kept = Object.fromEntries(given.filter((name) => !large.includes(name)).map((name) => [name, whole[name]]));
    const findings = new Findings();
    const settings = proxySettings.decode(kept, new DecodeContext("", findings, "warning")) ?? {};
    for (const { severity, message } of findings.list) {
      if (severity === "error") this.problems.push(`metadata ${key}: ${message}`);
    }
    return settings as Partial<Pick<ProxySettings, K>>;
  }

  #read<T>(key: string, form: MetadataForm<T>): T | undefined {
    const value = this.#value(key);
    if (value === undefined) return undefined;
    const usual = form.usual?.(value);
    if (usual !== undefined) return usual;
    const read = form.schema.safeParse(value);
    if (read.success) return read.data;
    // Of a list every element may be wrong in the same way.
    for (const message of new Set(read.error.issues.map((issue) => issue.message))) this.#refuse(key, message);
    return undefined;
  }

  #value(key: string): unknown {
    const value = Object.hasOwn(this.#data, key) ? this.#data[key] : undefined;
    return value === null || value === "" ? undefined : value;
  }

  #refuse(key: string, expected: string): void {
    this.problems.push(`metadata ${key}=${shown(this.#value(key))}, expected ${expected}`);
  }
}
