/**
 * Wasm modules on this machine: fetched when they are asked for, kept while they are used, bounded in bytes.
 *
 * Permissions: read, write (the folder), and the permissions of the fetch.
 *
 * @module
 */
import type { Logger } from "../../../kernel/log/log.ts";
import type { Metrics } from "../../../kernel/metrics/registry.ts";
import type { Cancel, Clock } from "../../../kernel/time/clock.ts";
import { WorkQueue } from "../../../kernel/time/work_queue.ts";
import { FetchFault } from "../fetch/fetch_fault.ts";
import type { FetchedModule, ModuleRequest } from "../fetch/fetch_module.ts";
import { shownUrl } from "../fetch/shown_url.ts";
import { CacheEntries, type CacheEntry, type CacheQuery, moduleName, pinnedChecksum } from "./entries.ts";
import { type FileOwner, ModuleFiles } from "./module_files.ts";

export type FetchModule = (request: ModuleRequest, signal: AbortSignal) => Promise<FetchedModule>;

/** Settings and parts of a cache. Times in ms. */
export interface WasmCacheOptions {
  readonly folder: string;
  /** User that reads the files; undefined: our own. */
  readonly owner: FileOwner | undefined;
  readonly fetch: FetchModule;
  /** Attempts in a row at one fetch; at least one is made. */
  readonly attempts: number;
  /** Age since its last use at which a module is dropped. */
  readonly expiry: number;
  readonly purgeInterval: number;
  /** Bytes of all modules; default {@linkcode MAX_CACHE_BYTES}. */
  readonly maxBytes?: number;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** A module that is wanted. */
export interface WantedModule extends CacheQuery {
  /** Milliseconds for all attempts, from the first one's begin. */
  readonly timeout: number;
  readonly pullSecret: string | undefined;
}

/** Four of the largest modules. */
const MAX_CACHE_BYTES = 1024 * 1024 * 1024;
/** Modules that are fetched at a time; the others wait in their order. */
export const FETCHES_AT_ONCE = 4;
/** Time between the first two attempts, ms; it doubles each time. */
const FIRST_PAUSE = 500;

export class WasmCache {
  readonly #options: WasmCacheOptions;
  readonly #files: ModuleFiles;
  readonly #entries = new CacheEntries();
  /** Fetches under way or waiting, by the module that they are for. */
  readonly #fetches = new Map<string, Promise<CacheEntry>>();
  readonly #places = new WorkQueue(FETCHES_AT_ONCE);
  /** Modules come into their places one after the other, so that the bytes of all are known. */
  #keeping: Promise<unknown> = Promise.resolve();
  readonly #stop = new AbortController();
  #purge: Cancel;

  constructor(options: WasmCacheOptions) {
    this.#options = options;
    this.#files = new ModuleFiles(options.folder, options.owner, () => options.clock.now() - options.expiry);
    this.#purge = this.#purgeLater();
  }

  /**
   * The file of a module.
   *
   * @throws Error with the reason why the module cannot be fetched
   */
  async get(wanted: WantedModule): Promise<string> {
    const entry = await this.#lookUp((now) => this.#entries.find(wanted, now));
    if (entry !== undefined) return entry.path;
    const { url, checksum, pullSecret = "" } = wanted;
    const key = JSON.stringify([url, checksum, pullSecret]);
    const fetched = () => this.#places.run(() => this.#fetch(wanted)).finally(() => this.#fetches.delete(key));
    const under = this.#fetches.get(key) ?? fetched();
    this.#fetches.set(key, under);
    const { path, checksum: found } = await under;
    this.#entries.use(wanted, found, this.#options.clock.now());
    return path;
  }

  /** Ends fetches and the look for unused modules. Files stay. */
  stop(): void {
    this.#stop.abort(new Error("the agent is stopping"));
    this.#purge();
  }

  async #lookUp(find: (now: number) => CacheEntry | undefined): Promise<CacheEntry | undefined> {
    const known = find(this.#options.clock.now());
    const entry = known !== undefined && await this.#files.isThere(known.path) ? known : undefined;
    if (known !== undefined && entry === undefined) this.#entries.forget(known);
    this.#options.metrics.counter("wasm_cache_lookup_count").inc({ hit: String(entry !== undefined) });
    return entry;
  }

