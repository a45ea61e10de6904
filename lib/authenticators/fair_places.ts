/**
 * Places for questions that strangers cause: so many at a time, and the others wait in lines by the group of addresses
 * that they come from. The groups take turns, so a group that asks without end delays itself. A group whose questions were
 * in vain of late comes after the groups whose questions were not.
 *
 * @module
 */

/** Most questions at a time in all: whoever asks must not use up the rate at which the judge may be asked. */
export const MOST_ASKED = 32;

/** Most questions of one group at a time: places are left for a caller that comes next. */
export const MOST_OF_GROUP = 16;

/** Most questions of one group that wait: more would have waited in vain, since a question is worth some seconds. */
export const MOST_WAITING_OF_GROUP = 256;

/** Most questions that wait in all, so that whoever asks holds some MB of memory at most. */
export const MOST_WAITING = 1024;

/** How long a question in vain counts against its group, milliseconds. */
const REMEMBERED_MS = 10_000;

/** Most groups of which it is remembered. */
const MOST_REMEMBERED = 10_000;

/** Of so many turns the groups that asked in vain have one, so that they are not shut out: good callers may share theirs. */
const TURNS = 4;

/** How many questions are asked at a time, and wait. */
export interface PlaceLimits {
  /** At a time in all; default {@linkcode MOST_ASKED}. */
  readonly asked?: number;
  /** At a time of one group; default {@linkcode MOST_OF_GROUP}. */
  readonly ofGroup?: number;
  /** That wait, of one group; default {@linkcode MOST_WAITING_OF_GROUP}. */
  readonly waitingOfGroup?: number;
  /** That wait in all; default {@linkcode MOST_WAITING}. */
  readonly waiting?: number;
}

/** A question that waits. */
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
  /** Lines by group, the group whose turn is next first. A group is in one of both. */
  readonly #good = new Map<string, WaitingLine>();
  readonly #vain = new Map<string, WaitingLine>();
  #allWaiting = 0;
  #turn = 0;
  /** Until when questions in vain count against a group. */
  readonly #remembered = new Map<string, number>();

  /** @param monotonic milliseconds of a clock that only goes forward */
  constructor(monotonic: () => number, limits: PlaceLimits = {}) {
    this.#monotonic = monotonic;
    this.#limits = {
      ...{ asked: MOST_ASKED, ofGroup: MOST_OF_GROUP, waitingOfGroup: MOST_WAITING_OF_GROUP, waiting: MOST_WAITING },
      ...limits,
    };
  }

  /**
   * Waits for a place. It must be given back by {@linkcode leave}.
   *
   * @param group of the addresses that the question comes from
   * @throws the signal's reason when it aborts first, RangeError when too many wait
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

  /** Adds to the lines; the oldest of the longest line has to go when too many wait. */
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

  /** Takes a question out of its line; false: it waits no more. */
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

  /** Gives free places to those that wait. */
  #next(): void {
    while (this.#allAsked < this.#limits.asked) {
      const isTurnOfVain = ++this.#turn % TURNS === 0;
      const [first, second] = isTurnOfVain ? [this.#vain, this.#good] : [this.#good, this.#vain];
      if (!this.#beginOne(first) && !this.#beginOne(second)) return;
    }
  }

  /** Begins the oldest question of the first group that may have another place, whose next turn is after all others. */
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
