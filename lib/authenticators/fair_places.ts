/**
 * Places for questions that strangers cause. The number of concurrent questions is limited. Further questions wait in
 * lines, one line for each group of addresses. The groups take turns, so a group that asks without end delays only
 * itself. A group with recent questions in vain comes after the other groups.
 *
 * @module
 */

/** Most concurrent questions in all: strangers must not use up the judge's request rate. */
export const MOST_ASKED = 32;

/** Most concurrent questions of one group: places stay free for the next caller. */
export const MOST_OF_GROUP = 16;

/**
 * Most waiting questions of one group. A question is of use for some seconds only, so more questions would wait in
 * vain.
 */
export const MOST_WAITING_OF_GROUP = 256;

/** Most waiting questions in all. They hold some MB of memory at most. */
export const MOST_WAITING = 1024;

/** Milliseconds for which a question in vain counts against its group. */
const REMEMBERED_MS = 10_000;

/** Most remembered groups with questions in vain. */
const MOST_REMEMBERED = 10_000;

/**
 * Every fourth turn goes to a group with questions in vain, so that such groups are not shut out: honest callers may
 * share their address.
 */
const TURNS = 4;

/** How many questions are asked at a time, and wait. */
export interface PlaceLimits {
  /** Concurrent questions in all; default {@linkcode MOST_ASKED}. */
  readonly asked?: number;
  /** Concurrent questions of one group; default {@linkcode MOST_OF_GROUP}. */
  readonly ofGroup?: number;
  /** Waiting questions of one group; default {@linkcode MOST_WAITING_OF_GROUP}. */
  readonly waitingOfGroup?: number;
  /** Waiting questions in all; default {@linkcode MOST_WAITING}. */
  readonly waiting?: number;
}

/** A waiting question. */
interface Waiting {
  readonly group: string;
  readonly begin: () => void;
  readonly refuse: () => void;
}

/** The questions of a group, the oldest first. */
type WaitingLine = Set<Waiting>;

export class FairPlaces {
  readonly #monotonic: () => number;
  readonly #limits: Required<PlaceLimits>;
  /** Questions under way, by group. */
  readonly #asked = new Map<string, number>();
  #allAsked = 0;
  /** Lines by group, in the order of the next turns. A group has a line in one of the two maps. */
  readonly #good = new Map<string, WaitingLine>();
  readonly #vain = new Map<string, WaitingLine>();
  #allWaiting = 0;
  #turn = 0;
  /** Until when questions in vain count against a group. */
  readonly #remembered = new Map<string, number>();

  /** @param monotonic Milliseconds of a monotonic clock. */
  constructor(monotonic: () => number, limits: PlaceLimits = {}) {
    this.#monotonic = monotonic;
    this.#limits = {
      ...{ asked: MOST_ASKED, ofGroup: MOST_OF_GROUP, waitingOfGroup: MOST_WAITING_OF_GROUP, waiting: MOST_WAITING },
      ...limits,
    };
  }

  /**
   * Waits for a place. The caller must give the place back with {@linkcode leave}.
   *
   * @param group Group of the caller's address.
   * @throws the signal's reason when it aborts first, RangeError when too many questions wait
   */
  async enter(group: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#hasPlace(group) && this.#lineOf(group) === undefined) return this.#take(group);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const one: Waiting = { group, begin: resolve, refuse: () => reject(new RangeError("too many wait")) };
    this.#wait(one);
    const aborted = () => {
      if (this.#forget(one)) reject(signal.reason);
    };
    signal.addEventListener("abort", aborted, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", aborted);
    }
  }

  /** A question of the group is over. */
  leave(group: string): void {
    const left = this.#asked.get(group)! - 1;
    if (left === 0) this.#asked.delete(group);
    else this.#asked.set(group, left);
    this.#allAsked--;
    this.#next();
  }

  /** A question of the group was in vain. */
  inVain(group: string): void {
    this.#remembered.delete(group);
    this.#remembered.set(group, this.#monotonic() + REMEMBERED_MS);
    if (this.#remembered.size > MOST_REMEMBERED) this.#remembered.delete(this.#remembered.keys().next().value!);
    const line = this.#good.get(group);
    if (line === undefined) return;
    this.#good.delete(group);
    this.#vain.set(group, line);
  }

  #hasPlace(group: string): boolean {
    return this.#allAsked < this.#limits.asked && (this.#asked.get(group) ?? 0) < this.#limits.ofGroup;
  }

  #take(group: string): void {
    this.#asked.set(group, (this.#asked.get(group) ?? 0) + 1);
    this.#allAsked++;
  }

  #lineOf(group: string): WaitingLine | undefined {
    return this.#good.get(group) ?? this.#vain.get(group);
  }

  /** Adds a question to the lines. When too many questions wait, the oldest question of the longest line is refused. */
  #wait(one: Waiting): void {
    const { group } = one;
    const line = this.#lineOf(group);
    if (line !== undefined && line.size >= this.#limits.waitingOfGroup) this.#refuseOldest(line);
    else if (this.#allWaiting >= this.#limits.waiting) this.#refuseOldest(this.#longest());
    // The line may have ended just now.
    const present = this.#lineOf(group);
    if (present !== undefined) present.add(one);
    else (this.#isInVain(group) ? this.#vain : this.#good).set(group, new Set([one]));
    this.#allWaiting++;
  }

  #isInVain(group: string): boolean {
    return (this.#remembered.get(group) ?? -Infinity) > this.#monotonic();
  }

  #longest(): WaitingLine {
    let longest: WaitingLine | undefined;
    for (const lines of [this.#vain, this.#good]) {
      for (const line of lines.values()) if (longest === undefined || line.size > longest.size) longest = line;
    }
    return longest!;
  }

  #refuseOldest(line: WaitingLine): void {
    const [oldest] = line;
    this.#forget(oldest!);
    oldest!.refuse();
  }

  /** Takes a question out of its line; false: the question does not wait any more. */
  #forget(one: Waiting): boolean {
    const line = this.#lineOf(one.group);
    if (line === undefined || !line.delete(one)) return false;
    this.#allWaiting--;
    if (line.size === 0) {
      this.#good.delete(one.group);
      this.#vain.delete(one.group);
    }
    return true;
  }

  /** Gives free places to waiting questions. */
  #next(): void {
    while (this.#allAsked < this.#limits.asked) {
      const isTurnOfVain = ++this.#turn % TURNS === 0;
      const [first, second] = isTurnOfVain ? [this.#vain, this.#good] : [this.#good, this.#vain];
      if (!this.#beginOne(first) && !this.#beginOne(second)) return;
    }
  }

  /**
   * Begins the oldest question of the first group with a free place. The group's next turn comes after all other
   * groups.
   */
  #beginOne(lines: Map<string, WaitingLine>): boolean {
    for (const [group, line] of lines) {
      if (!this.#hasPlace(group)) continue;
      const [oldest] = line;
      lines.delete(group);
      lines.set(group, line);
      this.#forget(oldest!);
      this.#take(group);
      oldest!.begin();
      return true;
    }
    return false;
  }
}
