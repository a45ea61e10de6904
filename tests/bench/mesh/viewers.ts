/**
 * Viewers of a server's pages: loaded pages, and overviews that stay open.
 *
 * Permissions: net (loopback).
 *
 * @module
 */

/** Headers of a browser. */
const BROWSER = { accept: "text/html" };

/** The cost of loading a page. */
export interface PageLoad {
  readonly path: string;
  readonly ms: number;
  readonly bytes: number;
}

/**
 * Loads a page several times.
 *
 * @returns The median load by time.
 * @throws When the answer is not a page.
 */
export async function loadPage(base: string, path: string, times: number): Promise<PageLoad> {
  const loads: PageLoad[] = [];
  for (let i = 0; i < times; i++) {
    const started = performance.now();
    const response = await fetch(`${base}${path}`, { headers: BROWSER });
    const bytes = (await response.arrayBuffer()).byteLength;
    if (!response.ok) throw new Error(`${path}: status ${response.status}`);
    loads.push({ path, ms: performance.now() - started, bytes });
  }
  return loads.sort((a, b) => a.ms - b.ms)[times >> 1]!;
}

/**
 * The first matching link of a page.
 *
 * @throws Without a matching link.
 */
export async function linkOn(base: string, path: string, pattern: RegExp): Promise<string> {
  const text = await (await fetch(`${base}${path}`, { headers: BROWSER })).text();
  const link = pattern.exec(text)?.[1];
  if (link === undefined) throw new Error(`${path}: no link ${pattern}`);
  return link.replaceAll("&#38;", "&");
}

/** Open overviews that receive events. */
export class OpenOverviews {
  readonly #stop = new AbortController();
  readonly #reading: Promise<void>[] = [];
  /** Bytes of events so far. */
  bytes = 0;

  /** Opens overviews. Resolves when each has received its first event. */
  static async open(base: string, count: number): Promise<OpenOverviews> {
    const overviews = new OpenOverviews();
    await Promise.all(Array.from({ length: count }, () => overviews.#view(base)));
    return overviews;
  }

  async #view(base: string): Promise<void> {
    const { signal } = this.#stop;
    const response = await fetch(`${base}/debug/events`, { signal });
    if (!response.ok) throw new Error(`/debug/events: status ${response.status}`);
    const reader = response.body!.getReader();
    const take = async () => {
      const { value, done } = await reader.read();
      this.bytes += value?.length ?? 0;
      return !done;
    };
    await take();
    this.#reading.push((async () => {
      while (!signal.aborted && await take());
    })());
  }

  /** Closes the overviews. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#reading);
  }
}
