/**
 * What a builder asked, and what it was told: the key under which its result may be used again.
 *
 * Questions about the proxy (its properties) are kept apart from questions about the world (services, rules): the first
 * decide which proxies may share, the second whether the result is still true.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import type { EffectiveDestinationRule } from "../../mesh/types.ts";
import type { InvalidatedKeys } from "./invalidated_keys.ts";
import type { Reader } from "./reader.ts";
import type { ProxyProperties } from "./proxy_properties.ts";

/** A question about the proxy alone, with the answer that was given. */
export interface PropertyQuestion {
  readonly compute: (properties: ProxyProperties) => unknown;
  readonly answer: unknown;
}

/** Asks a question about the world of a reader; a constant wherever it can be, as every build of every host asks some. */
export type Ask<T> = (reader: BaseReader, name: string) => T;

/** A question about the world, with the answer that was given. */
interface WorldQuestion {
  readonly ask: Ask<unknown>;
  readonly name: string;
  readonly answer: unknown;
}

/** All that one build asked. */
export class Trace {
  readonly properties = new Map<string, PropertyQuestion>();
  readonly #world = new Map<string, WorldQuestion>();
  /**
   * What could change an answer: `s/<host>` the service of a host, `e/` its endpoints, `v/` its virtual service,
   * `d/` its destination rule, `g/` the Gateway objects, `g/<gateway>` the virtual services of one.
   */
  readonly dependencies = new Set<string>();

  /** Asks a question about the proxy, and records it. */
  property<T>(key: string, properties: ProxyProperties, compute: (properties: ProxyProperties) => T): T {
    const known = this.properties.get(key);
    if (known !== undefined) return known.answer as T;
    const answer = compute(properties);
    this.properties.set(key, { compute, answer });
    return answer;
  }

  /**
   * Asks a question about the world, and records it.
   *
   * @param key Tells the question from others.
   * @param on What could change the answer, a letter each (see {@link dependencies}), of the host or gateway `name`.
   */
  world<T>(key: string, name: string, on: string, base: BaseReader, ask: Ask<T>): T {
    const known = this.#world.get(key);
    if (known !== undefined) return known.answer as T;
    const answer = ask(base, name);
    this.#world.set(key, { ask, name, answer });
    for (const letter of on) this.dependencies.add(`${letter}/${name}`);
    return answer;
  }

  /** Whether what changed could change an answer. */
  dependsOnAny(changed: InvalidatedKeys): boolean {
    return changed.hasAny(this.dependencies);
  }

  /** Whether a proxy with these properties would have got the same answers. */
  fits(properties: ProxyProperties): boolean {
    for (const { compute, answer } of this.properties.values()) if (compute(properties) !== answer) return false;
    return true;
  }

  /** Whether the reader of another proxy class gives the same answers to every question. */
  holds(reader: BaseReader): boolean {
    if (!this.fits(reader.properties)) return false;
    for (const { ask, name, answer } of this.#world.values()) if (ask(reader, name) !== answer) return false;
    return true;
  }
}

/** What builders may ask that is answered from the properties alone, or chosen by them: the `RecordingReader` does it. */
type OfTraits = "property" | "derived" | "proxyHeaders" | "gateways" | "destinationRule";

/** A reader of one proxy class, with what a `RecordingReader` needs beside what builders may ask. */
export interface BaseReader extends Omit<Reader, OfTraits> {
  /** The properties of one proxy of the class. */
  readonly properties: ProxyProperties;
  /** The rules in force for a host; more than one only where rules select client workloads by labels. */
  destinationRules(host: string): readonly EffectiveDestinationRule[];
  /** The gateways that a workload with these properties serves; equal lists are the same array. */
  gatewaysOf(properties: ProxyProperties): readonly ConfigObject<"Gateway">[];
}
