/**
 * Flow control (RFC 9113, section 5.2) in both directions.
 *
 * @module
 */
import type { HeldBytes } from "../budget/held.ts";
import { ErrorCode, FrameType, MAX_WINDOW } from "./constants.ts";
import { ConnectionError, numberFrame, violation } from "./frames.ts";
import type { Outbound } from "./outbound.ts";
import type { H2Stream } from "./stream.ts";
import type { Streams } from "./streams.ts";

/** The windows of connections and streams before the first settings (section 6.9.2). */
const DEFAULT_WINDOW = 65535;
/** Bytes of the whole connection that a client may send before the server takes them. */
const CONNECTION_WINDOW = 1024 * 1024;
/** A smaller window is not worth a frame. */
const MIN_WINDOW = 16 * 1024;

/** The windows given to the client: the bytes that the client may send. */
export class ReceiveWindows {
  /** Bytes of a stream that a client may send before the server takes them. */
  readonly ofStream: number;
  readonly #outbound: Outbound;
  readonly #held: HeldBytes;
  #connection = CONNECTION_WINDOW;

  constructor(outbound: Outbound, held: HeldBytes, ofStream: number) {
    this.#outbound = outbound;
    this.#held = held;
    this.ofStream = ofStream;
  }

  /** Sends the window of the connection. Settings cannot carry this window. */
  announce(): void {
    this.#outbound.control(numberFrame(FrameType.WINDOW_UPDATE, 0, CONNECTION_WINDOW - DEFAULT_WINDOW));
  }

  /** Bytes have come. @throws ConnectionError for more bytes than the client may send */
  received(size: number): void {
    this.#connection -= size;
    if (this.#connection < 0) throw new ConnectionError(ErrorCode.FLOW_CONTROL_ERROR, "connection window");
  }

  /** Lets the client send again on a stream, when more than half of the window is used. */
  replenishStream(stream: H2Stream): void {
    if (stream.receiveWindow >= this.ofStream / 2 || this.#held.waits) return;
    this.#outbound.control(numberFrame(FrameType.WINDOW_UPDATE, stream.id, this.ofStream - stream.receiveWindow));
    stream.receiveWindow = this.ofStream;
  }

  /** Lets the client send again on the connection, as far as there is room. */
  replenish(): void {
    const wanted = Math.min(CONNECTION_WINDOW, this.#held.room);
    if (this.#held.waits || wanted < MIN_WINDOW || this.#connection >= wanted / 2) return;
    this.#outbound.control(numberFrame(FrameType.WINDOW_UPDATE, 0, wanted - this.#connection));
    this.#connection = wanted;
  }
}

/** The windows given by the client: the bytes that the client accepts. */
export class SendWindows {
  readonly #outbound: Outbound;
  readonly #streams: Streams;
  #ofStream = DEFAULT_WINDOW;

  constructor(outbound: Outbound, streams: Streams) {
    this.#outbound = outbound;
    this.#streams = streams;
  }

  /** The client's window for a new stream. */
  get ofStream(): number {
    return this.#ofStream;
  }

  /** The client changes the window of all streams, also of open streams. */
  change(ofStream: number): void {
    const by = ofStream - this.#ofStream;
    if (by === 0) return;
    this.#ofStream = ofStream;
    for (const { queue } of this.#streams.open.values()) {
      queue.window += by;
      if (queue.window > MAX_WINDOW) throw new ConnectionError(ErrorCode.FLOW_CONTROL_ERROR, "window overflow");
    }
    if (by > 0) this.#outbound.opened();
  }

  /** A WINDOW_UPDATE frame. */
  update(id: number, payload: Uint8Array): void {
    if (payload.length !== 4) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "WINDOW_UPDATE");
    const by = new DataView(payload.buffer, payload.byteOffset).getUint32(0) & MAX_WINDOW;
    if (id === 0) this.#updateConnection(by);
    else this.#updateStream(id, by);
  }

  #updateConnection(by: number): void {
    if (by === 0) throw violation("WINDOW_UPDATE of 0");
    this.#outbound.window += by;
    if (this.#outbound.window > MAX_WINDOW) {
      throw new ConnectionError(ErrorCode.FLOW_CONTROL_ERROR, "window overflow");
    }
    this.#outbound.opened();
  }

  #updateStream(id: number, by: number): void {
    const stream = this.#streams.known(id);
    if (by === 0 && id <= this.#streams.last) return this.#streams.fail(id, ErrorCode.PROTOCOL_ERROR);
    if (stream === undefined) return;
    stream.queue.window += by;
    if (stream.queue.window > MAX_WINDOW) return this.#streams.fail(id, ErrorCode.FLOW_CONTROL_ERROR);
    this.#outbound.opened();
  }
}
