/**
 * What the units of one class of proxies asked about the proxy. A proxy belongs to a class when it gives the same
 * answers to all of it.
 *
 * @module
 */
import type { ProxyProperties } from "../reader/proxy_properties.ts";
import type { PropertyQuestion, Trace } from "../reader/read_record.ts";

/** The questions of one class. They only grow: a question that is no longer asked splits more than needed, never less. */
export class Questions {
  readonly #all = new Map<string, PropertyQuestion>();
  #fresh: PropertyQuestion[] = [];

  /** Adds the questions of one unit. */
  add(trace: Trace): void {
    for (const [key, question] of trace.properties) {
      if (this.#all.has(key)) continue;
      this.#all.set(key, question);
      this.#fresh.push(question);
    }
  }

  /** Whether a proxy gives the same answers to all. */
  fits(properties: ProxyProperties): boolean {
    for (const { compute, answer } of this.#all.values()) if (compute(properties) !== answer) return false;
    return true;
  }

  /** The questions that came since the last call. */
  takeFresh(): readonly PropertyQuestion[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }
}