  async #fetch(wanted: WantedModule): Promise<CacheEntry> {
    const { clock } = this.#options;
    this.#stop.signal.throwIfAborted();
    const late = new AbortController();
    const timer = clock.after(
      wanted.timeout,
      () => late.abort(new Error(`not done within ${wanted.timeout / 1000} s`)),
    );
    try {
      return await this.#attempts(wanted, AbortSignal.any([late.signal, this.#stop.signal]));
    } finally {
      timer();
    }
  }

  async #attempts(wanted: WantedModule, signal: AbortSignal): Promise<CacheEntry> {
    const { clock, attempts, metrics, log } = this.#options;
    for (let made = 1;; made++) {
      try {
        return await this.#attempt(wanted, signal);
      } catch (error) {
        const isTemporary = error instanceof FetchFault && error.isTemporary;
        if (isTemporary && made < attempts && !signal.aborted) {
          log.debug(`attempt ${made}: ${(error as Error).message}`);
          const isOver = await clock.sleep(FIRST_PAUSE * 2 ** (made - 1), signal).then(() => false, () => true);
          if (!isOver) continue;
        }
        const result = error instanceof FetchFault ? error.failure : "fetch_failure";
        metrics.counter("wasm_remote_fetch_count").inc({ result });
        throw made === 1 ? error : new Error(`${(error as Error).message} (${made} attempts)`, { cause: error });
      }
    }
  }

  async #attempt(wanted: WantedModule, signal: AbortSignal): Promise<CacheEntry> {
    const module = await this.#options.fetch(wanted, signal);
    const pinned = pinnedChecksum(wanted);
    const [digest] = module.digests;
    if (digest !== undefined) {
      // An index is known by its own digest, and by that of the image in it.
      if (pinned !== undefined && !module.digests.includes(pinned)) throw mismatch(wanted, digest);
      const known = await this.#lookUp((now) => this.#entries.use(wanted, pinned ?? digest, now));
      if (known !== undefined) return known;
    }
    const written = await this.#files.write(module.content());
    try {
      if (digest === undefined && pinned !== undefined && pinned !== written.sha256) {
        throw mismatch(wanted, written.sha256);
      }
      const checksum = pinned ?? digest ?? written.sha256;
      const kept = this.#keeping.then(() => this.#keep(wanted, written, checksum));
      this.#keeping = kept.catch(() => {/* the fetch has it */});
      return await kept;
    } catch (error) {
      await this.#files.drop(written.path);
      throw error;
    }
  }

  async #keep(
    wanted: WantedModule,
    written: Parameters<ModuleFiles["keep"]>[0],
    checksum: string,
  ): Promise<CacheEntry> {
    const { maxBytes = MAX_CACHE_BYTES, clock, metrics, log } = this.#options;
    const name = moduleName(wanted.url);
    const { size } = written;
    if (size > maxBytes) {
      throw new FetchFault(
        `${shownUrl(wanted.url)} has ${size} bytes, and the cache takes ${maxBytes}`,
        "fetch_failure",
      );
    }
    await this.#dropAll(this.#entries.takeOldest(size, maxBytes));
    const entry = {
      name,
      checksum,
      size,
      lastUsed: clock.now(),
      path: await this.#files.keep(written, name, checksum),
    };
    this.#entries.add(wanted, entry);
    metrics.counter("wasm_remote_fetch_count").inc({ result: "success" });
    metrics.gauge("wasm_cache_entries").set(this.#entries.size);
    log.info("a Wasm module is in the cache", { url: shownUrl(wanted.url), sha256: written.sha256, bytes: size });
    return entry;
  }

  #purgeLater(): Cancel {
    const { clock, purgeInterval, expiry } = this.#options;
    return clock.after(purgeInterval, () => {
      this.#purge = this.#purgeLater();
      this.#keeping = this.#keeping.then(() => this.#dropAll(this.#entries.takeUnused(clock.now() - expiry)));
    });
  }

  async #dropAll(entries: readonly CacheEntry[]): Promise<void> {
    const { metrics, log } = this.#options;
    for (const { path, name } of entries) {
      await this.#files.drop(path);
      log.debug("a Wasm module is dropped", { name: shownUrl(name) });
    }
    metrics.gauge("wasm_cache_entries").set(this.#entries.size);
  }
}

function mismatch({ url, checksum }: WantedModule, found: string): FetchFault {
  return new FetchFault(`${shownUrl(url)} has the digest ${found}, expected ${checksum}`, "checksum_mismatched");
}
