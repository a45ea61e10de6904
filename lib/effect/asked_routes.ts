/**
 * The route configurations that listeners ask for. A proxy may get other route configurations, too. A route
 * configuration without an asking listener has no effect.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { EncodedResource } from "../resource/encoded.ts";
import type { ResourceBucket, ResourceSet } from "../resource/set.ts";

/** The beginning of an `Rds` in connection managers: the source ADS without a timeout, then the tag of the name. */
const BEFORE_NAME = Buffer.from([0x0a, 6, 0x1a, 0, 0x22, 0, 0x30, 2, 0x12]);

/** The listener for inbound connections, with inline routes. */
const WITHOUT_ROUTES = "virtualInbound";

const NONE: ReadonlySet<string> = new Set();

/** Finds the names of asked route configurations. Each distinct bucket of listeners is read once. */
export class AskedRoutes {
  readonly #byBucket = new WeakMap<ResourceBucket, ReadonlySet<string>>();
  readonly #bySet = new WeakMap<ResourceSet, ReadonlySet<string>>();

  /** Names of the route configurations that a set of listeners asks for. */
  of(listeners: ResourceSet): ReadonlySet<string> {
    const known = this.#bySet.get(listeners);
    if (known !== undefined) return known;
    const asking = listeners.buckets.map((bucket) => this.#ofBucket(bucket)).filter(({ size }) => size > 0);
    const names = asking.length < 2 ? asking[0] ?? NONE : new Set(asking.flatMap((some) => [...some]));
    this.#bySet.set(listeners, names);
    return names;
  }

  #ofBucket(bucket: ResourceBucket): ReadonlySet<string> {
    return this.#byBucket.getOrInsertComputed(bucket, ({ resources }) => {
      const names = new Set(resources.flatMap(askedBy));
      return names.size === 0 ? NONE : names;
    });
  }
}

/**
 * Finds the names in the bytes of a listener. Decoding would be expensive: listeners may be large, and every listener
 * is read.
 */
function askedBy({ name, value }: EncodedResource): string[] {
  if (name === WITHOUT_ROUTES) return [];
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
  const names: string[] = [];
  for (let at = bytes.indexOf(BEFORE_NAME); at >= 0; at = bytes.indexOf(BEFORE_NAME, at + 1)) {
    const { length, start } = lengthAt(bytes, at + BEFORE_NAME.length);
    names.push(bytes.toString("utf8", start, start + length));
  }
  return names;
}

function lengthAt(bytes: Buffer, from: number): { readonly length: number; readonly start: number } {
  let length = 0;
  for (let at = from, shift = 0;; at++, shift += 7) {
    const byte = bytes[at] ?? 0;
    length |= (byte & 127) << shift;
    if (byte < 128) return { length, start: at + 1 };
  }
}
