/**
 * The resources of a proxy in their encoded form. A resource is decoded when a simulation asks for it.
 *
 * @module
 */
import { TYPE_URL_PREFIX } from "../pb/codec.ts";
import { decode } from "../pb/reflect.ts";
import type { ProxyResources } from "./types.ts";

/** An encoded resource, such as the server's resources. */
export interface EncodedMessage {
  readonly name: string;
  /** With the prefix `type.googleapis.com/`. */
  readonly typeUrl: string;
  readonly value: Uint8Array;
  /** Keys of the configuration objects behind the resource. */
  readonly causes?: readonly string[];
}

const TYPES = {
  listeners: "envoy.config.listener.v3.Listener",
  routes: "envoy.config.route.v3.RouteConfiguration",
  virtualHosts: "envoy.config.route.v3.VirtualHost",
  clusters: "envoy.config.cluster.v3.Cluster",
  assignments: "envoy.config.endpoint.v3.ClusterLoadAssignment",
  extensions: "envoy.config.core.v3.TypedExtensionConfig",
} as const;

/** Encoded resources of a type, by name. */
export interface EncodedTable {
  get(name: string): EncodedMessage | undefined;
  /** Each name once. */
  names(): Iterable<string>;
}

/** The encoded resources of a proxy: a table for each type URL. Nothing is read before a table is asked. */
export type EncodedTables = (typeUrl: string) => EncodedTable;

/** The resources of a proxy. Resources of other types are ignored. */
export function resourcesFrom(messages: Iterable<EncodedMessage>): ProxyResources {
  return resourcesIn(tablesOf(messages));
}

/** Messages as tables. Of several messages with the same type and name the last counts. */
export function tablesOf(messages: Iterable<EncodedMessage>): EncodedTables {
  const byType = new Map<string, Map<string, EncodedMessage>>();
  for (const message of messages) {
    const table = byType.get(message.typeUrl) ?? new Map<string, EncodedMessage>();
    byType.set(message.typeUrl, table.set(message.name, message));
  }
  return (typeUrl) => {
    const table = byType.get(typeUrl);
    return { get: (name) => table?.get(name), names: () => table?.keys() ?? [] };
  };
}

/** The resources of a proxy from existing tables. Reading a resource does not touch the others. */
export function resourcesIn(tables: EncodedTables): ProxyResources {
  const table = (kind: keyof typeof TYPES) => tables(`${TYPE_URL_PREFIX}${TYPES[kind]}`);
  const lazy = <T>(kind: keyof typeof TYPES) => new DecodedMap<T>(TYPES[kind], table(kind));
  return {
    listeners: lazy("listeners"),
    routes: lazy("routes"),
    virtualHosts: lazy("virtualHosts"),
    clusters: lazy("clusters"),
    assignments: lazy("assignments"),
    extensions: lazy("extensions"),
    causesOf: (kind, name) => table(kind).get(name)?.causes ?? [],
  };
}

/** Messages by name; each is decoded at most once. */
export class DecodedMap<T> implements ReadonlyMap<string, T> {
  readonly #type: string;
  readonly #encoded: EncodedTable;
  readonly #decoded = new Map<string, T>();

  /** @param type Full name of the message. */
  constructor(type: string, encoded: EncodedTable) {
    this.#type = type;
    this.#encoded = encoded;
  }

  get size(): number {
    return [...this.#encoded.names()].length;
  }

  has(name: string): boolean {
    return this.#encoded.get(name) !== undefined;
  }

  get(name: string): T | undefined {
    let message = this.#decoded.get(name);
    if (message !== undefined) return message;
    const encoded = this.#encoded.get(name);
    if (encoded === undefined) return undefined;
    message = decode<T>(this.#type, encoded.value);
    this.#decoded.set(name, message);
    return message;
  }

  keys(): MapIterator<string> {
    return Iterator.from(this.#encoded.names()) as MapIterator<string>;
  }

  values(): MapIterator<T> {
    return this.keys().map((name) => this.get(name)!) as MapIterator<T>;
  }

  entries(): MapIterator<[string, T]> {
    return this.keys().map((name) => [name, this.get(name)!]) as MapIterator<[string, T]>;
  }

  [Symbol.iterator](): MapIterator<[string, T]> {
    return this.entries();
  }

  forEach(callback: (value: T, key: string, map: ReadonlyMap<string, T>) => void): void {
    for (const [name, value] of this) callback(value, name, this);
  }
}
