/**
 * One HTTP/2 connection on the client's side (RFC 9113), with the part of the protocol that gRPC needs. Input is read
 * at once, not in turns: a client receives only answers to its own calls.
 *
 * Why not a library: docs/decisions/0024-the-grpc-client.md.
 *
 * @module
 */
import { RemoteTime } from "../../sockets/patience.ts";
import type { Transport } from "../../sockets/transport/transport.ts";
import { GrowingBuffer } from "../budget/growing_buffer.ts";
import { ErrorCode, Flag, FrameType, MAX_WINDOW, PREFACE, Setting } from "../h2/constants.ts";
import { ConnectionError, frame, FrameReader, numberFrame, settingsFrame, unpadded, violation } from "../h2/frames.ts";
import type { HttpHeaders } from "../h2/headers.ts";
import { encodeHeaders, type HeaderSink, HpackDecoder } from "../h2/hpack.ts";
import { Outbound, SendBudget, SendQueue } from "../h2/outbound.ts";
import { readSettings } from "../h2/settings.ts";
import { ClientStream, type ClientStreamHost, type ClientStreamListener } from "./client_stream.ts";

/** Most bytes of a header list. */
const MAX_SIZE = 64 * 1024;

/** A decoded header list. The values of a repeated header are joined by a comma. */
class ResponseHeaders implements HeaderSink {
  readonly headers: HttpHeaders = Object.create(null);
  tooLarge = false;
  #size = 0;

