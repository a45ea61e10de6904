/**
 * A gRPC stream on its own HTTP/2 connection, as cheap as possible: the generator shares the cores with the server, and
 * its own work would count as the server's time. It reads frames directly from the socket, copies each message once,
 * and follows the protocol's requirements for clients: settings, pings, windows.
 *
 * Permissions: net (the server).
 *
 * @module
 */
import { gunzipSync } from "node:zlib";
import { HpackDecoder } from "../../../../lib/grpc/h2/hpack.ts";
import { concatBytes } from "../../../../lib/resource/block.ts";
import { frame, headers, PREFACE, windowUpdate } from "../../../wire_conformance/support/raw_client.ts";

/** Flow-control windows that Envoy offers by default: 16 MiB per stream, 24 MiB per connection. */
const STREAM_WINDOW = 16 << 20;
const CONNECTION_WINDOW = 24 << 20;
/** The protocol's default until settings arrive. */
const DEFAULT_WINDOW = 65_535;
const MAX_FRAME = 16_384;
const READ_SIZE = 128 << 10;

/** Frame types. */
const DATA = 0, HEADERS = 1, RST_STREAM = 3, SETTINGS = 4, PING = 6, GOAWAY = 7, WINDOW_UPDATE = 8;
/** Settings. */
const INITIAL_WINDOW_SIZE = 4;

/** Hears of received messages. */
export interface StreamEvents {
  /** An unpacked message. */
  message(bytes: Uint8Array): void;
  /** Bytes on the wire, either way. */
  wire(bytes: number): void;
  /** The server ended the stream or the connection, or broke the protocol. */
  ended(reason: string): void;
  /** A call besides the stream, opened by {@linkcode GrpcStream.raw}, is over. */
  otherEnded?(): void;
  /** The stream has become calm ({@linkcode GrpcStream.calm}). */
  calmed?(): void;
}

/** Limit of waiting bytes for a client that sends as much as possible. */
const CALM = 64 << 10;

/** A client's TLS identity and trust, as PEM texts. */
export interface StreamTls {
  readonly root: string;
  readonly certificate: string;
  readonly key: string;
}

type StreamConn = Deno.TcpConn | Deno.TlsConn | Deno.UnixConn;

async function connected(
  hostname: string,
  port: number,
  tls: StreamTls | undefined,
): Promise<StreamConn> {
  if (hostname.startsWith("/")) return await Deno.connect({ transport: "unix", path: hostname });
  if (tls !== undefined) {
    const { root, certificate: cert, key } = tls;
    return await Deno.connectTls({ hostname, port, caCerts: [root], cert, key, alpnProtocols: ["h2"] });
  }
  const connection = await Deno.connect({ hostname, port });
  connection.setNoDelay(true);
  return connection;
}

export class GrpcStream {
  #connection: StreamConn | undefined;
  #closed = false;
  #writing = false;
  /** Frames waiting for the socket. */
  #outgoing: Uint8Array[] = [];
  /** Bytes of requests waiting for the server's windows. */
  #unsent: Uint8Array[] = [];
  #initialWindow = DEFAULT_WINDOW;
  #streamWindow = DEFAULT_WINDOW;
  #connectionWindow = DEFAULT_WINDOW;
  /** Bytes received since the last time the windows were opened again. */
  #consumed = 0;
  #head = new Uint8Array(5);
  #headAt = 0;
  #body: Uint8Array | undefined;
  #bodyAt = 0;
  /** Number of bytes waiting for the server's windows and for the socket. */
  #waiting = 0;
  #pongs: (() => void)[] = [];
  #connected = Promise.withResolvers<void>();

  constructor(private readonly events: StreamEvents) {}

  /**
   * Connects to a port, or to a socket if the name is an absolute path, and opens the stream. Messages may be sent at
   * once.
   */
  async open(
    hostname: string,
    port: number,
    path: string,
    gzip: boolean,
    more: Readonly<Record<string, string>> = {},
    tls?: StreamTls,
  ): Promise<void> {
    try {
      const connection = this.#connection = await connected(hostname, port, tls);
      const settings = new Uint8Array(6);
      new DataView(settings.buffer).setUint16(0, INITIAL_WINDOW_SIZE);
      new DataView(settings.buffer).setUint32(2, STREAM_WINDOW);
      this.#write(PREFACE, frame(SETTINGS, 0, 0, settings), windowUpdate(CONNECTION_WINDOW - DEFAULT_WINDOW));
      this.#write(headers(1, path, { ...gzip && { "grpc-accept-encoding": "identity,gzip" }, ...more }));
      this.#flush();
      this.#connected.resolve();
      await this.#read(connection);
      this.#end("the server closed the connection");
    } catch (error) {
      this.#end(String(error));
    }
  }

  /** Resolves when connected. */
  get opened(): Promise<void> {
    return this.#connected.promise;
  }

  /** Whether little waits to be sent. */
  get calm(): boolean {
    return !this.#closed && this.#waiting < CALM;
  }

