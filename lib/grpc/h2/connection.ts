/**
 * One HTTP/2 connection on the server side (RFC 9113): as much of the protocol as gRPC needs, with a limit on
 * everything that a client can make it do. Priorities are read and ignored, as that RFC recommends.
 *
 * Why not `node:http2`: docs/decisions/0020-the-wire.md.
 *
 * @module
 */
import { GrowingBuffer } from "../budget/growing_buffer.ts";
import { HeldBytes } from "../budget/held.ts";
import { RemoteTime } from "../../sockets/patience.ts";
import type { Transport } from "../../sockets/transport/transport.ts";
import { type InputQueue, Turns } from "../budget/turns.ts";
import { ErrorCode, Flag, FrameType, MAX_WINDOW, Setting } from "./constants.ts";
import { FinishedStreams } from "./finished_streams.ts";
import { ConnectionError, frame, FrameReader, numberFrame, settingsFrame, unpadded, violation } from "./frames.ts";
import { HeaderList, requestFault, trailersFault } from "./headers.ts";
import { encodeHeaders, HpackDecoder } from "./hpack.ts";
import { Nuisances } from "./nuisances.ts";
import { Outbound, type SendBudget, SendQueue } from "./outbound.ts";
import { readSettings } from "./settings.ts";
import { H2Stream, type StreamHost } from "./stream.ts";

/** Limits of a connection, and the budgets that it shares with the others of its server. */
export interface H2Limits {
  /** Streams that a client may have open at once. */
  readonly maxConcurrentStreams: number;
  /** Bytes of a stream that a client may send before we take them; we take them at once. Default 256 KiB. */
  readonly streamWindow?: number;
  /** The held bytes of incomplete messages; the connection's window is never larger than the rest of their limit. */
  readonly held?: HeldBytes;
  /** When received input is worked off. Default: in turns of its own. */
  readonly turns?: Turns;
  /** The time that the client is measured by. Default: one of its own. */
  readonly time?: RemoteTime;
}

/** The events of a connection. */
export interface H2Events {
  /** A client has opened a stream; the listener must be set before the call returns. */
  stream(stream: H2Stream): void;
  /** The connection is over; called exactly once, after all its streams were closed. */
  close(): void;
}

/** A header block that has not ended. */
interface HeaderBlock {
  readonly stream: number;
  readonly flags: number;
  readonly bytes: GrowingBuffer;
  readonly since: number;
}

/** Largest header block and header list of a request, in bytes. */
const MAX_HEADERS = 32 * 1024;
/** Bytes of the whole connection that a client may send before we take them. */
const CONNECTION_WINDOW = 1024 * 1024;
const STREAM_WINDOW = 256 * 1024;
/** A window below this is not worth a frame. */
const MIN_WINDOW = 16 * 1024;
/** Time in milliseconds in which a client must have closed its half after GOAWAY. */
const LINGER = 1000;

/** A connection whose first bytes have not been read yet. */
export class H2Connection implements StreamHost, InputQueue {
  readonly streams = new Map<number, H2Stream>();
  readonly outbound: Outbound;
  readonly #reader = new FrameReader();
  readonly #hpack = new HpackDecoder();
  readonly #nuisances = new Nuisances();
  readonly #finished = new FinishedStreams();
  readonly #streamWindow: number;
  readonly #held: HeldBytes;
  readonly #turns: Turns;
  readonly #time: RemoteTime;
  /** The window that a client gives a new stream. */
  #initialWindow = 65535;
  #receiveWindow = CONNECTION_WINDOW;
  /** The last stream that was opened; the last that is worked off once we are going away. */
  #lastStream = 0;
  #block: HeaderBlock | undefined;
  /** The stream whose listener has not worked off the last DATA, and whether that ended the stream. */
  #unread: { readonly stream: H2Stream; readonly ended: boolean } | undefined;
  #frameSince: number | undefined;
  #paused = false;
  #goingAway = false;
  #closed = false;
  #gotSettings = false;
  #batchesAtPing = 0;
  #linger: ReturnType<typeof setTimeout> | undefined;

  readonly #limits: H2Limits;
  readonly #events: H2Events;

