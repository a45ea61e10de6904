/**
 * A proxy's description of itself: node metadata. Booleans and numbers may travel as strings.
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

/** Reads typed values from metadata and collects unexpected values. */
export class Metadata {
  readonly #data: Readonly<Record<string, unknown>>;
  /** Unexpected values, each with key, value and expectation. An unexpected value counts as absent. */
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

  /** A switch: true, "true", "1" and their opposites. Absent: `fallback`. */
  flag(key: string, fallback = false): boolean {
    return this.#read(key, flag) ?? fallback;
  }

  /** A whole number from 0 to `most`. Absent: 0. */
  count(key: string, most: number): number {
    return this.#value(key) === undefined ? 0 : this.#read(key, count(most)) ?? 0;
  }

  /** A duration in Go syntax, in ms. Absent: 0. */
  duration(key: string): number {
    return this.#read(key, duration) ?? 0;
  }

  /** A list: comma separated, or a real list of strings. */
  list(key: string): string[] {
    return this.#read(key, list) ?? [];
  }

  /** Labels or annotations in this project's spelling. */
  labels(key: string): Record<string, string> {
    return this.#read(key, labels) ?? {};
  }

  /** Selected proxy settings from an object, or from an object as text. Settings too large to keep count as absent. */
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
    // Every element of a list may be wrong in the same way.
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
