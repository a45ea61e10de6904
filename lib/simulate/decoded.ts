/**
 * The resources of one proxy as the wire has them, decoded one by one when a simulation asks.
 *
 * @module
 */
import { decode } from "../pb/reflect.ts";
import type { ProxyResources } from "./types.ts";

/** An encoded resource (the resources that the server sends are such). */
export interface EncodedMessage {
  readonly name: string;
  /** With the prefix `type.googleapis.com/`. */
  readonly typeUrl: string;
  readonly value: Uint8Array;
  /** Keys of the configuration objects that made it. */
  readonly causes?: readonly string[];
}

const TYPES = {
  listeners: "envoy.config.listener.v3.Listener",
  routes: "envoy.config.route.v3.RouteConfiguration",
  virtualHosts: "envoy.config.route.v3.VirtualHost",
  clusters: "envoy.config.cluster.v3.Cluster",
  assignments: "envoy.config.endpoint.v3.ClusterLoadAssignment",
} as const;

/** The resources of one proxy. Those of other types are passed over. */
export function resourcesFrom(messages: Iterable<EncodedMessage>): ProxyResources {
  const byType = new Map<string, Map<string, EncodedMessage>>(Object.values(TYPES).map((type) => [type, new Map()]));
  for (const message of messages) {
    byType.get(message.typeUrl.slice(message.typeUrl.lastIndexOf("/") + 1))?.set(message.name, message);
  }
  const lazy = <T>(type: string) => new DecodedMap<T>(type, byType.get(type) ?? new Map());
  return {
    listeners: lazy(TYPES.listeners),
    routes: lazy(TYPES.routes),
    virtualHosts: lazy(TYPES.virtualHosts),
    clusters: lazy(TYPES.clusters),
    assignments: lazy(TYPES.assignments),
    causesOf: (kind, name) => byType.get(TYPES[kind])?.get(name)?.causes ?? [],
  };
}

/** Messages by name; each is decoded at most once. */
class DecodedMap<T> implements ReadonlyMap<string, T> {
  readonly #type: string;
  readonly #encoded: ReadonlyMap<string, EncodedMessage>;
  readonly #decoded = new Map<string, T>();

  constructor(type: string, encoded: ReadonlyMap<string, EncodedMessage>) {
    this.#type = type;
    this.#encoded = encoded;
  }

  get size(): number {
    return this.#encoded.size;
  }

  has(name: string): boolean {
    return this.#encoded.has(name);
  }

  get(name: string): T | undefined {
    const encoded = this.#encoded.get(name);
    if (encoded === undefined) return undefined;
    let message = this.#decoded.get(name);
    if (message === undefined) this.#decoded.set(name, message = decode<T>(this.#type, encoded.value));
    return message;
  }

  keys(): MapIterator<string> {
    return this.#encoded.keys();
  }

  values(): MapIterator<T> {
    return this.#encoded.keys().map((name) => this.get(name)!) as MapIterator<T>;
  }

  entries(): MapIterator<[string, T]> {
    return this.#encoded.keys().map((name) => [name, this.get(name)!]) as MapIterator<[string, T]>;
  }

  [Symbol.iterator](): MapIterator<[string, T]> {
    return this.entries();
  }

  forEach(callback: (value: T, key: string, map: ReadonlyMap<string, T>) => void): void {
    for (const [name, value] of this) callback(value, name, this);
  }
}
