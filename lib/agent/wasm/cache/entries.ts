/**
 * The modules in the cache, by name and digest, and the last digest of each address. Plain data: files are elsewhere.
 *
 * @module
 */
import type { PullPolicy } from "../config/wasm_filter.ts";
import { OCI } from "../fetch/image_name.ts";

/** One module of the cache. */
export interface CacheEntry {
  readonly name: string;
  readonly checksum: string;
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970. */
  lastUsed: number;
}

/** A lookup in the cache. */
export interface CacheQuery {
  readonly url: string;
  /** Digest, hex; empty: any. */
  readonly checksum: string;
  /** The resource with the module, and the resource's version. */
  readonly resource: string;
  readonly resourceVersion: string;
  readonly pullPolicy: PullPolicy;
}

/** The last digest of an address. */
interface LastChecksum {
  readonly checksum: string;
  /** The version of each resource with this digest. */
  readonly versions: Map<string, string>;
}

/** Entries by name and digest. */
export class CacheEntries {
  readonly #entries = new Map<string, CacheEntry>();
  readonly #last = new Map<string, LastChecksum>();

  /** The number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  /** Size of all modules, bytes. */
  get bytes(): number {
    return [...this.#entries.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** The module for a query. Undefined: the module must be fetched. */
  find(query: CacheQuery, now: number): CacheEntry | undefined {
    const checksum = pinnedChecksum(query) ?? this.#lastChecksum(query);
    return checksum === undefined ? undefined : this.use(query, checksum, now);
  }

  /** The module of a digest. From now on this module answers the query's address. */
  use(query: CacheQuery, checksum: string, now: number): CacheEntry | undefined {
    const entry = this.#entries.get(keyOf(moduleName(query.url), checksum));
    if (entry === undefined) return undefined;
    entry.lastUsed = now;
    this.#remember(query, checksum);
    return entry;
  }

  add(query: CacheQuery, entry: CacheEntry): void {
    this.#entries.set(keyOf(entry.name, entry.checksum), entry);
    this.#remember(query, entry.checksum);
  }

  /** Takes out a module whose file is gone. */
  forget(entry: CacheEntry): void {
    this.#take([entry]);
  }

  /** Takes out the modules that were not used since a time. */
  takeUnused(since: number): CacheEntry[] {
    return this.#take([...this.#entries.values()].filter(({ lastUsed }) => lastUsed < since));
  }

  /** Takes out the modules whose last use is longest ago, until there is room. */
  takeOldest(room: number, limit: number): CacheEntry[] {
    let { bytes } = this;
    const oldest = [...this.#entries.values()].sort((a, b) => a.lastUsed - b.lastUsed);
    return this.#take(oldest.filter(({ size }) => {
      const isTaken = bytes + room > limit;
      if (isTaken) bytes -= size;
      return isTaken;
    }));
  }

  #take(entries: CacheEntry[]): CacheEntry[] {
    for (const { name, checksum } of entries) this.#entries.delete(keyOf(name, checksum));
    for (const [url, last] of this.#last) {
      if (!this.#entries.has(keyOf(moduleName(url), last.checksum))) this.#last.delete(url);
    }
    return entries;
  }

  #lastChecksum({ url, resource, resourceVersion, pullPolicy }: CacheQuery): string | undefined {
    const last = this.#last.get(url);
    if (last === undefined) return undefined;
    return pullsAlways(pullPolicy, url) && last.versions.get(resource) !== resourceVersion ? undefined : last.checksum;
  }

  #remember({ url, resource, resourceVersion }: CacheQuery, checksum: string): void {
    if (digestOf(url) !== undefined) return;
    const before = this.#last.get(url);
    const last = before?.checksum === checksum ? before : { checksum, versions: new Map<string, string>() };
    last.versions.set(resource, resourceVersion);
    this.#last.set(url, last);
  }
}

function keyOf(name: string, checksum: string): string {
  return `${checksum} ${name}`;
}

/** An image's name without tag and digest: the same module under two tags is one file. */
export function moduleName(url: string): string {
  return url.startsWith(OCI) ? url.replace(/@[^/@]*$/, "").replace(/:[^/:]*$/, "") : url;
}

/** The digest that a query says, itself or in its address; undefined: none. */
export function pinnedChecksum({ checksum, url }: CacheQuery): string | undefined {
  return checksum || digestOf(url);
}

/** The digest in an image's name. */
function digestOf(url: string): string | undefined {
  return url.startsWith(OCI) ? /@sha256:([0-9a-f]{64})$/i.exec(url)?.[1]?.toLowerCase() : undefined;
}

/** A changed resource fetches its module again where it says so, and images of the tag `latest` (also by default). */
function pullsAlways(policy: PullPolicy, url: string): boolean {
  if (policy !== "UNSPECIFIED_POLICY") return policy === "Always";
  return url.startsWith(OCI) && /:latest$|\/[^/:@]*$/.test(url);
}
