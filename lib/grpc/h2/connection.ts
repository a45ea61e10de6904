/**
 * One HTTP/2 connection on the server side (RFC 9113): as much of the protocol as gRPC needs, with a limit on
 * everything that a peer can make it do.
 *
 * Why not `node:http2`: on Deno 2.8.3 every connection that closes there leaves some 25 kB behind for ever (the native
 * session is never freed), its writes know no back-pressure and are copied twice, and later versions of Deno crash when
 * a peer goes away (denoland/deno#36788).
 *
 * @module
 */
import type { Transport } from "../../sockets/transport/transport.ts";
import { ErrorCode, Flag, FrameType, Setting } from "./constants.ts";
import { ConnectionError, frame, FrameReader, numberFrame, settingsFrame, unpadded } from "./frames.ts";
import { encodeHeaders, type Headers, HpackDecoder } from "./hpack.ts";
import { Outbound, type SendBudget, SendQueue } from "./outbound.ts";
import { H2Stream, type StreamHost } from "./stream.ts";

/** Limits of a connection. */
export interface H2Limits {
  /** Streams that a peer may have open at once. */
  readonly maxConcurrentStreams: number;
  /** Bytes of a stream that a peer may send before we take them; we take them at once. Default 256 KiB. */
  readonly streamWindow?: number;
}

/** What a connection tells its owner. */
export interface H2Events {
  /** A client has opened a stream; the listener must be set before the call returns. */
  stream(stream: H2Stream): void;
  /** The connection is over; called exactly once, after all its streams were closed. */
  close(): void;
}

/** Largest header block and header list of a request, in bytes. */
const MAX_HEADERS = 32 * 1024;
/** Bytes of the whole connection that a peer may send before we take them. */
const CONNECTION_WINDOW = 1024 * 1024;
const STREAM_WINDOW = 256 * 1024;
const MAX_WINDOW = 0x7fffffff;
/** Streams that a peer may reset, or control frames that it may send, beyond {@linkcode FORGIVEN} a second. */
const PATIENCE = 1000;
const FORGIVEN = 100;
/** Time in milliseconds in which a peer that was told to go must have closed its half. */
const LINGER = 1000;

