/**
 * The states of one elector, apart from all input and output.
 *
 *     follows ──nobody holds the lock, or its holder is silent for 30 s──> leads ──15 s without a renewal──> follows
 *        └─────our revision goes first──> holds, and waits until the one before must have stopped ──> leads
 *
 * Times are milliseconds of one monotonic clock, this machine's: times that another machine wrote into the lock are
 * only compared with those that it wrote before. A leader counts its 15 s from before it asked for the renewal, and the
 * others their 30 s from when they have seen it, so that clocks may run up to a third faster or slower than each other.
 *
 * @module
 */
import type { LockRecord, ReadLock } from "./record.ts";

/** Times of an election, milliseconds (the specification's 30 s, 15 s and 7.5 s). */
export const ELECTION_TIMES = {
  /** Silence of a holder after which others may take the lock. */
  lease: 30_000,
  /** Time after its last renewal in which a holder leads. */
  lead: 15_000,
  /** Time between two attempts to hold, or to renew. */
  retry: 7_500,
} as const;

/** The longest that a record may ask others to wait: a mistaken one must not stop a duty for ever, milliseconds. */
const LONGEST_LEASE = 600_000;

/** A candidate in an election. */
export interface Candidate {
  /** Of no other process, now or before. */
  readonly identity: string;
  /** The revision, or empty. */
  readonly key: string;
  /** Whether this candidate goes before a holder with that key, though it lives. Default: never. */
  readonly goesBefore?: (key: string) => boolean;
}

export class ElectionMachine {
  readonly #candidate: Candidate;
  /** The lock as it was read or written last; undefined: there is none, or none was read yet. */
  #seen: ReadLock | undefined;
  /** Whether `#seen` may still be the lock in the API. */
  #fresh = false;
  /** Another one may lead until then. */
  #othersUntil = 0;
  /** The lock is ours until then. */
  #holdsUntil = 0;

  constructor(candidate: Candidate) {
    this.#candidate = candidate;
  }

  /** The holder of the lock, as far as is known; undefined: none. */
  get holder(): LockRecord | undefined {
    const record = this.#seen?.record;
    return record?.holder === "" ? undefined : record;
  }

  /** The lock to write over; undefined: it has to be made. */
  get seen(): ReadLock | undefined {
    return this.#seen;
  }

  /** Whether a renewal needs no reading before. */
  get renewable(): boolean {
    return this.#fresh && this.#seen?.record?.holder === this.#candidate.identity;
  }

  /** Whether this one leads. */
  leads(now: number): boolean {
    return now >= this.#othersUntil && now < this.#holdsUntil;
  }

  /** When {@linkcode leads} changes if nothing happens; a time in the past: it does not. */
  nextChange(now: number): number {
    return now < this.#othersUntil ? this.#othersUntil : this.#holdsUntil;
  }

  /**
   * Takes the lock that was read.
   *
   * @param lock Undefined: there is none.
   * @param now When the answer had come.
   * @returns whether the lock is to be written now: because it is ours, is free, or we go before its holder
   */
  read(lock: ReadLock | undefined, now: number): boolean {
    const before = this.#seen;
    this.#seen = lock;
    this.#fresh = true;
    const record = lock?.record;
    // A lock without a record, or one that is gone, had a holder who cannot know that yet. Only where there never was an
    // object, as at the first start of all, nobody is waited for.
    if (record === undefined) {
      const hadHolder = lock !== undefined || before !== undefined;
      if (hadHolder && now >= this.#holdsUntil) this.#wait(now, ELECTION_TIMES.lease);
      return true;
    }
    if (record.holder === this.#candidate.identity) return true;
    this.#holdsUntil = 0;
    if (record.holder === "") {
      this.#othersUntil = 0;
      return true;
    }
    if (before?.text !== lock?.text) {
      this.#wait(now, Math.min(Math.max(record.seconds * 1000, ELECTION_TIMES.lease), LONGEST_LEASE));
    }
    return now >= this.#othersUntil || (this.#candidate.goesBefore?.(record.key) ?? false);
  }

  /**
   * The record to write.
   *
   * @param wall The time for people, RFC 3339.
   */
  record(wall: string): LockRecord {
    const { identity, key } = this.#candidate;
    const before = this.#seen?.record;
    const ours = before?.holder === identity;
    return {
      ...{ holder: identity, key, seconds: ELECTION_TIMES.lease / 1000, renewed: wall },
      acquired: ours ? before.acquired : wall,
      transitions: before === undefined ? 0 : before.transitions + (ours ? 0 : 1),
    };
  }

  /** The record was written. @param sent When it was sent, which is before it was in force */
  written(lock: ReadLock, sent: number): void {
    this.#seen = lock;
    this.#fresh = true;
    this.#holdsUntil = sent + ELECTION_TIMES.lead;
  }

  /** A write met another one, or it is not known whether it has arrived: the lock is read before the next. */
  failed(): void {
    this.#fresh = false;
  }

  /**
   * The record that gives the lock back, when everything that leaders do has ended; undefined: it is not ours to give, or the
   * one before us may still lead.
   */
  released(wall: string, now: number): LockRecord | undefined {
    const before = this.#seen?.record;
    this.#holdsUntil = 0;
    if (!this.renewable || before === undefined || now < this.#othersUntil) return undefined;
    return { ...before, holder: "", seconds: 1, acquired: wall, renewed: wall };
  }

  #wait(now: number, ms: number): void {
    this.#othersUntil = Math.max(this.#othersUntil, now + ms);
  }
}
