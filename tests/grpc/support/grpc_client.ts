/**
 * The client's side of a gRPC server, over a transport in memory.
 *
 * @module
 */
import { frameHead } from "../../../lib/grpc/frame.ts";
import { FrameType, PREFACE } from "../../../lib/grpc/h2/constants.ts";
import { frame, FrameReader } from "../../../lib/grpc/h2/frames.ts";
import { encodeHeaders, HpackDecoder } from "../../../lib/grpc/h2/hpack.ts";
import type { GrpcServer } from "../../../lib/grpc/server.ts";
import { hello } from "./h2_client.ts";
import { MemoryTransport } from "./memory_transport.ts";
import { PATIENCE } from "../../patience.ts";

/** HEADERS of a call. */
export function callHeaders(stream: number, path: string, more: Readonly<Record<string, string>> = {}): Uint8Array {
  const headers = { ":method": "POST", ":scheme": "http", ":path": path, "content-type": "application/grpc", ...more };
  return frame(FrameType.HEADERS, 4, stream, encodeHeaders(headers));
}

/** DATA with a whole message. */
export function messageData(stream: number, bytes: Uint8Array, flags = 0): Uint8Array {
  return frame(FrameType.DATA, flags, stream, new Uint8Array([...frameHead(bytes.length, false), ...bytes]));
}

/** A client of a server. */
export class MemoryClient {
  readonly transport = new MemoryTransport();
  /** Remaining window of the server, on the connection and on each stream with an opened window. */
  window = 65535;
  readonly #reader = new FrameReader();
  #read = 0;
  /** Bytes sent on streams, without the bytes for which windows were opened again. */
  readonly #spent = new Map<number, number>();
  readonly #hpack = new HpackDecoder();
  /** The end of each stream: `status <grpc-status>` or `reset <code>`. */
  readonly ends = new Map<number, string>();
  /** The texts of the statuses, still encoded as in the trailers. */
  readonly texts = new Map<number, string>();
  /** The content of each stream. */
  readonly content = new Map<number, Uint8Array[]>();
  /** HEADERS and DATA after the end of their stream. */
  late = 0;
  /** Codes of received GOAWAY frames. */
  readonly goAways: number[] = [];

  constructor(server: GrpcServer) {
    this.#reader.push(PREFACE);
    this.#reader.next();
    server.accept(this.transport);
    this.send(...hello());
  }

  send(...parts: readonly Uint8Array[]): void {
    for (const part of parts) this.transport.receive(part);
  }

  /** Remaining window of a stream. @param initial the server's window of a new stream */
  streamWindow(stream: number, initial: number): number {
    return initial - (this.#spent.get(stream) ?? 0);
  }

  /** Notes bytes sent on a stream. @param isSent false: the server has opened the window of the stream alone */
  spend(stream: number, bytes: number, isSent = true): void {
    this.#spent.set(stream, (this.#spent.get(stream) ?? 0) + bytes);
    if (isSent) this.window -= bytes;
  }

  /** Reads everything sent by the server. */
  async read(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    const { written } = this.transport;
    for (; this.#read < written.length; this.#read++) {
      this.#reader.push(written[this.#read]!);
      while (this.#reader.next()) this.#frame();
    }
  }

  /** Reads until a condition holds. */
  async until(holds: () => boolean): Promise<void> {
    const limit = performance.now() + PATIENCE;
    while (!holds()) {
      if (performance.now() > limit) throw new Error("waited in vain");
      await new Promise((resolve) => setTimeout(resolve, 1));
      await this.read();
    }
  }

  #frame(): void {
    const { type, flags, stream, payload } = this.#reader;
    const number = (at: number) => new DataView(payload.buffer, payload.byteOffset).getUint32(at);
    if (type === FrameType.WINDOW_UPDATE && stream === 0) this.window += number(0);
    if (type === FrameType.WINDOW_UPDATE && stream !== 0) this.spend(stream, -number(0), false);
    if (type === FrameType.GOAWAY) this.goAways.push(number(4));
    if (type === FrameType.RST_STREAM && !this.ends.has(stream)) this.ends.set(stream, `reset ${number(0)}`);
    if (this.ends.has(stream) && (type === FrameType.HEADERS || type === FrameType.DATA)) this.late++;
    if (type === FrameType.DATA) this.content.set(stream, [...this.content.get(stream) ?? [], payload.slice()]);
    if (type !== FrameType.HEADERS) return;
    const headers: Record<string, string> = {};
    this.#hpack.decode(payload, { tooLarge: false, add: (name, value) => void (headers[name] = value) });
    if (headers["grpc-message"] !== undefined) this.texts.set(stream, headers["grpc-message"]);
    if (flags & 1) this.ends.set(stream, `status ${headers["grpc-status"] ?? headers[":status"]}`);
  }
}