  add(name: string, value: string): void {
    this.#size += name.length + value.length + 32;
    if (this.#size > MAX_SIZE) this.tooLarge = true;
    if (this.tooLarge) return;
    const before = this.headers[name];
    this.headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
}

/** Settings of a connection; times in milliseconds. */
export interface ClientConnectionOptions {
  /** The server's silence before a ping. Default 30,000. */
  readonly keepaliveInterval?: number;
  /** Wait for the answer before the connection is given up. Default 10,000. */
  readonly keepaliveTimeout?: number;
  /** Called once, when the connection is over, with the reason. */
  readonly onClose?: (reason: string) => void;
}

/**
 * Bytes that a server may send before this side takes them, on a stream and on the whole connection. This side takes
 * bytes at once.
 */
const WINDOW = 1024 * 1024;
/** Largest header block of a response. */
const MAX_HEADERS = 64 * 1024;

export class ClientConnection implements ClientStreamHost {
  readonly #streams = new Map<number, ClientStream>();
  readonly #reader = new FrameReader(true);
  readonly #hpack = new HpackDecoder();
  readonly #outbound: Outbound;
  readonly #transport: Transport;
  readonly #onClose: (reason: string) => void;
  readonly #keepalive: ReturnType<typeof setInterval>;
  #nextStream = 1;
  #initialWindow = 65535;
  #receiveWindow = WINDOW;
  #goingAway = false;
  #closed = false;

  /** @param transport a connection to an HTTP/2 server */
  constructor(transport: Transport, options: ClientConnectionOptions = {}) {
    this.#transport = transport;
    this.#onClose = options.onClose ?? (() => {});
    const { keepaliveInterval: interval = 30_000, keepaliveTimeout: timeout = 10_000 } = options;
    const between = Math.max(10, Math.min(interval, timeout) / 4);
    const time = new RemoteTime(2 * between);
    const close = (reason: string) => this.#close(reason);
    this.#outbound = new Outbound(
      transport,
      new SendBudget(),
      time,
      (queue) => this.#sent(queue),
      () => close("the server makes us answer more than it reads"),
    );
    this.#outbound.control(PREFACE);
    this.#outbound.control(settingsFrame({ [Setting.ENABLE_PUSH]: 0, [Setting.INITIAL_WINDOW_SIZE]: WINDOW }));
    this.#outbound.control(numberFrame(FrameType.WINDOW_UPDATE, 0, WINDOW - 65535));
    this.#keepalive = setInterval(this.#keepaliveCheck(time, interval, timeout), between);
    transport.start({ data: (chunk) => this.#receive(chunk), close: () => close("the connection ended") });
  }

  /** Whether streams can be opened. */
  get usable(): boolean {
    return !this.#closed && !this.#goingAway;
  }

  /** Opens a stream. If the connection takes no more streams, the listener is told in the next turn. */
  open(headers: Readonly<Record<string, string>>, listener: ClientStreamListener): ClientStream {
    const id = this.#nextStream;
    const stream = new ClientStream(id, new SendQueue(id, this.#initialWindow), listener, WINDOW, this);
    if (!this.usable) {
      stream.closed = true;
      queueMicrotask(() => listener.close("the connection takes no more calls"));
      return stream;
    }
    this.#nextStream += 2;
    this.#streams.set(id, stream);
    this.#outbound.control(frame(FrameType.HEADERS, Flag.END_HEADERS, id, encodeHeaders(headers)));
    return stream;
  }

  ready(stream: ClientStream): void {
    this.#outbound.ready(stream.queue);
  }

  reset(stream: ClientStream): void {
    this.#outbound.control(numberFrame(FrameType.RST_STREAM, stream.id, ErrorCode.CANCEL));
    this.#forget(stream);
  }

  /** Closes the connection. The listeners of open streams get the reason. */
  close(reason = "closed by the client"): void {
    if (this.#closed) return;
    this.#outbound.control(numberFrame(FrameType.GOAWAY, 0, 0, ErrorCode.NO_ERROR));
    this.#outbound.flush();
    this.#close(reason);
  }

  #close(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#keepalive);
    this.#outbound.close();
    this.#transport.destroy();
    for (const stream of [...this.#streams.values()]) this.#end(stream, reason);
    this.#onClose(reason);
  }

  /** Our side of the stream has been sent whole. Nothing changes: the server may still answer. */
  #sent(_queue: SendQueue): void {}

  #forget(stream: ClientStream): void {
    stream.closed = true;
    this.#streams.delete(stream.id);
    this.#outbound.drop(stream.queue);
    if (this.#goingAway && this.#streams.size === 0) this.#close("the server is going away");
  }

  #end(stream: ClientStream, reason?: string): void {
    if (stream.closed) return;
    const half = stream.queue.trailers === undefined;
    this.#forget(stream);
    // The server has ended the call before the end of our side. After the reset the server may forget the call.
    if (reason === undefined && half) {
      this.#outbound.control(numberFrame(FrameType.RST_STREAM, stream.id, ErrorCode.NO_ERROR));
    }
    stream.listener.close(reason);
  }

  #keepaliveCheck(time: RemoteTime, interval: number, timeout: number): () => void {
    let bytes = -1;
    let pinged = false;
    let since = time.now;
    return () => {
      if (!time.tick()) return;
      const { now } = time;
      if (this.#transport.bytesRead !== bytes) {
        bytes = this.#transport.bytesRead;
        pinged = false;
        since = now;
      } else if (pinged && now - since >= timeout) this.#close(`no sign of life within ${timeout / 1000} s`);
      else if (!pinged && now - since >= interval) {
        pinged = true;
        since = now;
        this.#outbound.control(frame(FrameType.PING, 0, 0, new Uint8Array(8)));
      }
    };
  }

  #receive(chunk: Uint8Array): void {
    if (this.#closed) return;
    try {
      this.#reader.push(chunk);
      while (!this.#closed && this.#reader.next()) this.#frame();
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      this.#outbound.control(numberFrame(FrameType.GOAWAY, 0, 0, error.code));
      this.#outbound.flush();
      this.#close(`the server broke the protocol: ${error.message}`);
    }
  }

  #frame(): void {
    const { type, flags, stream: id, payload } = this.#reader;
    switch (type) {
      case FrameType.DATA:
        return this.#data(flags, id, payload);
      case FrameType.HEADERS:
        return this.#headers(flags, id, payload);
      case FrameType.CONTINUATION:
        return this.#continuation(flags, id, payload);
      case FrameType.RST_STREAM:
        return this.#reset(id, payload);
      case FrameType.SETTINGS:
        return this.#settings(flags, payload);
      case FrameType.PING:
        if ((flags & Flag.ACK) === 0) this.#outbound.control(frame(FrameType.PING, Flag.ACK, 0, payload));
        return;
      case FrameType.GOAWAY:
        return this.#goAway(payload);
      case FrameType.WINDOW_UPDATE:
        return this.#windowUpdate(id, payload);
      case FrameType.PUSH_PROMISE:
        throw violation("a server pushes");
      default:
        // Unknown types and priorities mean nothing.
    }
  }

  #data(flags: number, id: number, payload: Uint8Array): void {
    this.#receiveWindow -= payload.length;
    if (this.#receiveWindow < 0) throw new ConnectionError(ErrorCode.FLOW_CONTROL_ERROR, "connection window");
    if (this.#receiveWindow < WINDOW / 2) {
      this.#outbound.control(numberFrame(FrameType.WINDOW_UPDATE, 0, WINDOW - this.#receiveWindow));
      this.#receiveWindow = WINDOW;
    }
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    stream.receiveWindow -= payload.length;
    if (stream.receiveWindow < 0) throw new ConnectionError(ErrorCode.FLOW_CONTROL_ERROR, "stream window");
    const ended = (flags & Flag.END_STREAM) !== 0;
    if (stream.receiveWindow < WINDOW / 2 && !ended) {
      this.#outbound.control(numberFrame(FrameType.WINDOW_UPDATE, id, WINDOW - stream.receiveWindow));
      stream.receiveWindow = WINDOW;
    }
    const bytes = unpadded(payload, flags);
    if (bytes.length > 0) stream.listener.data(bytes);
    if (ended) this.#end(stream);
  }

  #headers(flags: number, id: number, payload: Uint8Array): void {
    let bytes = unpadded(payload, flags);
    if (flags & Flag.PRIORITY) bytes = bytes.subarray(5);
    const ended = (flags & Flag.END_STREAM) !== 0;
    if (flags & Flag.END_HEADERS) return this.#headersDone(this.#streams.get(id), ended, bytes);
    const stream = this.#streams.get(id);
    if (stream === undefined) throw violation("a header block in parts on a stream that is over");
    stream.block = { bytes: new GrowingBuffer(), ended };
    stream.block.bytes.append(bytes, MAX_HEADERS);
  }

  #continuation(flags: number, id: number, payload: Uint8Array): void {
    const stream = this.#streams.get(id);
    const block = stream?.block;
    if (stream === undefined || block === undefined) throw violation("CONTINUATION without HEADERS");
    if (block.bytes.length + payload.length > MAX_HEADERS) {
      throw new ConnectionError(ErrorCode.ENHANCE_YOUR_CALM, "header block too large");
    }
    block.bytes.append(payload, MAX_HEADERS);
    if ((flags & Flag.END_HEADERS) === 0) return;
    stream.block = undefined;
    this.#headersDone(stream, block.ended, block.bytes.bytes);
  }

  /** Every block is decoded, wanted or not: decoding changes the table for the next block. */
  #headersDone(stream: ClientStream | undefined, ended: boolean, bytes: Uint8Array): void {
    const list = new ResponseHeaders();
    this.#hpack.decode(bytes, list);
    if (stream === undefined) return;
    stream.listener.headers(list.headers);
    if (ended) this.#end(stream);
  }

  #reset(id: number, payload: Uint8Array): void {
    if (payload.length !== 4) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "RST_STREAM");
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    const code = new DataView(payload.buffer, payload.byteOffset).getUint32(0);
    this.#end(stream, `the server broke the call off (HTTP/2 error ${code})`);
  }

