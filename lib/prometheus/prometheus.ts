/**
 * Traffic as Prometheus has measured it, for pages that must not wait: an answer is kept, and asked for again beside the
 * page when it is old.
 *
 *     page ──known──> kept answer ──(older than 15 s)──> two queries, beside ──> kept answer
 *
 * Permissions: net (the address of Prometheus).
 *
 * @module
 */
import type { TrafficKnown, TrafficSource } from "../graph/traffic.ts";
import { type FetchLimits, FetchStatusError, fetchText, type TextExchange } from "../kernel/fetch/fetch_text.ts";
import { shownAddress } from "../kernel/fetch/web_address.ts";
import type { Clock } from "../kernel/time/clock.ts";
import { flowsOf, readVector, refusalText } from "./answer.ts";
import { MAX_PAIRS, RATE_WINDOW, trafficQueries } from "./query.ts";

/** Bounds of an answer. */
const LIMITS: FetchLimits = { timeout: 5000, size: 2 * 1024 * 1024 };

/** Age after which an answer is asked for again, ms. Prometheus itself knows nothing newer between two scrapes. */
const KEPT_MS = 15_000;

/** Longest wait of a page for a first answer, ms. */
const PATIENCE_MS = 100;

/** Age after which a measurement is not shown any more, ms. */
const SHOWN_MS = 600_000;

/** Most kept answers, and most answers asked for at a time. */
const MAX_KEPT = 20;
const MAX_ASKED = 2;

/** Longest shown problem, characters. */
const MAX_PROBLEM = 200;

interface KeptAnswer {
  known: TrafficKnown;
  /** Of the last attempt, by the monotonic clock; undefined: none has ended. */
  triedAt: number | undefined;
  asked: Promise<void> | undefined;
}

export class Prometheus implements TrafficSource {
  readonly address: string;
  readonly window = RATE_WINDOW;
  readonly #base: string;
  readonly #clock: Clock;
  readonly #exchange: TextExchange | undefined;
  readonly #kept = new Map<string, KeptAnswer>();
  readonly #end = new AbortController();

  /** @param base Of its HTTP API: `http://HOST:PORT`, with a path if Prometheus has one. */
  constructor(base: string, { clock, exchange }: { readonly clock: Clock; readonly exchange?: TextExchange }) {
    this.#base = base.replace(/\/$/, "");
    this.address = shownAddress(this.#base);
    this.#clock = clock;
    this.#exchange = exchange;
  }

  async known(opened: string | undefined): Promise<TrafficKnown> {
    const kept = this.#keptFor(opened ?? "");
    this.#refresh(kept, opened);
    if (kept.asked !== undefined && !this.#isUseful(kept.known)) {
      const patience = new AbortController();
      const late = this.#clock.sleep(PATIENCE_MS, patience.signal).catch(() => {});
      await Promise.race([kept.asked, late]);
      patience.abort();
    }
    return kept.known;
  }

  /** Whether a page is better shown at once than after a moment. */
  #isUseful(known: TrafficKnown): boolean {
    return known.state === "failed" || known.state === "measured" && this.#clock.now() - known.at < 4 * KEPT_MS;
  }

  /** Ends questions that are under way. */
  async stop(): Promise<void> {
    this.#end.abort();
    await Promise.all(this.#kept.values().map(({ asked }) => asked));
  }

  #keptFor(name: string): KeptAnswer {
    const kept = this.#kept.getOrInsertComputed(name, () => ({
      known: { state: "asked" },
      triedAt: undefined,
      asked: undefined,
    }));
    // The last used answer is the last of the map.
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    for (const [other, { asked }] of this.#kept) {
      if (this.#kept.size <= MAX_KEPT) break;
      if (asked === undefined) this.#kept.delete(other);
    }
    return kept;
  }

  #refresh(kept: KeptAnswer, opened: string | undefined): void {
    const isOld = kept.triedAt === undefined || this.#clock.monotonic() - kept.triedAt >= KEPT_MS;
    const asked = this.#kept.values().filter((one) => one.asked !== undefined);
    if (!isOld || kept.asked !== undefined || this.#end.signal.aborted || asked.toArray().length >= MAX_ASKED) return;
    kept.asked = this.#ask(opened).then(
      (known) => kept.known = known,
      (error: Error) => kept.known = this.#afterProblem(kept.known, error.message),
    ).then(() => {
      kept.triedAt = this.#clock.monotonic();
      kept.asked = undefined;
    });
  }

  async #ask(opened: string | undefined): Promise<TrafficKnown> {
    const queries = trafficQueries(opened);
    const [requests, errors] = await Promise.all([this.#query(queries.requests), this.#query(queries.errors)]);
    return {
      state: "measured",
      at: this.#clock.now(),
      flows: flowsOf(requests, errors),
      isCut: requests.length >= MAX_PAIRS,
    };
  }

  async #query(query: string) {
    const asked = new URLSearchParams({ query, timeout: `${LIMITS.timeout}ms` });
    const url = `${this.#base}/api/v1/query?${asked}`;
    const exchange = this.#exchange === undefined ? {} : { exchange: this.#exchange };
    try {
      return readVector(await fetchText(url, LIMITS, { signal: this.#end.signal, ...exchange }));
    } catch (error) {
      throw new Error(problemText(error as Error, url));
    }
  }

  /** A measurement stays for some minutes, and is said to be old. */
  #afterProblem(known: TrafficKnown, problem: string): TrafficKnown {
    return known.state === "measured" && this.#clock.now() - known.at < SHOWN_MS
      ? { ...known, problem }
      : { state: "failed", problem };
  }
}

/** A short sentence without the address and the query. */
function problemText(error: Error, url: string): string {
  const said = error instanceof FetchStatusError ? refusalText(error.body) : undefined;
  const text = error.message.startsWith(`${url}: `) ? error.message.slice(url.length + 2) : error.message;
  const whole = said === undefined ? text : `${text}: ${said}`;
  return whole.length > MAX_PROBLEM ? `${whole.slice(0, MAX_PROBLEM)}...` : whole;
}
