/**
 * Stands for election under one lock, again and again, and leads while elected.
 *
 * Permissions: the permissions of the client. Rights at the API: `get`, `create` and `update` of config maps or leases
 * in the namespace.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { ApiError, asApiError } from "../client/api_error.ts";
import type { ApiClient } from "../client/client.ts";
import { outageOf } from "../client/outage.ts";
import { createObject, getObject, type ObjectPlace, replaceObject } from "../resources/objects.ts";
import { LOCK_RESOURCES, lockForm, type LockName } from "./locks.ts";
import { type Candidate, ELECTION_TIMES, ElectionMachine } from "./machine.ts";
import { type LockRecord, readLock, writeLock } from "./record.ts";

export interface ElectionOptions extends Candidate {
  readonly lock: LockName;
  /** Where the lock is. */
  readonly namespace: string;
  readonly log: Logger;
  /** From 0 to 1. Default: the runtime's. */
  readonly random?: () => number;
}

/** Does the work of a leader until the signal aborts. Resolves when the work has stopped. */
export type Lead = (signal: AbortSignal) => Promise<void>;

/** Attempts in a row when other writes come between. */
const TRIES = 3;

/** Random part of the time between two attempts, so that followers do not ask together. */
const JITTER = 0.2;

/** Time for a leader to stop its work before other servers may lead, milliseconds. */
const STOP_MS = ELECTION_TIMES.lease - ELECTION_TIMES.lead;

/** Time for a leader to stop its work before it gives the lock back at the end of the server, milliseconds. */
const HAND_OVER_MS = 8000;

export class Election {
  readonly options: ElectionOptions;
  readonly #client: ApiClient;
  readonly #clock: Clock;
  readonly #machine: ElectionMachine;
  readonly #place: ObjectPlace;
  readonly #random: () => number;
  #trouble: string | undefined;

  constructor(client: ApiClient, options: ElectionOptions) {
    this.options = options;
    this.#client = client;
    this.#clock = client.clock;
    const form = lockForm(options.lock);
    const { identity, key, goesBefore } = options;
    // A lease does not name its holder's revision, so no candidate has precedence.
    this.#machine = new ElectionMachine({ identity, key, ...form === "Lease" || !goesBefore ? {} : { goesBefore } });
    const resource = LOCK_RESOURCES[form];
    this.#place = { resource, namespace: options.namespace, name: options.lock };
    this.#random = options.random ?? Math.random;
  }

  /** Whether this candidate leads now. */
  get leads(): boolean {
    return this.#machine.leads(this.#clock.monotonic());
  }

  /** The holder of the lock as of the last read; undefined: no holder is known. */
  get holder(): LockRecord | undefined {
    return this.#machine.holder;
  }

  /** Why the lock cannot be read or written; undefined: there is no trouble. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /**
   * Stands for election until `stop` aborts. Then the leader's work is ended, and the lock is given back.
   *
   * @param lead Begun with each term. Its signal aborts when the term ends: at most 15 s after the last renewal, and at
   * least 15 s before another candidate may lead.
   */
  async run(lead: Lead, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      await this.#attempt(stop);
      if (this.leads) await this.#term(lead, stop);
      else await this.#clock.sleep(this.#pause(), stop).catch(() => {});
    }
    outageOf(this.#client).leaves(this);
  }

  /** Milliseconds until the next attempt of a follower. */
  #pause(): number {
    const now = this.#clock.monotonic();
    const left = this.#machine.nextChange(now) - now;
    const usual = ELECTION_TIMES.retry * (1 + JITTER * this.#random());
    return left > 0 ? Math.min(usual, left) : usual;
  }

