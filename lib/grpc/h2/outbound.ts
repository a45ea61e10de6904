/**
 * The sending side of one connection: control frames at once, DATA as fast as the peer's windows and the kernel allow.
 *
 * Queued data are references to shared buffers and cost nothing. Bytes are copied only into the batch for the socket.
 * So a connection holds at most its share of the {@linkcode SendBudget}, however slow the peer is.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { concatBytes } from "../../resource/block.ts";
import type { RemoteTime } from "../../sockets/patience.ts";
import type { Transport } from "../../sockets/transport/transport.ts";
import { SendTurns } from "../budget/send_turns.ts";
import { Flag, FRAME_HEAD, FrameType } from "./constants.ts";
import { putHead } from "./frames.ts";

/** Bytes of a buffer: the largest batch with all frame heads and some control frames. */
const BUFFER = 72 * 1024;

/** Smaller batches get a part of an array that Node shares out. That takes a fifth of the time of a new array. */
const LEAST = 8 * 1024;

/** Most free buffers that are kept. Further buffers are left to the garbage collector. */
const MOST_FREE = 64;

/**
 * Free buffers for batches of frames, of all connections of a server, at most 4.7 MB. Buffers are used again because a
 * new array of 64 kB is first filled with zeros, in pages new from the system. That takes longer than the copying.
 */
export class BatchBuffers {
  readonly #free: Uint8Array[] = [];

