/**
 * The memory that a server spends on incomplete messages, counted for each connection and in all, with a limit on both.
 *
 * A connection near its limit is stopped by flow control: its window shrinks, so that no further byte comes. After
 * {@linkcode PATIENCE} the connection's slowest message is ended. Otherwise a few endless messages would keep all
 * others waiting.
 *
 * @module
 */
import { LargeMessages } from "./large.ts";

/** Most bytes of incomplete messages on a connection. */
export const HELD_PER_CONNECTION = 16 * 1024 * 1024;
/** Most bytes over all connections of a server. */
export const HELD_IN_ALL = 256 * 1024 * 1024;
/** The cost of a message beside its bytes: the objects around the message. */
export const HELD_OVERHEAD = 512;
/** Milliseconds for a message while the connection, or the server, has no room for other messages. */
export const PATIENCE = 10_000;
/** The share of a limit at which there is no more room. */
const FULL = 7 / 8;

/** A message before its end has come. */
export interface IncompleteMessage {
  /** Milliseconds since the first byte came. */
  readonly age: number;
  /** Bytes held. */
  readonly held: number;
  /** Bytes held when the message is complete; at least {@linkcode IncompleteMessage.held}. */
  readonly expected: number;
  /** Ends the call of the message. */
  abandon(reason: string): void;
}

/** The held messages of all connections of a server. */
export class HeldInAll {
  bytes = 0;
  readonly connections = new Set<HeldBytes>();
  /** The connections whose large messages come now. */
  readonly large: LargeMessages;

  /**
   * @param perConnection most bytes of one connection; default 16 MiB
   * @param limit most bytes of all connections; default 256 MiB
   * @param large the places for large messages; default: places for 16 MiB
   */
  constructor(
    readonly perConnection = HELD_PER_CONNECTION,
    readonly limit = HELD_IN_ALL,
    large: LargeMessages = new LargeMessages(),
  ) {
    this.large = large;
  }

  /** Ends messages that are too slow where there is no room. Called about once a second. */
  sweep(): void {
    this.large.sweep();
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
    // No message is too slow yet, so many connections have sent much within seconds. The connections with the most
    // bytes lose their messages.
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
  /** The part of the bytes for messages. */
  ofMessages = 0;
  readonly messages = new Set<IncompleteMessage>();
  /** Called when there is more room than before. */
  onRoom: (() => void) | undefined;
  /** Called when {@linkcode HeldBytes.waits} is no longer true. */
  onTurn: (() => void) | undefined;

  readonly #all: HeldInAll;

  constructor(all: HeldInAll = new HeldInAll()) {
    this.#all = all;
  }

  /** Number of bytes that may still be held. */
  get room(): number {
    return Math.max(0, this.#all.perConnection - this.bytes);
  }

  /** Whether large messages of other connections come first. */
  get waits(): boolean {
    return this.#all.large.waits(this);
  }

  /** Number of bytes when all messages are complete. */
  get expected(): number {
    let bytes = 0;
    for (const { expected } of this.messages) bytes += expected;
    return bytes;
  }

  /** Counts bytes that are held from now on; below zero: released bytes. */
  add(bytes: number): void {
    this.bytes += bytes;
    this.#all.bytes += bytes;
    if (this.bytes > 0) this.#all.connections.add(this);
    else this.#all.connections.delete(this);
    if (bytes < 0) this.onRoom?.();
    else this.#all.check();
  }

  /** The same for bytes of one of {@linkcode HeldBytes.messages}. */
  addOfMessage(bytes: number): void {
    this.ofMessages += bytes;
    this.#all.large.changed(this);
    this.add(bytes);
  }
}

/** Ends messages that are too slow, the slowest first, as long as there is no room. */
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
