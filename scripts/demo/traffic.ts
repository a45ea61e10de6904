/**
 * Requests through the mesh, counted.
 *
 * Permissions: net (loopback).
 *
 * @module
 */

/** Counts of answers by version, and of failures. */
export interface Counts {
  readonly versions: Record<string, number>;
  failed: number;
}

/** Sends requests to an address until stopped. */
export class Traffic {
  readonly #url: string;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<(version: string | undefined) => void>();
  #counts: Counts = { versions: {}, failed: 0 };
  #running: Promise<void> = Promise.resolve();

  constructor(port: number) {
    this.#url = `http://127.0.0.1:${port}/`;
  }

  /** Begins, with a small pause between requests. */
  start(): void {
    this.#running = this.#run();
  }

  /** Ends; resolves when no request is under way. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** The counts since the last call. */
  take(): Counts {
    const counts = this.#counts;
    this.#counts = { versions: {}, failed: 0 };
    return counts;
  }

  /** Resolves with the counts of the next `count` answers. */
  sample(count: number): Promise<Counts> {
    const counts: Counts = { versions: {}, failed: 0 };
    const { promise, resolve } = Promise.withResolvers<Counts>();
    let left = count;
    const listener = (version: string | undefined) => {
      tally(counts, version);
      if (--left > 0) return;
      this.#listeners.delete(listener);
      resolve(counts);
    };
    this.#listeners.add(listener);
    return promise;
  }

  /** Resolves when a version answers for the first time from now on. */
  until(version: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const listener = (seen: string | undefined) => {
      if (seen !== version) return;
      this.#listeners.delete(listener);
      resolve();
    };
    this.#listeners.add(listener);
    return promise;
  }

  /** Resolves when a version has answered so many requests in a row. */
  streak(version: string, length: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let run = 0;
    const listener = (seen: string | undefined) => {
      run = seen === version ? run + 1 : 0;
      if (run < length) return;
      this.#listeners.delete(listener);
      resolve();
    };
    this.#listeners.add(listener);
    return promise;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const version = await request(this.#url);
      tally(this.#counts, version);
      for (const listener of [...this.#listeners]) listener(version);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}

function tally(counts: Counts, version: string | undefined): void {
  if (version === undefined) counts.failed++;
  else counts.versions[version] = (counts.versions[version] ?? 0) + 1;
}

/** Sends a request. Returns the version of the answer, or undefined. */
export async function request(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url);
    await response.body?.cancel();
    return response.headers.get("x-version") ?? undefined;
  } catch {
    return undefined;
  }
}
