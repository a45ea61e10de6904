/**
 * The progress of routes at services, on the proxies of this server with a resource that is made from the route.
 *
 * The proxies are counted after a change, in steps, and for at most a tenth of the time: soon when a route has changed,
 * because its status waits a moment for the count. Without routes at services nothing is counted.
 *
 * @module
 */
import { isRequestRoute } from "../../gateway_api/groups/judged.ts";
import type { ApiRoute } from "../../gateway_api/attach/types.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import type { Logger } from "../../kernel/log/log.ts";
import { paced } from "../../kernel/time/paced.ts";
import type { ObjectProgress } from "../../status/progress.ts";
import { type CountedProxy, ProgressRows } from "./progress_rows.ts";

/** Inputs of the count. */
export interface MeshRouteParts {
  readonly routes: () => Iterable<ApiRoute>;
  readonly proxies: () => Iterable<CountedProxy>;
  readonly changedIn: (key: string) => number | undefined;
  readonly isPushed: (route: ApiRoute) => boolean;
  /** Changes when a count may have another result. */
  readonly revision: () => string;
  readonly clock: Clock;
  /** Shortest time between two counts, milliseconds. */
  readonly interval: number;
  readonly log: Logger;
}

/** Shortest time between two counts after a change of a route, milliseconds. */
const SOON_MS = 50;

/** For how long after a change of a route the counts come soon, milliseconds: until most proxies have the change. */
const HURRY_MS = 2000;

export class MeshRouteRows {
  readonly #parts: MeshRouteParts;
  readonly #counter = new ProgressRows((key) => key.startsWith("HTTPRoute/") || key.startsWith("GRPCRoute/"));
  readonly #stop = new AbortController();
  #rows: ReadonlyMap<string, ObjectProgress> = new Map();
  #changed = new Set<string>();
  #running: Promise<void> | undefined;
  /** Aborts when a route has changed. */
  #hurry = new AbortController();
  #hurryUntil = -Infinity;
  /** Increases with each changed row. */
  revision = 0;

  constructor(parts: MeshRouteParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("stopped"));
    await this.#running;
  }

  /** A route has changed: the next counts come soon. */
  hurry(): void {
    this.#hurryUntil = this.#parts.clock.monotonic() + HURRY_MS;
    this.#hurry.abort(new Error("a route has changed"));
  }

  /** The progress of a version of a route; undefined: it was not counted yet. */
  row({ key, meta: { generation = 0 } }: ApiRoute): ObjectProgress | undefined {
    const found = this.#rows.get(key);
    return found?.generation === generation ? found : undefined;
  }

  /** Keys of routes whose rows have changed since the last call. */
  take(): ReadonlySet<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  async #run(): Promise<void> {
    const { clock, revision, log } = this.#parts;
    const { signal } = this.#stop;
    let [seen, rest] = ["", 0];
    while (!signal.aborted) {
      await this.#pause(rest);
      if (signal.aborted) return;
      const began = clock.monotonic();
      const now = revision();
      try {
        if (now !== seen) this.#learn(await this.#count(signal));
        seen = now;
      } catch (error) {
        if (!signal.aborted) log.warn("the proxies of routes were not counted; there will be another count", { error });
      }
      rest = 9 * (clock.monotonic() - began);
    }
  }

  /** Waits for the next count. @param rest Shortest wait, milliseconds. */
  async #pause(rest: number): Promise<void> {
    const { clock, interval } = this.#parts;
    const { signal } = this.#stop;
    const began = clock.monotonic();
    if (began >= this.#hurryUntil) {
      this.#hurry = new AbortController();
      await clock.sleep(Math.max(interval, rest), AbortSignal.any([signal, this.#hurry.signal])).catch(() => {});
      if (clock.monotonic() >= this.#hurryUntil) return;
    }
    await clock.sleep(Math.max(SOON_MS, rest + began - clock.monotonic()), signal).catch(() => {});
  }

  async #count(signal: AbortSignal): Promise<ReadonlyMap<string, ObjectProgress>> {
    const { routes, proxies, changedIn, isPushed } = this.#parts;
    // No resource names a route before the push of its first version.
    const pushed = [...new Set(routes())].filter((route) => isRequestRoute(route) && isPushed(route));
    const counted = pushed.map(({ key, meta: { generation = 0 } }) => ({
      ...{ key, generation, changedIn: changedIn(key) ?? 0, isWaiting: false, everywhere: false },
    }));
    return counted.length === 0 ? new Map() : await paced(this.#counter.count(counted, proxies()), { signal });
  }

  #learn(rows: ReadonlyMap<string, ObjectProgress>): void {
    for (const key of new Set([...rows.keys(), ...this.#rows.keys()])) {
      if (JSON.stringify(rows.get(key)) === JSON.stringify(this.#rows.get(key))) continue;
      this.#changed.add(key);
      this.revision++;
    }
    this.#rows = rows;
  }
}