  constructor(readonly transport: Transport, budget: SendBudget, limits: H2Limits, events: H2Events) {
    this.#limits = limits;
    this.#events = events;
    this.#streamWindow = limits.streamWindow ?? STREAM_WINDOW;
    this.#held = limits.held ?? new HeldBytes();
    this.#held.onRoom = () => this.#replenish();
    this.#turns = limits.turns ?? new Turns();
    this.#time = limits.time ?? new RemoteTime();
    this.outbound = new Outbound(
      transport,
      budget,
      this.#time,
      (queue) => this.#localEnd(queue),
      () => this.destroy(),
    );
    this.outbound.control(settingsFrame({
      [Setting.MAX_CONCURRENT_STREAMS]: limits.maxConcurrentStreams,
      [Setting.INITIAL_WINDOW_SIZE]: this.#streamWindow,
      [Setting.MAX_HEADER_LIST_SIZE]: MAX_HEADERS,
    }));
    this.outbound.control(numberFrame(FrameType.WINDOW_UPDATE, 0, CONNECTION_WINDOW - 65535));
    transport.start({ data: (chunk) => this.#receive(chunk), close: () => this.destroy() });
  }

  /** The client has shown that it speaks HTTP/2. */
  get started(): boolean {
    return this.#gotSettings;
  }

  /** Input has come that is not worked off. */
  get waitsForTurn(): boolean {
    return this.#unread !== undefined || this.#reader.unread;
  }

  /** When the frame or header block began whose end has not come yet; undefined between frames. */
  get insideSince(): number | undefined {
    return this.#block?.since ?? this.#frameSince;
  }

  /** Asks the client for a sign of life: any bytes are one. */
  ping(): void {
    this.outbound.control(frame(FrameType.PING, 0, 0, new Uint8Array(8)));
  }

  /**
   * Asks the client to open no more streams (GOAWAY); the connection closes when its last stream has ended. Streams
   * that the client opens before it knows are ignored: it opens them again elsewhere (section 6.8).
   */
  goAway(code: number = ErrorCode.NO_ERROR): void {
    if (this.#goingAway || this.#closed) return;
    this.#goingAway = true;
    this.outbound.control(numberFrame(FrameType.GOAWAY, 0, this.#lastStream, code));
    this.#closeIfDone();
  }

  /** Breaks the connection off. */
  destroy(): void {
    clearTimeout(this.#linger);
    this.transport.destroy();
    this.#end();
  }

  /** Ends all streams; nothing is read or sent any more, except what the transport has already. */
  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#turns.remove(this);
    this.outbound.close();
    for (const stream of [...this.streams.values()]) this.#close(stream);
    this.#events.close();
  }

  /** Sends what the transport has, and closes. */
  #finish(): void {
    this.outbound.flush();
    this.transport.end();
    this.#linger ??= setTimeout(() => this.destroy(), LINGER);
  }

  sendHeaders(stream: H2Stream, headers: Readonly<Record<string, string>>, endStream: boolean): void {
    const flags = Flag.END_HEADERS | (endStream ? Flag.END_STREAM : 0);
    this.outbound.control(frame(FrameType.HEADERS, flags, stream.id, encodeHeaders(headers)));
    if (endStream) this.#localEnd(stream.queue);
  }

  sendReady(stream: H2Stream): void {
    this.outbound.ready(stream.queue);
  }

  sendEnd(stream: H2Stream, headers: Readonly<Record<string, string>>): void {
    stream.localEnded = true;
    stream.queue.trailers = encodeHeaders(headers);
    this.outbound.ready(stream.queue);
  }

  sendReset(stream: H2Stream, code: number): void {
    this.outbound.control(numberFrame(FrameType.RST_STREAM, stream.id, code));
    this.#close(stream);
  }

  /** All of a stream has been sent. A client that has not finished is asked to stop (section 8.1). */
  #localEnd(queue: SendQueue): void {
    const stream = this.streams.get(queue.id);
    if (stream === undefined) return;
    stream.localEnded = true;
    if (stream.remoteEnded) this.#close(stream);
    else this.sendReset(stream, ErrorCode.NO_ERROR);
  }

  #close(stream: H2Stream, resetByClient = false): void {
    if (stream.closed) return;
    stream.closed = true;
    this.streams.delete(stream.id);
    this.#finished.add(stream.id, stream.remoteEnded, resetByClient);
    this.outbound.drop(stream.queue);
    this.#held.add(-stream.headerSize);
    stream.listener?.close();
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.#goingAway && this.streams.size === 0 && !this.#closed) this.#finish();
  }

  #receive(chunk: Uint8Array): void {
    if (this.#closed) return;
    this.#reader.push(chunk);
    this.#turns.add(this);
  }

  /** Works off received input; called in turns with the other connections of the server. */
  work(enough: () => boolean): boolean {
    let frames = 0;
    try {
      while (!this.#closed) {
        if (this.#unread !== undefined) this.#resume(this.#unread);
        else if (this.#reader.next()) {
          this.#frame();
          frames++;
        } else break;
        if (this.waitsForTurn && enough()) {
          this.#pause(true);
          return true;
        }
      }
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      this.#fail(error.code);
    }
    if (!this.#reader.insideFrame) this.#frameSince = undefined;
    else if (frames > 0 || this.#frameSince === undefined) this.#frameSince = this.#time.now;
    this.#pause(false);
    return false;
  }

  /** Reads no more from the transport while there is enough to work off. */
  #pause(paused: boolean): void {
    if (paused === this.#paused || this.#closed) return;
    this.#paused = paused;
    if (paused) this.transport.pause();
    else this.transport.resume();
  }

  /** Ends the connection with an error code. */
  #fail(code: number): void {
    if (!this.#reader.started) return this.destroy();
    this.outbound.control(numberFrame(FrameType.GOAWAY, 0, this.#lastStream, code));
    this.#finish();
    this.#end();
  }

  /** Ends a stream because of what its client did. */
  #streamError(id: number, code: number): void {
    this.#nuisances.add();
    const stream = this.streams.get(id);
    if (stream !== undefined) this.sendReset(stream, code);
    else this.outbound.control(numberFrame(FrameType.RST_STREAM, id, code));
  }

  /**
   * The stream that a frame is for. Undefined when it is over, or was opened after GOAWAY; the frame
   * then means nothing any more.
   *
   * @throws ConnectionError for a stream that was never opened
   */
  #known(id: number): H2Stream | undefined {
    const stream = this.streams.get(id);
    if (stream !== undefined) return stream;
    const late = this.#goingAway && id > this.#lastStream;
    if (id === 0 || id % 2 === 0 || (id > this.#lastStream && !late)) throw violation("a stream that was never opened");
    return undefined;
  }

  #frame(): void {
    const { type, flags, stream: id, payload } = this.#reader;
    if (!this.#gotSettings && type !== FrameType.SETTINGS) throw violation("the first frame is not SETTINGS");
    if (this.#block !== undefined && (type !== FrameType.CONTINUATION || id !== this.#block.stream)) {
      throw violation("a header block is interrupted");
    }
    switch (type) {
      case FrameType.DATA:
        return this.#data(flags, id, payload);
      case FrameType.HEADERS:
        return this.#headers(flags, id, payload);
      case FrameType.PRIORITY:
        return this.#priority(id, payload);
      case FrameType.CONTINUATION:
        return this.#continuation(flags, payload);
      case FrameType.RST_STREAM:
        return this.#reset(id, payload);
      case FrameType.SETTINGS:
        return this.#settings(flags, id, payload);
      case FrameType.PING:
        return this.#ping(flags, id, payload);
      case FrameType.WINDOW_UPDATE:
        return this.#windowUpdate(id, payload);
      case FrameType.PUSH_PROMISE:
        throw violation("a client pushes");
      case FrameType.GOAWAY:
        // The client opens no more streams, and closes when it is done.
        if (id !== 0) throw violation("GOAWAY on a stream");
        return;
      default:
        // Unknown types mean nothing.
        this.#nuisances.add();
    }
  }

  #data(flags: number, id: number, payload: Uint8Array): void {
    this.#receiveWindow -= payload.length;
    if (this.#receiveWindow < 0) throw new ConnectionError(ErrorCode.FLOW_CONTROL_ERROR, "connection window");
    const ended = (flags & Flag.END_STREAM) !== 0;
    // An empty frame that ends a stream is how some clients finish every call.
    if (payload.length === 0 && !ended) this.#nuisances.add();
    const bytes = unpadded(payload, flags);
    const stream = this.#known(id);
    if (stream !== undefined) this.#streamData(stream, payload.length, bytes, ended);
    else if (this.#finished.endedByClient(id)) this.#streamError(id, ErrorCode.STREAM_CLOSED);
    this.#replenish();
  }

  #streamData(stream: H2Stream, size: number, bytes: Uint8Array, ended: boolean): void {
    if (stream.remoteEnded) return this.#streamError(stream.id, ErrorCode.STREAM_CLOSED);
    stream.receiveWindow -= size;
    if (stream.receiveWindow < 0) return this.#streamError(stream.id, ErrorCode.FLOW_CONTROL_ERROR);
    stream.received += bytes.length;
    if (!stream.lengthFits(ended)) return this.#streamError(stream.id, ErrorCode.PROTOCOL_ERROR);
    if (stream.receiveWindow < this.#streamWindow / 2 && !ended) {
      const by = this.#streamWindow - stream.receiveWindow;
      this.outbound.control(numberFrame(FrameType.WINDOW_UPDATE, stream.id, by));
      stream.receiveWindow = this.#streamWindow;
    }
    if (bytes.length > 0) stream.listener?.data(bytes);
    this.#dataTaken(stream, ended);
  }

  #resume({ stream, ended }: { readonly stream: H2Stream; readonly ended: boolean }): void {
    this.#unread = undefined;
    if (!stream.closed) stream.listener?.resume?.();
    this.#dataTaken(stream, ended);
  }

  /** The listener has worked off DATA, or a part of it. */
  #dataTaken(stream: H2Stream, ended: boolean): void {
    if (!stream.closed && stream.listener?.unread?.() === true) this.#unread = { stream, ended };
    else if (ended) this.#remoteEnd(stream);
  }

  /** Lets the client send again, as far as there is room for it. */
  #replenish(): void {
    if (this.#closed) return;
    const wanted = Math.min(CONNECTION_WINDOW, this.#held.room);
    if (wanted < MIN_WINDOW || this.#receiveWindow >= wanted / 2) return;
    this.outbound.control(numberFrame(FrameType.WINDOW_UPDATE, 0, wanted - this.#receiveWindow));
    this.#receiveWindow = wanted;
  }

  #headers(flags: number, id: number, payload: Uint8Array): void {
    let bytes = unpadded(payload, flags);
    if (flags & Flag.PRIORITY) {
      if (bytes.length < 5) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "HEADERS");
      bytes = bytes.subarray(5);
    }
    if (id % 2 === 0) throw violation(`HEADERS on stream ${id}`);
    if (flags & Flag.END_HEADERS) return this.#headersDone(id, flags, bytes);
    this.#block = { stream: id, flags, bytes: new GrowingBuffer(), since: this.#time.now };
    this.#block.bytes.append(bytes, MAX_HEADERS);
  }

  #continuation(flags: number, payload: Uint8Array): void {
    const block = this.#block;
    if (block === undefined) throw violation("CONTINUATION without HEADERS");
    if (payload.length === 0) this.#nuisances.add();
    if (block.bytes.length + payload.length > MAX_HEADERS) {
      throw new ConnectionError(ErrorCode.ENHANCE_YOUR_CALM, "header block too large");
    }
    block.bytes.append(payload, MAX_HEADERS);
    if ((flags & Flag.END_HEADERS) === 0) return;
    this.#block = undefined;
    this.#headersDone(block.stream, block.flags, block.bytes.bytes);
  }

  #headersDone(id: number, flags: number, bytes: Uint8Array): void {
    const list = new HeaderList(MAX_HEADERS);
    this.#hpack.decode(bytes, list);
    const ended = (flags & Flag.END_STREAM) !== 0;
    const stream = this.streams.get(id);
    if (stream !== undefined) this.#trailers(stream, list, ended);
    else if (id > this.#lastStream) this.#request(id, list, ended);
    else if (this.#finished.endedByClient(id)) {
      throw new ConnectionError(ErrorCode.STREAM_CLOSED, "HEADERS on a stream that the client has ended");
    } else if (list.pseudo) {
      throw violation("a request on a stream that is over");
    }
    // These can only be trailers of a stream that we have closed.
  }

  /** Trailers of a request mean nothing to gRPC, but must end the stream. */
  #trailers(stream: H2Stream, list: HeaderList, ended: boolean): void {
    if (stream.remoteEnded) return this.#streamError(stream.id, ErrorCode.STREAM_CLOSED);
    if (!ended || trailersFault(list) !== undefined || !stream.lengthFits(true)) {
      return this.#streamError(stream.id, ErrorCode.PROTOCOL_ERROR);
    }
    this.#remoteEnd(stream);
  }

  #request(id: number, list: HeaderList, ended: boolean): void {
    // The client did not know yet that we are going away.
    if (this.#goingAway) return this.#nuisances.add();
    this.#lastStream = id;
    const queue = new SendQueue(id, this.#initialWindow);
    const stream = new H2Stream(id, list, queue, this.#streamWindow, this);
    this.streams.set(id, stream);
    this.#held.add(stream.headerSize);
    if (list.tooLarge) return this.#streamError(id, ErrorCode.ENHANCE_YOUR_CALM);
    if (requestFault(list) !== undefined || (ended && !stream.lengthFits(true))) {
      return this.#streamError(id, ErrorCode.PROTOCOL_ERROR);
    }
    if (this.streams.size > this.#limits.maxConcurrentStreams || this.#held.room === 0) {
      return this.#streamError(id, ErrorCode.REFUSED_STREAM);
    }
    // A handler that answers at once must find the stream ended, or the client would be asked to stop sending.
    stream.remoteEnded = ended;
    this.#events.stream(stream);
    if (ended) this.#remoteEnd(stream);
  }

  #remoteEnd(stream: H2Stream): void {
    if (stream.closed) return;
    stream.remoteEnded = true;
    stream.listener?.end();
    // Trailers that are still to be sent close the stream when they have been.
    if (stream.localEnded && stream.queue.trailers === undefined) this.#close(stream);
  }

  #priority(id: number, payload: Uint8Array): void {
    if (id === 0) throw violation("PRIORITY on no stream");
    if (payload.length !== 5) return this.#streamError(id, ErrorCode.FRAME_SIZE_ERROR);
    this.#nuisances.add();
  }

  #reset(id: number, payload: Uint8Array): void {
    if (payload.length !== 4) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "RST_STREAM");
    const stream = this.#known(id);
    if (stream !== undefined || !this.#finished.reset(id)) this.#nuisances.add();
    if (stream !== undefined) this.#close(stream, true);
  }

  #settings(flags: number, id: number, payload: Uint8Array): void {
    if (id !== 0) throw violation("SETTINGS on a stream");
    this.#gotSettings = true;
    if (flags & Flag.ACK) {
      if (payload.length > 0) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "SETTINGS");
      return;
    }
    this.#nuisances.add();
    const window = readSettings(payload);
    if (window !== undefined && window !== this.#initialWindow) this.#changeWindows(window);
    this.outbound.control(frame(FrameType.SETTINGS, Flag.ACK, 0));
  }

  #changeWindows(initial: number): void {
    const by = initial - this.#initialWindow;
    this.#initialWindow = initial;
    for (const { queue } of this.streams.values()) {
      queue.window += by;
      if (queue.window > MAX_WINDOW) throw new ConnectionError(ErrorCode.FLOW_CONTROL_ERROR, "window overflow");
    }
    if (by > 0) this.outbound.opened();
  }

  #ping(flags: number, id: number, payload: Uint8Array): void {
    if (id !== 0) throw violation("PING on a stream");
    if (payload.length !== 8) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "PING");
    if (flags & Flag.ACK) return;
    // Clients measure the path with a ping when data come; those are as many as we make them.
    if (this.outbound.batches === this.#batchesAtPing) this.#nuisances.add();
    this.#batchesAtPing = this.outbound.batches;
    this.outbound.control(frame(FrameType.PING, Flag.ACK, 0, payload));
  }

  #windowUpdate(id: number, payload: Uint8Array): void {
    if (payload.length !== 4) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "WINDOW_UPDATE");
    const by = new DataView(payload.buffer, payload.byteOffset).getUint32(0) & MAX_WINDOW;
    if (id === 0) {
      if (by === 0) throw violation("WINDOW_UPDATE of 0");
      this.outbound.window += by;
      if (this.outbound.window > MAX_WINDOW) throw new ConnectionError(ErrorCode.FLOW_CONTROL_ERROR, "window overflow");
      return this.outbound.opened();
    }
    const stream = this.#known(id);
    if (by === 0 && id <= this.#lastStream) return this.#streamError(id, ErrorCode.PROTOCOL_ERROR);
    if (stream === undefined) return;
    stream.queue.window += by;
    if (stream.queue.window > MAX_WINDOW) return this.#streamError(id, ErrorCode.FLOW_CONTROL_ERROR);
    this.outbound.opened();
  }
}
