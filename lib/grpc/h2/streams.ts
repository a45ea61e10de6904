/**
 * The streams of one connection, from the opening to the end on both sides (RFC 9113, section 5.1).
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

/**
 * Number of remembered streams. A client that sends frames after its own end of a stream does so soon. Ignoring later
 * frames does no harm.
 */
const REMEMBERED = 100;

/**
 * The last finished streams of one connection, for the judgement of late frames. A frame that was under way when the
 * server closed the stream is ignored. A frame after the client's own end of the stream is an error (RFC 9113, section
 * 5.1).
 */
class FinishedStreams {
  readonly #ended = new Uint32Array(REMEMBERED);
  #next = 0;
  /** Number of streams that ended without a reset by the client. The client may still reset each of these once. */
  #resettable = 0;

  /**
   * A stream is over.
   *
   * @param ended the client had sent END_STREAM
   * @param reset the client has reset the stream
   */
  add(id: number, ended: boolean, reset: boolean): void {
    if (!reset) this.#resettable++;
    if (ended || reset) this.#remember(id);
  }

  /** Whether the client had ended the stream; false for older streams. */
  endedByClient(id: number): boolean {
    return this.#ended.includes(id);
  }

  /**
   * A client resets a finished stream. Many clients reset every finished call.
   *
   * @returns false: the client has reset more streams than there were
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
  readonly open = new Map<number, H2Stream>();
  /** No stream is opened any more. Streams that a client opens before learning of the GOAWAY mean nothing. */
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

  /** The last opened stream. After a GOAWAY: the last stream to be worked off. */
  get last(): number {
    return this.#last;
  }

  /** Whether the client may open a stream with this number. */
  isNew(id: number): boolean {
    return id > this.#last;
  }

  /**
   * The stream of a frame. Undefined: the stream is over, or was opened after GOAWAY, and the frame no longer means
   * anything.
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

  /** Whether a finished stream had been ended by the client. */
  endedByClient(id: number): boolean {
    return this.#finished.endedByClient(id);
  }

  /** Ends a stream because of an error of the client. */
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
    // Unsent trailers close the stream later, once sent.
    if (stream.localEnded && stream.queue.trailers === undefined) this.#close(stream);
  }

  /**
   * The server's side of a stream has been sent whole. A client that has not finished is asked to stop (section 8.1).
   */
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

  /** The connection and all streams are over. */
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
