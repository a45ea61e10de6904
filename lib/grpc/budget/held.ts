/**
 * The memory that a server spends on incomplete messages: counted for each connection and in all, with a limit on both.
 *
 * A connection near its limit is stopped by flow control: its window shrinks, so that no byte comes beyond. The slowest
 * of its messages is ended after {@linkcode PATIENCE}; otherwise a few messages that never end would keep the others
 * waiting.
 *
 * @module
 */

/** Bytes of incomplete messages that a connection may hold. */
export const HELD_PER_CONNECTION = 16 * 1024 * 1024;
/** The same over all connections of a server. */
export const HELD_IN_ALL = 256 * 1024 * 1024;
/** The cost of a message beside its bytes: the objects that keep it. */
export const HELD_OVERHEAD = 512;
/** Milliseconds that a message may take while its connection, or the server, has no room for others. */
export const PATIENCE = 10_000;
/** Share of a limit from which there is no room. */
const FULL = 7 / 8;

/** A message of which a part has come. */
export interface IncompleteMessage {
  /** Milliseconds since its first byte came. */
  readonly age: number;
  /** Bytes held. */
  readonly held: number;
  /** Ends its call. */
  abandon(reason: string): void;
}

/** The held messages of all connections of a server. */
export class HeldInAll {
  bytes = 0;
  readonly connections = new Set<HeldBytes>();

  /**
   * @param perConnection bytes that one connection may hold; default 16 MiB
   * @param limit bytes that all may hold; default 256 MiB
   */
  constructor(readonly perConnection = HELD_PER_CONNECTION, readonly limit = HELD_IN_ALL) {}

  /** Ends messages that took too long where there is no room; called about once a second. */
  sweep(): void {
    for (const connection of [...this.connections]) {
      const full = () => connection.bytes >= this.perConnection * FULL;
      if (full()) abandonLate(connection.messages, full, "its connection has no room for other messages");
    }
    if (this.bytes >= this.limit * FULL) this.#abandonLate();
  }

  /** Makes room at once when the limit is passed. */
  check(): void {
    if (this.bytes <= this.limit) return;
    this.#abandonLate();
    if (this.bytes < this.limit * FULL) return;
    // Nothing took too long yet, so many connections have sent much within seconds: those that sent most.
    for (const connection of [...this.connections].sort((a, b) => b.bytes - a.bytes)) {
      for (const message of [...connection.messages]) message.abandon("the server has no room for it");
      if (this.bytes < this.limit * FULL) return;
    }
  }

  #abandonLate(): void {
    const messages = [...this.connections].flatMap((connection) => [...connection.messages]);
    abandonLate(messages, () => this.bytes >= this.limit * FULL, "the server has no room for others");
  }
}

/** The held messages of one connection. */
export class HeldBytes {
  bytes = 0;
  readonly messages = new Set<IncompleteMessage>();
  /** Called when there is more room than before. */
  onRoom: (() => void) | undefined;

  readonly #all: HeldInAll;

  constructor(all: HeldInAll = new HeldInAll()) {
    this.#all = all;
  }

  /** Bytes that may still be held. */
  get room(): number {
    return Math.max(0, this.#all.perConnection - this.bytes);
  }

  /** Counts bytes that are held from now on; below zero: no longer. */
  add(bytes: number): void {
    this.bytes += bytes;
    this.#all.bytes += bytes;
    if (this.bytes > 0) this.#all.connections.add(this);
    else this.#all.connections.delete(this);
    if (bytes < 0) this.onRoom?.();
    else this.#all.check();
  }
}

/** Ends messages that took too long, the slowest first, as long as there is no room. */
function abandonLate(
  messages: Iterable<IncompleteMessage>,
  full: () => boolean,
  why: string,
): void {
  const late = [...messages].filter(({ age }) => age >= PATIENCE);
  for (const message of late.sort((a, b) => speed(a) - speed(b))) {
    if (!full()) return;
    message.abandon(`the message is too slow, and ${why}`);
  }
}

/** Bytes a millisecond since the message began. */
function speed({ held, age }: IncompleteMessage): number {
  return held / Math.max(1, age);
}
