/**
 * Back-pressure for what a connection writes.
 *
 * `node:http2` takes every write at once and copies it; callbacks and `drain` say nothing about the peer. What does
 * say it is the socket: `bytesWritten - writableLength` is what has really left for the kernel, and with HTTP/2 flow
 * control nothing leaves that the peer has no window for. So each connection hands at most a high-water mark of bytes
 * to http2 and keeps the rest as references to shared buffers, which cost nothing.
 *
 * One timer serves all connections and runs only while one of them waits.
 *
 * Permissions: none (the sockets come from outside).
 *
 * @module
 */

/** The part of a socket that the pacer reads; `node:net` and `node:tls` sockets have it. */
export interface PacedSocket {
  readonly bytesWritten: number;
  readonly writableLength: number;
  readonly destroyed: boolean;
}

/** Limits of a {@linkcode Pacer}. */
export interface PacerOptions {
  /** Bytes handed to http2 and not yet taken by the kernel, per connection. Default 256 KiB. */
  readonly highWater?: number;
  /** The same over all connections: above it each connection's share shrinks, down to 32 KiB. Default 128 MiB. */
  readonly totalHighWater?: number;
  /** Milliseconds without progress while bytes wait, after which a connection is given up. Default 20,000. */
  readonly stallTimeout?: number;
  /** Milliseconds between two looks at the sockets while something waits. Default 3. */
  readonly pollInterval?: number;
}

const MIN_HIGH_WATER = 32 * 1024;
/** Longest time in milliseconds between two looks at a lane. */
const MAX_PATIENCE = 50;

type Write = (chunk: Uint8Array) => void;
type Item = { readonly chunk: Uint8Array; readonly write: Write; readonly done: (() => void) | undefined };

/** What one connection has to write. Made by {@linkcode Pacer.lane}. */
export class Lane {
  readonly #queue: Item[] = [];
  #head = 0;
  #submitted = 0;
  #base: number;
  #lastTaken = 0;
  #lastProgress = performance.now();
  #closed = false;
  #patience = 0;
  #nextLook = 0;
  /** Bytes that wait here, not yet handed to http2. */
  queued = 0;

  constructor(private readonly pacer: Pacer, readonly socket: PacedSocket, readonly onStall: () => void) {
    this.#base = this.#taken();
  }

  /** Queues a chunk; `done` is called when it and all before it have left for the kernel or for http2's window. */
  push(chunk: Uint8Array, write: Write, done?: () => void): void {
    if (this.#closed) return;
    if (this.idle) this.#lastProgress = performance.now();
    this.#queue.push({ chunk, write, done });
    this.queued += chunk.length;
    this.flush(this.pacer.share);
    this.pacer.watch(this);
  }

  /**
   * Bytes handed to http2 that the kernel has not taken. Frame heads count as progress, so it is up to 0.1% too low;
   * the count starts anew whenever it reaches zero, so that the error does not add up.
   */
  get inFlight(): number {
    return Math.max(0, this.#submitted - (this.#taken() - this.#base));
  }

  /** Nothing waits and nothing is in flight. */
  get idle(): boolean {
    return this.queued === 0 && this.inFlight === 0;
  }

  /** Writes what fits under the mark. */
  flush(highWater: number): void {
    let inFlight = this.inFlight;
    if (inFlight === 0 && this.#submitted !== 0) {
      this.#submitted = 0;
      this.#base = this.#taken();
    }
    while (this.#head < this.#queue.length && inFlight < highWater) {
      const item = this.#queue[this.#head++]!;
      this.queued -= item.chunk.length;
      this.#submitted += item.chunk.length;
      inFlight += item.chunk.length;
      item.write(item.chunk);
      item.done?.();
    }
    if (this.#head === this.#queue.length) {
      this.#queue.length = 0;
      this.#head = 0;
    } else if (this.#head > 1024) {
      this.#queue.splice(0, this.#head);
      this.#head = 0;
    }
  }

  /** Looks for progress when it is time to; true while the lane still needs looking after. */
  poll(now: number, highWater: number, stallTimeout: number): boolean {
    if (now < this.#nextLook) return true;
    if (this.#closed || this.socket.destroyed) return false;
    const taken = this.#taken();
    if (taken !== this.#lastTaken) {
      this.#lastTaken = taken;
      this.#lastProgress = now;
      this.#patience = 0;
    }
    // A lane without progress is looked at ever more rarely: reading the counters of a socket costs microseconds.
    this.#patience = Math.min(MAX_PATIENCE, this.#patience * 2 + 2);
    this.#nextLook = now + (this.queued > 0 ? this.#patience : MAX_PATIENCE);
    this.flush(highWater);
    if (this.idle) return false;
    if (now - this.#lastProgress > stallTimeout) {
      this.close();
      this.onStall();
      return false;
    }
    return true;
  }

  /** Forgets what waits. */
  close(): void {
    this.#closed = true;
    this.#queue.length = 0;
    this.#head = 0;
    this.queued = 0;
  }

  #taken(): number {
    return this.socket.bytesWritten - this.socket.writableLength;
  }
}

/** Shares the right to fill memory among connections. */
export class Pacer {
  readonly #lanes = new Set<Lane>();
  readonly #options: Required<PacerOptions>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: PacerOptions = {}) {
    this.#options = {
      highWater: options.highWater ?? 256 * 1024,
      totalHighWater: options.totalHighWater ?? 128 * 1024 * 1024,
      stallTimeout: options.stallTimeout ?? 20_000,
      pollInterval: options.pollInterval ?? 3,
    };
  }

  /** A lane for one connection. `onStall` is called once when the peer makes no progress for too long. */
  lane(socket: PacedSocket, onStall: () => void): Lane {
    return new Lane(this, socket, onStall);
  }

  /** The present high-water mark of a connection. */
  get share(): number {
    const { highWater, totalHighWater } = this.#options;
    return Math.max(MIN_HIGH_WATER, Math.min(highWater, totalHighWater / (this.#lanes.size + 1)));
  }

  /** Connections with bytes under way. */
  get active(): number {
    return this.#lanes.size;
  }

  /** Looks after the lane until it is idle. */
  watch(lane: Lane): void {
    this.#lanes.add(lane);
    this.#timer ??= setTimeout(() => this.#poll(), this.#options.pollInterval);
  }

  /** Stops looking after all lanes. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lanes.clear();
  }

  #poll(): void {
    this.#timer = undefined;
    const now = performance.now();
    const share = this.share;
    let waiting = false;
    for (const lane of this.#lanes) {
      if (!lane.poll(now, share, this.#options.stallTimeout)) this.#lanes.delete(lane);
      else waiting ||= lane.queued > 0;
    }
    if (this.#lanes.size === 0) return;
    // Lanes with nothing queued are only watched for a stall.
    const delay = waiting ? this.#options.pollInterval : Math.max(50, this.#options.pollInterval);
    this.#timer = setTimeout(() => this.#poll(), delay);
  }
}