  /** Sends frames unchanged. Does nothing before {@linkcode open} has connected. */
  raw(frames: Uint8Array): void {
    if (this.#connection) this.#write(frames);
  }

  /** Resolves when the server has answered a ping sent after all messages. */
  async answered(): Promise<void> {
    await this.opened;
    while (this.#unsent.length > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pongs.push(resolve);
    this.#write(frame(PING, 0, 0, new Uint8Array(8)));
    await promise;
  }

  /**
   * Sends a message.
   *
   * @param packed The message is already compressed.
   */
  send(message: Uint8Array, packed = false): void {
    const framed = new Uint8Array(5 + message.length);
    framed[0] = packed ? 1 : 0;
    new DataView(framed.buffer).setUint32(1, message.length);
    framed.set(message, 5);
    this.#unsent.push(framed);
    this.#waiting += framed.length;
    if (this.#connection) this.#flush();
  }

  /** Closes the connection. */
  close(): void {
    this.#closed = true;
    this.#connection?.close();
  }

  #end(reason: string): void {
    if (this.#closed) return;
    this.close();
    this.events.ended(reason);
  }

  #write(...parts: readonly Uint8Array[]): void {
    const connection = this.#connection!;
    for (const part of parts) {
      this.events.wire(part.length);
      this.#waiting += part.length;
    }
    this.#outgoing.push(...parts);
    if (this.#writing) return;
    this.#writing = true;
    queueMicrotask(() => void this.#writeAll(connection).catch((error) => this.#end(String(error))));
  }

  /** All waiting bytes go into one write: between two writes other proxies may occupy this process for seconds. */
  async #writeAll(connection: StreamConn): Promise<void> {
    while (this.#outgoing.length > 0) {
      const bytes = concatBytes(this.#outgoing.splice(0));
      for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
      this.#sent(bytes.length);
    }
    this.#writing = false;
  }

  #sent(bytes: number): void {
    const calm = this.calm;
    this.#waiting -= bytes;
    if (!calm && this.calm) this.events.calmed?.();
  }

  /** Sends as much as the windows admit. */
  #flush(): void {
    for (let next = this.#unsent[0]; next; next = this.#unsent[0]) {
      const size = Math.min(next.length, MAX_FRAME, this.#streamWindow, this.#connectionWindow);
      if (size <= 0) return;
      this.#streamWindow -= size;
      this.#connectionWindow -= size;
      this.#write(frame(DATA, 0, 1, next.subarray(0, size)));
      this.#waiting -= size; // Counted as written now.
      if (size === next.length) this.#unsent.shift();
      else this.#unsent[0] = next.subarray(size);
    }
  }

  async #read(connection: StreamConn): Promise<void> {
    const buffer = new Uint8Array(READ_SIZE);
    const view = new DataView(buffer.buffer);
    let [from, to] = [0, 0];
    for (;;) {
      const read = await connection.read(buffer.subarray(to));
      if (read === null) return;
      this.events.wire(read);
      to += read;
      while (to - from >= 9) {
        const length = view.getUint32(from) >>> 8;
        if (to - from < 9 + length) break;
        const stream = view.getUint32(from + 5);
        this.#frame(buffer[from + 3]!, buffer[from + 4]!, stream, buffer.subarray(from + 9, from + 9 + length));
        from += 9 + length;
      }
      buffer.copyWithin(0, from, to);
      [from, to] = [0, to - from];
    }
  }

  #frame(type: number, flags: number, stream: number, payload: Uint8Array): void {
    const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
    if (type === DATA) this.#data(payload);
    else if (type === SETTINGS && flags === 0) this.#settings(view);
    else if (type === PING && flags === 1) this.#pongs.shift()?.();
    else if (type === PING) this.#write(frame(PING, 1, 0, payload.slice()));
    else if (type === WINDOW_UPDATE) this.#window(stream, view.getUint32(0));
    else if (stream > 1 && (type === RST_STREAM || (type === HEADERS && (flags & 1) !== 0))) this.events.otherEnded?.();
    else if (type === RST_STREAM) this.#end(`the server reset the stream: ${view.getUint32(0)}`);
    else if (type === GOAWAY) this.#end("the server sends its clients away");
    else if (type === HEADERS && (flags & 1) !== 0) this.#end(`the server ended the stream: ${statusOf(payload)}`);
  }

  #settings(view: DataView): void {
    for (let at = 0; at < view.byteLength; at += 6) {
      if (view.getUint16(at) !== INITIAL_WINDOW_SIZE) continue;
      const value = view.getUint32(at + 2);
      this.#streamWindow += value - this.#initialWindow;
      this.#initialWindow = value;
    }
    this.#write(frame(SETTINGS, 1, 0));
    this.#flush();
  }

  #window(stream: number, by: number): void {
    if (stream === 0) this.#connectionWindow += by;
    else this.#streamWindow += by;
    this.#flush();
  }

  #data(payload: Uint8Array): void {
    this.#consumed += payload.length;
    if (this.#consumed >= STREAM_WINDOW / 2) {
      const update = windowUpdate(this.#consumed);
      const ofStream = update.slice();
      ofStream[8] = 1; // The stream's number, in the last byte of the frame's head.
      this.#write(update, ofStream);
      this.#consumed = 0;
    }
    for (let at = 0; at < payload.length;) {
      if (!this.#body) {
        const part = payload.subarray(at, at + 5 - this.#headAt);
        this.#head.set(part, this.#headAt);
        this.#headAt += part.length;
        at += part.length;
        if (this.#headAt < 5) return;
        this.#body = new Uint8Array(new DataView(this.#head.buffer).getUint32(1));
        this.#bodyAt = this.#headAt = 0;
      }
      const part = payload.subarray(at, at + this.#body.length - this.#bodyAt);
      this.#body.set(part, this.#bodyAt);
      this.#bodyAt += part.length;
      at += part.length;
      if (this.#bodyAt < this.#body.length) continue;
      const whole = this.#body;
      this.#body = undefined;
      this.events.message(this.#head[0] === 1 ? gunzipSync(whole) : whole);
    }
  }
}

/** The status in a header block, with its text. The server compresses no headers, so no block depends on another. */
function statusOf(block: Uint8Array): string {
  const headers: Record<string, string> = {};
  new HpackDecoder().decode(block, { tooLarge: false, add: (name, value) => void (headers[name] = value) });
  return `${headers["grpc-status"] ?? headers[":status"]} ${decodeURIComponent(headers["grpc-message"] ?? "")}`;
}
