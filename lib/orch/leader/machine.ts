/**
 * The states of one elector, without any input and output.
 *
 *     follows ──nobody holds the lock, or its holder is silent for 30 s──> leads ──15 s without a renewal──> follows
 *        └─────our revision goes first──> holds, and waits until the one before must have stopped ──> leads
 *
 * Times are milliseconds of one monotonic clock of this machine. Times that another machine wrote into the lock are
 * only compared with earlier times of the same machine. A leader counts its 15 s from the sending of a renewal;
 * followers count their 30 s from the moment at which they saw the renewal. So clocks may run up to a third faster or
 * slower than each other.
 *
 * @module
 */
import type { LockRecord, ReadLock } from "./record.ts";

/** Times of an election, milliseconds (the specification's 30 s, 15 s and 7.5 s). */
export const ELECTION_TIMES = {
  /** Silence of a holder after which other candidates may take the lock. */
  lease: 30_000,
  /** Time for which a holder leads after its last renewal. */
  lead: 15_000,
  /** Time between two attempts to hold, or to renew. */
  retry: 7_500,
} as const;

/** Most milliseconds that a record may ask other candidates to wait: a wrong record must not stop a duty forever. */
const LONGEST_LEASE = 600_000;

/** A candidate in an election. */
export interface Candidate {
  /** Different from every other process, present or past. */
  readonly identity: string;
  /** The revision, or empty. */
  readonly key: string;
  /** Whether this candidate has precedence over a live holder with the key. Default: never. */
  readonly goesBefore?: (key: string) => boolean;
}

export class ElectionMachine {
  readonly #candidate: Candidate;
  /** The lock as it was last read or written; undefined: the lock does not exist, or was not read yet. */
  #seen: ReadLock | undefined;
  /** Whether `#seen` may still be the lock in the API. */
  #fresh = false;
  /** Another candidate may lead until then. */
  #othersUntil = 0;
  /** This candidate holds the lock until then. */
  #holdsUntil = 0;

  constructor(candidate: Candidate) {
    this.#candidate = candidate;
  }

  /** The holder of the lock, as far as is known; undefined: none. */
  get holder(): LockRecord | undefined {
    const record = this.#seen?.record;
    return record?.holder === "" ? undefined : record;
  }

  /** The lock to overwrite; undefined: the lock must be created. */
  get seen(): ReadLock | undefined {
    return this.#seen;
  }

  /** Whether a renewal needs no reading before. */
  get renewable(): boolean {
    return this.#fresh && this.#seen?.record?.holder === this.#candidate.identity;
  }

  /** Whether the candidate leads. */
  leads(now: number): boolean {
    return now >= this.#othersUntil && now < this.#holdsUntil;
  }

  /** When {@linkcode leads} changes if nothing happens. For a time in the past, `leads` does not change. */
  nextChange(now: number): number {
    return now < this.#othersUntil ? this.#othersUntil : this.#holdsUntil;
  }

  /**
   * Takes the lock that was read.
   *
   * @param lock Undefined: the lock does not exist.
   * @param now When the answer had arrived.
   * @returns whether to write the lock now: this candidate holds the lock, the lock is free, or this candidate has
   * precedence over the holder
   */
  read(lock: ReadLock | undefined, now: number): boolean {
    const before = this.#seen;
    this.#seen = lock;
    this.#fresh = true;
    const record = lock?.record;
    // A lock without a record, or a removed lock, had a holder who cannot know that yet. Only if the object never
    // existed, as at the very first start, is there no holder to wait for.
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

  /** Takes the written record. @param sent When the write was sent, which is before the record was in force */
  written(lock: ReadLock, sent: number): void {
    this.#seen = lock;
    this.#fresh = true;
    this.#holdsUntil = sent + ELECTION_TIMES.lead;
  }

  /** A write met another write, or its outcome is not known. The lock must be read before the next write. */
  failed(): void {
    this.#fresh = false;
  }

  /**
   * The record that gives the lock back after all work of the leader has ended. Undefined: another candidate holds the
   * lock, or the previous leader may still lead.
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