  async #term(lead: Lead, stop: AbortSignal): Promise<void> {
    const { log, lock } = this.options;
    log.info("leads", { lock });
    const term = new AbortController();
    const end = (why: string) => term.abort(new Error(`leadership of ${lock}: ${why}`));
    const stopped = () => end("the server stops");
    stop.addEventListener("abort", stopped, { once: true });
    if (stop.aborted) stopped();
    const led = lead(term.signal).catch((error: unknown) =>
      log.error("a duty of the leader has failed", { lock, error })
    );
    while (!term.signal.aborted) {
      const now = this.#clock.monotonic();
      const cancel = this.#clock.after(Math.max(0, this.#machine.nextChange(now) - now), () => {
        if (!this.leads) end("the lock was not renewed in time");
      });
      await this.#clock.sleep(ELECTION_TIMES.retry, term.signal).catch(() => {});
      if (!term.signal.aborted) await this.#attempt(term.signal);
      cancel();
      if (!this.leads) end(`${this.holder?.holder ?? "nobody"} holds it`);
    }
    stop.removeEventListener("abort", stopped);
    log.info("leads no more", { lock, why: (term.signal.reason as Error).message });
    await this.#ended(led, stop);
  }

  /** Waits until the work of the last term has ended: a server is not a candidate while its work may still write. */
  async #ended(led: Promise<void>, stop: AbortSignal): Promise<void> {
    const { log, lock } = this.options;
    let over = false;
    const all = led.then(() => void (over = true));
    const ms = stop.aborted ? HAND_OVER_MS : STOP_MS;
    const late = new AbortController();
    await Promise.race([all, this.#clock.sleep(ms, late.signal).catch(() => {})]);
    late.abort();
    if (!over) log.error("a duty of the leader goes on after its term", { lock, afterMs: ms });
    if (!stop.aborted) await all;
    else if (over) await this.#release();
  }

  /** Gives the lock back, so that the next leader need not wait. After a failure the lock expires by itself. */
  async #release(): Promise<void> {
    try {
      if (!this.#machine.renewable) await this.#read(undefined);
      const record = this.#machine.released(this.#wall, this.#clock.monotonic());
      const { seen } = this.#machine;
      if (record === undefined || seen === undefined) return;
      const body = writeLock(lockForm(this.options.lock), record, seen.object);
      await this.#asked(undefined, (call) => replaceObject(this.#client, this.#place, seen.version, body, call));
    } catch (error) {
      this.#failed(asApiError(error, `giving back ${this.options.lock}`));
    }
  }

  /** Reads the lock if needed, and writes the lock if the candidate may take or renew it. Never throws. */
  async #attempt(signal: AbortSignal): Promise<void> {
    for (let tries = 1; tries <= TRIES && !signal.aborted; tries++) {
      try {
        if (this.#machine.renewable || await this.#read(signal)) await this.#write(signal);
        this.#works();
        return;
      } catch (error) {
        this.#machine.failed();
        const failure = asApiError(error, `lock ${this.options.lock}`);
        const again = failure instanceof ApiError && (failure.conflict || failure.status === 404) && tries < TRIES;
        if (!again && !signal.aborted) this.#failed(failure);
        if (!again) return;
      }
    }
  }

  async #read(signal: AbortSignal | undefined): Promise<boolean> {
    const object = await this.#asked(signal, (call) => getObject(this.#client, this.#place, call));
    const lock = object === undefined ? undefined : readLock(lockForm(this.options.lock), object);
    return this.#machine.read(lock, this.#clock.monotonic());
  }

  async #write(signal: AbortSignal): Promise<void> {
    const form = lockForm(this.options.lock);
    const { seen } = this.#machine;
    const body = writeLock(form, this.#machine.record(this.#wall), seen?.object);
    const sent = this.#clock.monotonic();
    const object = await this.#asked(
      signal,
      (call) =>
        seen === undefined
          ? createObject(this.#client, this.#place, body, call)
          : replaceObject(this.#client, this.#place, seen.version, body, call),
    );
    this.#machine.written(readLock(form, object), sent);
  }

  /** One request, limited to the time between two attempts. The client's rate limit does not apply. */
  async #asked<T>(
    signal: AbortSignal | undefined,
    ask: (call: { readonly signal: AbortSignal; readonly unlimited: true }) => Promise<T>,
  ): Promise<T> {
    const late = new AbortController();
    const ms = ELECTION_TIMES.retry;
    const cancel = this.#clock.after(ms, () => late.abort(new Error(`no whole answer within ${ms / 1000} s`)));
    try {
      return await ask({
        signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
        unlimited: true,
      });
    } finally {
      cancel();
    }
  }

  get #wall(): string {
    return new Date(this.#clock.now()).toISOString();
  }

  /** An outage of the API is logged as one line for all users of the client. Other lasting trouble is logged once. */
  #failed(error: ApiError): void {
    const { log, lock } = this.options;
    const before = this.#trouble;
    this.#trouble = error.message;
    if (error.transient) return outageOf(this.#client).fails(this, error, log, { lock });
    if (before === error.message) return;
    log.warn("a lock of the leader election cannot be used; the server tries again", { lock, why: error.message });
  }

  #works(): void {
    this.#trouble = undefined;
    const { log, lock } = this.options;
    outageOf(this.#client).works(this, log, { lock });
  }
}