/** A connection whose first bytes have not been read yet. */
export class H2Connection implements StreamHost {
  readonly streams = new Map<number, H2Stream>();
  readonly outbound: Outbound;
  readonly #reader = new FrameReader();
  readonly #hpack = new HpackDecoder(MAX_HEADERS);
  readonly #streamWindow: number;
  #peerWindow = 65535;
  #receiveWindow = CONNECTION_WINDOW;
  #lastStream = 0;
  #block: { stream: number; flags: number; parts: Uint8Array[]; size: number } | undefined;
  #goingAway = false;
  #closed = false;
  #nuisances = 0;
  #nuisancesAt = performance.now();
  #gotSettings = false;
  #batchesAtPing = 0;
  #linger: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly transport: Transport,
    budget: SendBudget,
    private readonly limits: H2Limits,
    private readonly events: H2Events,
  ) {
    this.#streamWindow = limits.streamWindow ?? STREAM_WINDOW;
    this.outbound = new Outbound(
      transport,
      budget,
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

  /** The peer has shown that it speaks HTTP/2. */
  get started(): boolean {
    return this.#gotSettings;
  }

  /** Asks the peer for a sign of life: any bytes are one. */
  ping(): void {
    this.outbound.control(frame(FrameType.PING, 0, 0, new Uint8Array(8)));
  }

  /** Tells the peer to open no more streams; the connection closes when its last stream has ended. */
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

  /** Ends all streams; nothing is read or sent any more, except what the socket has already. */
  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.outbound.close();
    for (const stream of [...this.streams.values()]) this.#close(stream);
    this.events.close();
  }

  /** Sends what the socket has, and closes. */
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

  sendTrailers(stream: H2Stream, headers: Readonly<Record<string, string>>): void {
    stream.localEnded = true;
    stream.queue.trailers = encodeHeaders(headers);
    this.outbound.ready(stream.queue);
  }

  sendReset(stream: H2Stream, code: number): void {
    this.outbound.control(numberFrame(FrameType.RST_STREAM, stream.id, code));
    this.#close(stream);
  }

  /** All of a stream has been sent. A client that has not finished is told that we need no more (section 8.1). */
  #localEnd(queue: SendQueue): void {
    const stream = this.streams.get(queue.id);
    if (stream === undefined) return;
    stream.localEnded = true;
    if (stream.remoteEnded) this.#close(stream);
    else this.sendReset(stream, ErrorCode.NO_ERROR);
  }

  #close(stream: H2Stream): void {
    if (stream.closed) return;
    stream.closed = true;
    this.streams.delete(stream.id);
    this.outbound.drop(stream.queue);
    stream.listener?.close();
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.#goingAway && this.streams.size === 0 && !this.#closed) this.#finish();
  }

  #receive(chunk: Uint8Array): void {
    if (this.#closed) return;
    try {
      this.#reader.push(chunk, (type, flags, stream, payload) => {
        if (!this.#closed) this.#frame(type, flags, stream, payload);
      });
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      this.#fail(error.code);
    }
  }

  /** Ends the connection with an error code. */
  #fail(code: number): void {
    if (!this.#reader.started) return this.destroy();
    this.outbound.control(numberFrame(FrameType.GOAWAY, 0, this.#lastStream, code));
    this.#finish();
    this.#end();
  }

  #frame(type: number, flags: number, id: number, payload: Uint8Array): void {
    if (!this.#gotSettings && type !== FrameType.SETTINGS) throw violation("the first frame is not SETTINGS");
    if (this.#block !== undefined && (type !== FrameType.CONTINUATION || id !== this.#block.stream)) {
      throw violation("a header block is interrupted");
    }
    switch (type) {
      case FrameType.DATA:
        return this.#data(flags, id, payload);
      case FrameType.HEADERS:
        return this.#headers(flags, id, payload);
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
      default:
        // GOAWAY: the client opens no more streams and closes when it is done. PRIORITY and unknown types mean nothing.
        if (type !== FrameType.GOAWAY) this.#nuisance();
    }
  }

  #data(flags: number, id: number, payload: Uint8Array): void {
    if (id === 0 || id > this.#lastStream) throw violation("DATA on a stream that was never opened");
    this.#receiveWindow -= payload.length;
    if (this.#receiveWindow < 0) throw new ConnectionError(ErrorCode.FLOW_CONTROL_ERROR, "connection window");
    if (this.#receiveWindow < CONNECTION_WINDOW / 2) {
      this.outbound.control(numberFrame(FrameType.WINDOW_UPDATE, 0, CONNECTION_WINDOW - this.#receiveWindow));
      this.#receiveWindow = CONNECTION_WINDOW;
    }
    // An empty frame that ends a stream is how some clients finish every call.
    if (payload.length === 0 && (flags & Flag.END_STREAM) === 0) this.#nuisance();
    const bytes = unpadded(payload, flags);
    const stream = this.streams.get(id);
    // What was on its way when we closed the stream is thrown away.
    if (stream === undefined) return;
    if (stream.remoteEnded) return this.sendReset(stream, ErrorCode.STREAM_CLOSED);
    stream.receiveWindow -= payload.length;
    if (stream.receiveWindow < 0) return this.sendReset(stream, ErrorCode.FLOW_CONTROL_ERROR);
    if (stream.receiveWindow < this.#streamWindow / 2 && (flags & Flag.END_STREAM) === 0) {
      this.outbound.control(numberFrame(FrameType.WINDOW_UPDATE, id, this.#streamWindow - stream.receiveWindow));
      stream.receiveWindow = this.#streamWindow;
    }
    if (bytes.length > 0) stream.listener?.data(bytes);
    if (flags & Flag.END_STREAM) this.#remoteEnd(stream);
  }

  #headers(flags: number, id: number, payload: Uint8Array): void {
    let block = unpadded(payload, flags);
    if (flags & Flag.PRIORITY) block = block.subarray(5);
    if (id % 2 === 0) throw violation(`HEADERS on stream ${id}`);
    this.#block = { stream: id, flags, parts: [block], size: block.length };
    if (flags & Flag.END_HEADERS) this.#headersDone();
  }

  #continuation(flags: number, payload: Uint8Array): void {
    const block = this.#block;
    if (block === undefined) throw violation("CONTINUATION without HEADERS");
    if (payload.length === 0) this.#nuisance();
    block.parts.push(payload);
    block.size += payload.length;
    if (block.size > MAX_HEADERS) throw new ConnectionError(ErrorCode.ENHANCE_YOUR_CALM, "header block too large");
    if (flags & Flag.END_HEADERS) this.#headersDone();
  }

  #headersDone(): void {
    const { stream: id, flags, parts } = this.#block!;
    this.#block = undefined;
    const block = parts.length === 1 ? parts[0]! : new Uint8Array(parts.flatMap((part) => [...part]));
    // Every block must be decoded, wanted or not: the table of the next one depends on it.
    const headers = this.#hpack.decode(block);
    const known = this.streams.get(id);
    if (known !== undefined) {
      // Trailers of a request mean nothing to gRPC, but must end the stream.
      if (known.remoteEnded || (flags & Flag.END_STREAM) === 0) return this.sendReset(known, ErrorCode.PROTOCOL_ERROR);
      return this.#remoteEnd(known);
    }
    // A stream that we have closed already may still see its trailers.
    if (id <= this.#lastStream) return;
    this.#open(id, headers, (flags & Flag.END_STREAM) !== 0);
  }

  #open(id: number, headers: Headers | undefined, ended: boolean): void {
    if (this.#goingAway) return this.outbound.control(numberFrame(FrameType.RST_STREAM, id, ErrorCode.REFUSED_STREAM));
    this.#lastStream = id;
    const queue = new SendQueue(id, this.#peerWindow);
    const stream = new H2Stream(id, headers ?? {}, queue, this.#streamWindow, this);
    this.streams.set(id, stream);
    if (headers?.[":method"] === undefined || headers[":path"] === undefined) {
      return this.sendReset(stream, ErrorCode.PROTOCOL_ERROR);
    }
    if (this.streams.size > this.limits.maxConcurrentStreams) {
      this.#nuisance();
      return this.sendReset(stream, ErrorCode.REFUSED_STREAM);
    }
    this.events.stream(stream);
    if (ended) this.#remoteEnd(stream);
  }

  #remoteEnd(stream: H2Stream): void {
    stream.remoteEnded = true;
    stream.listener?.end();
    // Trailers that are still to be sent close the stream when they have been.
    if (stream.localEnded && stream.queue.trailers === undefined) this.#close(stream);
  }

  #reset(id: number, payload: Uint8Array): void {
    if (payload.length !== 4) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "RST_STREAM");
    if (id === 0 || id > this.#lastStream) throw violation("RST_STREAM on a stream that was never opened");
    this.#nuisance();
    const stream = this.streams.get(id);
    if (stream !== undefined) this.#close(stream);
  }

  #settings(flags: number, id: number, payload: Uint8Array): void {
    if (id !== 0) throw violation("SETTINGS on a stream");
    if (payload.length % 6 !== 0) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "SETTINGS");
    this.#gotSettings = true;
    if (flags & Flag.ACK) return;
    this.#nuisance();
    const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
    for (let at = 0; at < payload.length; at += 6) {
      // Frames and tables that we send are of the size that every peer takes, whatever it would allow beyond.
      if (view.getUint16(at) === Setting.INITIAL_WINDOW_SIZE) this.#initialWindow(view.getUint32(at + 2));
    }
    this.outbound.control(frame(FrameType.SETTINGS, Flag.ACK, 0));
  }

  #initialWindow(window: number): void {
    if (window > MAX_WINDOW) throw new ConnectionError(ErrorCode.FLOW_CONTROL_ERROR, "initial window");
    for (const stream of this.streams.values()) stream.queue.window += window - this.#peerWindow;
    this.#peerWindow = window;
    this.outbound.opened();
  }

  #ping(flags: number, id: number, payload: Uint8Array): void {
    if (id !== 0) throw violation("PING on a stream");
    if (payload.length !== 8) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "PING");
    if (flags & Flag.ACK) return;
    // Clients measure the path with a ping when data come; those are as many as we make them.
    if (this.outbound.batches === this.#batchesAtPing) this.#nuisance();
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
    if (id > this.#lastStream) throw violation("WINDOW_UPDATE on a stream that was never opened");
    const stream = this.streams.get(id);
    if (stream === undefined) return;
    if (by === 0) return this.sendReset(stream, ErrorCode.PROTOCOL_ERROR);
    stream.queue.window += by;
    if (stream.queue.window > MAX_WINDOW) return this.sendReset(stream, ErrorCode.FLOW_CONTROL_ERROR);
    this.outbound.opened();
  }

  /** Counts what is legal but costs us more than the peer; a peer that overdoes it is told to calm down. */
  #nuisance(): void {
    const now = performance.now();
    this.#nuisances = Math.max(0, this.#nuisances - (now - this.#nuisancesAt) * FORGIVEN / 1000) + 1;
    this.#nuisancesAt = now;
    if (this.#nuisances > PATIENCE) throw new ConnectionError(ErrorCode.ENHANCE_YOUR_CALM, "too many control frames");
  }
}

function violation(what: string): ConnectionError {
  return new ConnectionError(ErrorCode.PROTOCOL_ERROR, what);
}