  /** An array for a batch of the given size, with undefined content. */
  take(size: number): Uint8Array {
    if (size < LEAST) return Buffer.allocUnsafe(size);
    if (size > BUFFER) return new Uint8Array(size);
    return (this.#free.pop() ?? new Uint8Array(BUFFER)).subarray(0, size);
  }

  /** Gives an array from {@linkcode BatchBuffers.take} back. Nobody may read it any more, not even a socket. */
  giveBack(batch: Uint8Array): void {
    if (batch.buffer.byteLength !== BUFFER || this.#free.length >= MOST_FREE) return;
    this.#free.push(new Uint8Array(batch.buffer as ArrayBuffer));
  }
}

/** Largest batch, without frame heads. */
const BATCH = 64 * 1024;
/** Largest sent frame: every peer takes this size. */
const FRAME = 16384;
/** Most control bytes that wait for a peer that does not read. More is an attack (e.g. a flood of pings). */
const MAX_CONTROL = 256 * 1024;
const NOTHING = new Uint8Array();
/** A connection's smallest share. */
const MIN_SHARE = 32 * 1024;

/** Limits the bytes that all connections together have handed to their sockets. */
export class SendBudget {
  /** Connections with bytes under way. */
  readonly active = new Set<Outbound>();
  readonly buffers = new BatchBuffers();

  /**
   * @param perConnection most bytes of a connection in the socket; default 256 KiB
   * @param total most bytes of all connections, beyond which shares shrink down to 32 KiB; default 128 MiB
   * @param turns the turns of the connections
   */
  constructor(
    readonly perConnection = 256 * 1024,
    readonly total = 128 * 1024 * 1024,
    readonly turns: SendTurns = new SendTurns(),
  ) {}

  /** The present share of a connection. */
  get share(): number {
    return Math.max(MIN_SHARE, Math.min(this.perConnection, this.total / (this.active.size + 1)));
  }
}

/** The sending side of a stream. */
export class SendQueue {
  readonly #items: { bytes: Uint8Array; taken: (() => void) | undefined }[] = [];
  #head = 0;
  #offset = 0;
  /** Number of waiting bytes. */
  size = 0;
  /** The header block that ends the stream, once set. An empty block stands for an end without headers. */
  trailers: Uint8Array | undefined;

  /** @param window bytes that the peer accepts on this stream */
  constructor(readonly id: number, public window: number) {}

  /** Adds bytes. `taken` is called when the last byte has been handed to the socket. */
  push(bytes: Uint8Array, taken: (() => void) | undefined): void {
    if (bytes.length === 0) return taken?.();
    this.#items.push({ bytes, taken });
    this.size += bytes.length;
  }

  /** Moves `length` bytes into `out`, and collects the callbacks of the finished writes in `done`. */
  pull(out: Uint8Array, at: number, length: number, done: (() => void)[]): void {
    this.size -= length;
    this.window -= length;
    while (length > 0) {
      const item = this.#items[this.#head]!;
      const part = item.bytes.subarray(this.#offset, this.#offset + length);
      out.set(part, at);
      at += part.length;
      length -= part.length;
      this.#offset += part.length;
      if (this.#offset < item.bytes.length) break;
      if (item.taken !== undefined) done.push(item.taken);
      this.#offset = 0;
      this.#head++;
    }
    if (this.#head === this.#items.length) {
      this.#items.length = 0;
      this.#head = 0;
    } else if (this.#head > 1024) {
      this.#items.splice(0, this.#head);
      this.#head = 0;
    }
  }

  /** Forgets the waiting bytes. */
  clear(): void {
    this.#items.length = 0;
    this.#head = 0;
    this.#offset = 0;
    this.size = 0;
    this.trailers = undefined;
  }
}

/** The sending side of a connection. */
export class Outbound {
  /** Bytes that the peer accepts on the whole connection. */
  window = 65535;
  /** When data last left for the kernel, or something began to wait; in {@linkcode RemoteTime}. */
  lastProgress: number;
  /** Batches of data handed to the socket so far. */
  batches = 0;
  readonly #ready = new Set<SendQueue>();
  #control: Uint8Array[] = [];
  #controlSize = 0;
  #unwritten = 0;
  #scheduled = false;
  #closed = false;

  readonly #transport: Transport;
  readonly #budget: SendBudget;
  readonly #time: RemoteTime;
  readonly #onEnded: (queue: SendQueue) => void;
  readonly #onFlood: () => void;

  /**
   * @param onEnded called when the trailers of a stream have been handed to the socket
   * @param onFlood called when the peer causes more control frames than it takes
   */
  constructor(
    transport: Transport,
    budget: SendBudget,
    time: RemoteTime,
    onEnded: (queue: SendQueue) => void,
    onFlood: () => void,
  ) {
    this.#transport = transport;
    this.#budget = budget;
    this.#time = time;
    this.lastProgress = time.now;
    this.#onEnded = onEnded;
    this.#onFlood = onFlood;
  }

  /** Something has been handed to the socket or waits to be. */
  get busy(): boolean {
    return this.#unwritten > 0 || this.#ready.size > 0 || this.#controlSize > 0;
  }

  /** Bytes that the socket has not taken. */
  get unwritten(): number {
    return this.#unwritten;
  }

  /** Sends a control frame before any unsent data. */
  control(bytes: Uint8Array): void {
    if (this.#closed) return;
    if (!this.busy) this.lastProgress = this.#time.now;
    this.#control.push(bytes);
    this.#controlSize += bytes.length;
    if (this.#controlSize + this.#unwritten > MAX_CONTROL + this.#budget.perConnection) return this.#onFlood();
    this.#schedule();
  }

  /** The queue has something to send. */
  ready(queue: SendQueue): void {
    if (this.#closed) return;
    if (!this.busy) this.lastProgress = this.#time.now;
    this.#ready.add(queue);
    this.#budget.active.add(this);
    this.#schedule();
  }

  /** The peer has opened a window. */
  opened(): void {
    if (this.#ready.size > 0) this.#schedule();
  }

  /** The stream has gone. */
  drop(queue: SendQueue): void {
    queue.clear();
    this.#ready.delete(queue);
  }

  /** Nothing more is sent. */
  close(): void {
    this.#closed = true;
    for (const queue of this.#ready) queue.clear();
    this.#ready.clear();
    this.#control = [];
    this.#budget.active.delete(this);
    this.#budget.turns.remove(this);
  }

  /** Waits for one turn, so that frames of the same turn go out in one write. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.flush();
    });
  }

  /** Hands over as much as windows, share and turn allow. Only control frames wait for no turn. */
  flush(): void {
    if (this.#closed || this.#transport.destroyed) return;
    const { turns } = this.#budget;
    if (this.#ready.size > 0 && turns.isOver) turns.wait(this);
    else turns.count(() => this.#flushNow());
  }

  #flushNow(): void {
    // Control frames go out in one write with the first data: each write is a TLS record and a system call.
    let head = this.#takeControl();
    while (this.#ready.size > 0) {
      const room = Math.min(BATCH, this.#budget.share - this.#unwritten - head.length);
      if (room <= 0) break;
      const done: (() => void)[] = [];
      const batch = this.#batch(head, room, done);
      if (batch === undefined) break;
      head = NOTHING;
      this.batches++;
      this.#write(batch, done, true);
    }
    if (head.length > 0) this.#write(head, [], false);
  }

  #takeControl(): Uint8Array {
    if (this.#control.length === 0) return NOTHING;
    const control = concatBytes(this.#control);
    this.#control = [];
    this.#controlSize = 0;
    return control;
  }

  /** Fills a batch after a head, with a frame of each stream in turn; undefined: all windows are shut. */
  #batch(head: Uint8Array, room: number, done: (() => void)[]): Uint8Array | undefined {
    const plan: { queue: SendQueue; length: number }[] = [];
    let total = 0;
    let size = 0;
    for (const queue of this.#ready) {
      const length = Math.max(0, Math.min(queue.size, queue.window, this.window - total, room - total));
      const ends = length === queue.size && queue.trailers !== undefined;
      if (length === 0 && !ends) continue;
      total += length;
      size += length + Math.ceil(length / FRAME) * FRAME_HEAD + (ends ? FRAME_HEAD + queue.trailers!.length : 0);
      plan.push({ queue, length });
      if (total >= room) break;
    }
    if (plan.length === 0) return undefined;
    const out = this.#budget.buffers.take(head.length + size);
    out.set(head);
    let at = head.length;
    for (const { queue, length } of plan) {
      for (let sent = 0; sent < length; sent += FRAME) {
        const part = Math.min(FRAME, length - sent);
        at = putHead(out, at, part, FrameType.DATA, 0, queue.id);
        queue.pull(out, at, part, done);
        at += part;
      }
      this.window -= length;
      at = this.#finish(queue, out, at, done);
    }
    return out;
  }

  #finish(queue: SendQueue, out: Uint8Array, at: number, done: (() => void)[]): number {
    // A queue goes to the end of the line.
    this.#ready.delete(queue);
    if (queue.size > 0) {
      this.#ready.add(queue);
      return at;
    }
    const trailers = queue.trailers;
    if (trailers === undefined) return at;
    queue.trailers = undefined;
    const [type, flags] = trailers.length === 0 ? [FrameType.DATA, 0] : [FrameType.HEADERS, Flag.END_HEADERS];
    at = putHead(out, at, trailers.length, type, flags | Flag.END_STREAM, queue.id);
    out.set(trailers, at);
    done.push(() => this.#onEnded(queue));
    return at + trailers.length;
  }

  #write(bytes: Uint8Array, done: (() => void)[], progress: boolean): void {
    this.#unwritten += bytes.length;
    this.#transport.write(bytes, (error) => {
      this.#unwritten -= bytes.length;
      // After an error the socket may still hold the bytes.
      if (progress && !error) this.#budget.buffers.giveBack(bytes);
      if (error || this.#closed) return;
      // Control frames do not count as progress. Otherwise a peer could keep its data waiting endlessly with pings.
      if (progress) this.lastProgress = this.#time.now;
      if (this.#ready.size > 0) this.flush();
      if (!this.busy) this.#budget.active.delete(this);
    });
    for (const callback of done) callback();
  }
}
