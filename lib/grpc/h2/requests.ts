/**
 * The requests of a client: header blocks open or end streams, DATA frames are the content.
 *
 * @module
 */
import type { HeldBytes } from "../budget/held.ts";
import { ErrorCode, Flag } from "./constants.ts";
import { ConnectionError, unpadded, violation } from "./frames.ts";
import type { HeaderBlock } from "./header_blocks.ts";
import { type HeaderList, requestFault, trailersFault } from "./headers.ts";
import type { Nuisances } from "./nuisances.ts";
import { SendQueue } from "./outbound.ts";
import { H2Stream } from "./stream.ts";
import type { Streams } from "./streams.ts";
import type { ReceiveWindows, SendWindows } from "./windows.ts";

/** The parts of the connection for requests. */
export interface RequestSurroundings {
  readonly streams: Streams;
  readonly receiveWindows: ReceiveWindows;
  readonly sendWindows: SendWindows;
  readonly nuisances: Nuisances;
  readonly held: HeldBytes;
  /** Streams that a client may have open at once. */
  readonly maxConcurrentStreams: number;
  /** A client has opened a stream; the listener must be set before the call returns. */
  readonly opened: (stream: H2Stream) => void;
}

/** The requests of one connection. */
export class Requests {
  readonly #streams: Streams;
  readonly #windows: ReceiveWindows;
  readonly #at: RequestSurroundings;
  /** The stream whose listener has not worked off the last DATA, and whether this DATA ended the stream. */
  #unread: { readonly stream: H2Stream; readonly ended: boolean } | undefined;

  constructor(surroundings: RequestSurroundings) {
    this.#at = surroundings;
    this.#streams = surroundings.streams;
    this.#windows = surroundings.receiveWindows;
  }

  /** Whether a listener has not worked off the last DATA. */
  get unread(): boolean {
    return this.#unread !== undefined;
  }

  /** Has the listener of the last DATA continue. */
  resume(): void {
    const { stream, ended } = this.#unread!;
    this.#unread = undefined;
    if (!stream.closed) stream.listener?.resume?.();
    this.#taken(stream, ended);
  }

  /** A whole header block. */
  headers({ stream: id, list, ended }: HeaderBlock): void {
    const stream = this.#streams.open.get(id);
    if (stream !== undefined) this.#trailers(stream, list, ended);
    else if (this.#streams.isNew(id)) this.#request(id, list, ended);
    else if (this.#streams.endedByClient(id)) {
      throw new ConnectionError(ErrorCode.STREAM_CLOSED, "HEADERS on a stream that the client has ended");
    } else if (list.pseudo) {
      throw violation("a request on a stream that is over");
    }
    // What remains are trailers of a stream that the server has closed.
  }

  #request(id: number, list: HeaderList, ended: boolean): void {
    const { sendWindows, nuisances, held, maxConcurrentStreams, opened } = this.#at;
    // The client opened the stream before it knew of the GOAWAY.
    if (this.#streams.goingAway) return nuisances.add();
    const queue = new SendQueue(id, sendWindows.ofStream);
    const stream = new H2Stream(id, list, queue, this.#windows.ofStream, this.#streams);
    this.#streams.add(stream);
    if (list.tooLarge) return this.#streams.fail(id, ErrorCode.ENHANCE_YOUR_CALM);
    if (requestFault(list) !== undefined || (ended && !stream.lengthFits(true))) {
      return this.#streams.fail(id, ErrorCode.PROTOCOL_ERROR);
    }
    if (this.#streams.open.size > maxConcurrentStreams || held.room === 0) {
      return this.#streams.fail(id, ErrorCode.REFUSED_STREAM);
    }
    // A handler that answers at once must find the stream ended. Otherwise the client would be asked to stop sending.
    stream.remoteEnded = ended;
    opened(stream);
    if (ended) this.#streams.remoteEnd(stream);
  }

  /** Trailers of a request mean nothing to gRPC, but must end the stream. */
  #trailers(stream: H2Stream, list: HeaderList, ended: boolean): void {
    if (stream.remoteEnded) return this.#streams.fail(stream.id, ErrorCode.STREAM_CLOSED);
    if (!ended || trailersFault(list) !== undefined || !stream.lengthFits(true)) {
      return this.#streams.fail(stream.id, ErrorCode.PROTOCOL_ERROR);
    }
    this.#streams.remoteEnd(stream);
  }

  /** A DATA frame. */
  data(flags: number, id: number, payload: Uint8Array): void {
    this.#windows.received(payload.length);
    const ended = (flags & Flag.END_STREAM) !== 0;
    // An empty frame that ends a stream is not a nuisance: some clients finish every call with such a frame.
    if (payload.length === 0 && !ended) this.#at.nuisances.add();
    const bytes = unpadded(payload, flags);
    const stream = this.#streams.known(id);
    if (stream !== undefined) this.#content(stream, payload.length, bytes, ended);
    else if (this.#streams.endedByClient(id)) this.#streams.fail(id, ErrorCode.STREAM_CLOSED);
    this.#windows.replenish();
  }

  /** @param size bytes with padding, as windows count */
  #content(stream: H2Stream, size: number, bytes: Uint8Array, ended: boolean): void {
    if (stream.remoteEnded) return this.#streams.fail(stream.id, ErrorCode.STREAM_CLOSED);
    stream.receiveWindow -= size;
    if (stream.receiveWindow < 0) return this.#streams.fail(stream.id, ErrorCode.FLOW_CONTROL_ERROR);
    stream.received += bytes.length;
    if (!stream.lengthFits(ended)) return this.#streams.fail(stream.id, ErrorCode.PROTOCOL_ERROR);
    if (!ended) this.#windows.replenishStream(stream);
    if (bytes.length > 0) stream.listener?.data(bytes);
    this.#taken(stream, ended);
  }

  /** The listener has worked off DATA, or a part of it. */
  #taken(stream: H2Stream, ended: boolean): void {
    if (!stream.closed && stream.listener?.unread?.() === true) this.#unread = { stream, ended };
    else if (ended) this.#streams.remoteEnd(stream);
  }
}
