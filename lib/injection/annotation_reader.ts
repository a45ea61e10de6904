/**
 * Annotations with numbers or switches.
 *
 * @module
 */
import { parseJson } from "../config/yaml/parse.ts";
import type { Texts } from "./spelling.ts";

/** Reads annotations and collects mistakes. Annotations have this project's keys. */
export class AnnotationReader {
  readonly problems: string[] = [];

  constructor(readonly annotations: Texts) {}

  /** A text; absent or empty: `otherwise`. */
  text(key: string, otherwise: string): string {
    return this.annotations[key] || otherwise;
  }

  /** A whole number of 0 or more. */
  count(key: string, otherwise: number): number {
    const text = this.annotations[key];
    if (text === undefined || text === "") return otherwise;
    if (/^\d{1,9}$/.test(text)) return Number(text);
    this.#refuse(key, text, "a whole number, 0 or more");
    return otherwise;
  }

  /** A port, or 0 for none. */
  port(key: string, otherwise: number): number {
    const text = this.annotations[key];
    if (text === undefined || text === "") return otherwise;
    if (/^\d{1,5}$/.test(text) && Number(text) <= 65535) return Number(text);
    this.#refuse(key, text, "a port number, or 0 for none");
    return otherwise;
  }

  /** A switch in YAML's words. */
  flag(key: string, otherwise: boolean): boolean {
    const text = this.annotations[key];
    if (text === undefined || text === "") return otherwise;
    if (/^(?:true|1|t)$/i.test(text)) return true;
    if (/^(?:false|0|f)$/i.test(text)) return false;
    this.#refuse(key, text, "true or false");
    return otherwise;
  }

  /** A quantity of the orchestrator, such as `100m` or `128Mi`; absent: undefined. */
  quantity(key: string): string | undefined {
    const text = this.annotations[key];
    if (text === undefined || text === "") return undefined;
    if (/^\+?(?:\d+(?:\.\d*)?|\.\d+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/.test(text)) return text;
    this.#refuse(key, text, "a quantity such as 100m or 128Mi");
    return undefined;
  }

  /** A word of a list. */
  choice<T extends string>(key: string, words: readonly T[], otherwise: T): T {
    const text = this.annotations[key];
    if (text === undefined || text === "") return otherwise;
    const word = words.find((one) => one === text);
    if (word === undefined) this.#refuse(key, text, words.join(" or "));
    return word ?? otherwise;
  }

  /** JSON; absent: undefined. */
  json(key: string, expected: string, accepts: (value: unknown) => boolean): unknown {
    const text = this.annotations[key];
    if (text === undefined || text === "") return undefined;
    const parsed = parseJson(text);
    if ("tree" in parsed && accepts(parsed.tree)) return parsed.tree;
    this.#refuse(key, text, expected);
    return undefined;
  }

  #refuse(key: string, text: string, expected: string): void {
    this.problems.push(`annotation ${key}: got ${JSON.stringify(text.slice(0, 120))}, expected ${expected}`);
  }
}