  #settings(flags: number, payload: Uint8Array): void {
    if (flags & Flag.ACK) return;
    const window = readSettings(payload);
    if (window !== undefined) {
      const by = window - this.#initialWindow;
      this.#initialWindow = window;
      for (const { queue } of this.#streams.values()) queue.window += by;
      if (by > 0) this.#outbound.opened();
    }
    this.#outbound.control(frame(FrameType.SETTINGS, Flag.ACK, 0));
  }

  /** Calls that the server has not seen end. Other calls may still finish. */
  #goAway(payload: Uint8Array): void {
    if (payload.length < 8) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "GOAWAY");
    const last = new DataView(payload.buffer, payload.byteOffset).getUint32(0) & MAX_WINDOW;
    this.#goingAway = true;
    for (const stream of [...this.#streams.values()]) {
      if (stream.id > last) this.#end(stream, "the server is going away");
    }
    if (this.#streams.size === 0) this.#close("the server is going away");
  }

  #windowUpdate(id: number, payload: Uint8Array): void {
    if (payload.length !== 4) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "WINDOW_UPDATE");
    const by = new DataView(payload.buffer, payload.byteOffset).getUint32(0) & MAX_WINDOW;
    const window = id === 0 ? this.#outbound : this.#streams.get(id)?.queue;
    if (window === undefined) return;
    window.window += by;
    if (window.window > MAX_WINDOW) throw new ConnectionError(ErrorCode.FLOW_CONTROL_ERROR, "window overflow");
    this.#outbound.opened();
  }
}
