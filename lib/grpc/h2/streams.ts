/**
 * The streams of one connection, from their opening to their end on both sides (RFC 9113, section 5.1).
 *
 * @module
 */
import type { HeldBytes } from "../budget/held.ts";
import { ErrorCode, Flag, FrameType } from "./constants.ts";
import { frame, numberFrame, violation } from "./frames.ts";
import { encodeHeaders } from "./hpack.ts";
import type { Nuisances } from "./nuisances.ts";
import type { Outbound, SendQueue } from "./outbound.ts";
import type { H2Stream, StreamHost } from "./stream.ts";

// Memory of streams that are over, so that late frames are judged rightly: a frame that was on its way when we closed
// the stream is ignored, a frame after the client's own end of the stream is an error (RFC 9113, section 5.1).

/** Streams remembered; a client that breaks the rule does so soon after, and ignoring the rest does no harm. */
const REMEMBERED = 100;

/** The last streams of one connection that are over. */
class FinishedStreams {
  readonly #ended = new Uint32Array(REMEMBERED);
  #next = 0;
  /** Streams that ended without a reset of the client, each of which it may still reset once. */
  #resettable = 0;

  /**
   * A stream is over.
   *
   * @param ended its client had sent END_STREAM
   * @param reset its client has reset it
   */
  add(id: number, ended: boolean, reset: boolean): void {
    if (!reset) this.#resettable++;
    if (ended || reset) this.#remember(id);
  }

  /** Whether the client had ended the stream itself; false of older ones. */
  endedByClient(id: number): boolean {
    return this.#ended.includes(id);
  }

  /**
   * A client resets a stream that is over, as many do with every call that they are done with.
   *
   * @returns false when it has reset more streams than there were
   */
  reset(id: number): boolean {
    if (this.#resettable === 0) return false;
    this.#resettable--;
    this.#remember(id);
    return true;
  }

  #remember(id: number): void {
    this.#ended[this.#next] = id;
    this.#next = (this.#next + 1) % REMEMBERED;
  }
}

/** The streams of a connection. */
export class Streams implements StreamHost {
  /** Those that are not over, by number. */
  readonly open = new Map<number, H2Stream>();
  /** No stream is opened any more; those that the client opens because it does not know yet mean nothing. */
  goingAway = false;
  readonly #finished = new FinishedStreams();
  readonly #outbound: Outbound;
  readonly #held: HeldBytes;
  readonly #nuisances: Nuisances;
  readonly #onClosed: () => void;
  #last = 0;

  /** @param onClosed called whenever a stream is over */
  constructor(outbound: Outbound, held: HeldBytes, nuisances: Nuisances, onClosed: () => void) {
    this.#outbound = outbound;
    this.#held = held;
    this.#nuisances = nuisances;
    this.#onClosed = onClosed;
  }

  /** The last stream that was opened; the last that is worked off once we are going away. */
  get last(): number {
    return this.#last;
  }

  /** Whether the client may open a stream of this number. */
  isNew(id: number): boolean {
    return id > this.#last;
  }

  /**
   * The stream that a frame is for. Undefined when it is over, or was opened after GOAWAY; the frame
   * then means nothing any more.
   *
   * @throws ConnectionError for a stream that was never opened
   */
  known(id: number): H2Stream | undefined {
    const stream = this.open.get(id);
    if (stream !== undefined) return stream;
    const late = this.goingAway && id > this.#last;
    if (id === 0 || id % 2 === 0 || (id > this.#last && !late)) throw violation("a stream that was never opened");
    return undefined;
  }

  /** The client has opened a stream. */
  add(stream: H2Stream): void {
    this.#last = stream.id;
    this.open.set(stream.id, stream);
    this.#held.add(stream.headerSize);
  }

  /** Whether a stream is over that the client had ended itself. */
  endedByClient(id: number): boolean {
    return this.#finished.endedByClient(id);
  }

  /** Ends a stream because of what its client did. */
  fail(id: number, code: number): void {
    this.#nuisances.add();
    const stream = this.open.get(id);
    if (stream !== undefined) this.sendReset(stream, code);
    else this.#outbound.control(numberFrame(FrameType.RST_STREAM, id, code));
  }

  /** The client has reset a stream. */
  reset(id: number): void {
    const stream = this.known(id);
    if (stream !== undefined || !this.#finished.reset(id)) this.#nuisances.add();
    if (stream !== undefined) this.#close(stream, true);
  }

  /** The client sends nothing more on a stream. */
  remoteEnd(stream: H2Stream): void {
    if (stream.closed) return;
    stream.remoteEnded = true;
    stream.listener?.end();
    // Trailers that are still to be sent close the stream when they have been.
    if (stream.localEnded && stream.queue.trailers === undefined) this.#close(stream);
  }

  /** All of a stream has been sent. A client that has not finished is asked to stop (section 8.1). */
  localEnd(queue: SendQueue): void {
    const stream = this.open.get(queue.id);
    if (stream === undefined) return;
    stream.localEnded = true;
    if (stream.remoteEnded) this.#close(stream);
    else this.sendReset(stream, ErrorCode.NO_ERROR);
  }

  sendHeaders(stream: H2Stream, headers: Readonly<Record<string, string>>, endStream: boolean): void {
    const flags = Flag.END_HEADERS | (endStream ? Flag.END_STREAM : 0);
    this.#outbound.control(frame(FrameType.HEADERS, flags, stream.id, encodeHeaders(headers)));
    if (endStream) this.localEnd(stream.queue);
  }

  sendReady(stream: H2Stream): void {
    this.#outbound.ready(stream.queue);
  }

  sendEnd(stream: H2Stream, headers: Readonly<Record<string, string>>): void {
    stream.localEnded = true;
    stream.queue.trailers = encodeHeaders(headers);
    this.#outbound.ready(stream.queue);
  }

  sendReset(stream: H2Stream, code: number): void {
    this.#outbound.control(numberFrame(FrameType.RST_STREAM, stream.id, code));
    this.#close(stream);
  }

  /** The connection is over, and all streams with it. */
  closeAll(): void {
    for (const stream of [...this.open.values()]) this.#close(stream);
  }

  #close(stream: H2Stream, resetByClient = false): void {
    if (stream.closed) return;
    stream.closed = true;
    this.open.delete(stream.id);
    this.#finished.add(stream.id, stream.remoteEnded, resetByClient);
    this.#outbound.drop(stream.queue);
    this.#held.add(-stream.headerSize);
    stream.listener?.close();
    this.#onClosed();
  }
}
