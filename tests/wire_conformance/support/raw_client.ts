/**
 * An HTTP/2 client by hand, for everything beyond a real client library.
 *
 * Permissions: net.
 * @module
 */
import { frameHead } from "../../../lib/grpc/frame.ts";

const text = new TextEncoder();
/** The connection preface. */
export const PREFACE = text.encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** An HTTP/2 frame. */
export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = new Uint8Array(0),
): Uint8Array {
  const out = new Uint8Array(9 + payload.length);
  const view = new DataView(out.buffer);
  view.setUint32(0, payload.length << 8 | type);
  out[4] = flags;
  view.setUint32(5, stream);
  out.set(payload, 9);
  return out;
}

/** SETTINGS with an initial window. */
export function settings(window: number): Uint8Array {
  const payload = new Uint8Array(6);
  new DataView(payload.buffer).setUint16(0, 4);
  new DataView(payload.buffer).setUint32(2, window);
  return frame(4, 0, 0, payload);
}

/** WINDOW_UPDATE of the connection. */
export function windowUpdate(by: number): Uint8Array {
  const payload = new Uint8Array(4);
  new DataView(payload.buffer).setUint32(0, by);
  return frame(8, 0, 0, payload);
}

/** HEADERS of a gRPC call, uncompressed. */
export function headers(stream: number, path: string, more: Record<string, string> = {}): Uint8Array {
  const literal = (name: string, value: string) => {
    const [n, v] = [text.encode(name), text.encode(value)];
    return [0, n.length, ...n, v.length, ...v];
  };
  const all = { "content-type": "application/grpc", te: "trailers", ...more };
  const block = [0x83, 0x86, ...literal(":path", path), ...literal(":authority", "x")];
  for (const [name, value] of Object.entries(all)) block.push(...literal(name, value));
  return frame(1, 4, stream, new Uint8Array(block));
}

/** DATA with a gRPC message. */
export function message(stream: number, bytes: Uint8Array): Uint8Array {
  const payload = new Uint8Array(5 + bytes.length);
  payload.set(frameHead(bytes.length, false));
  payload.set(bytes, 5);
  return frame(0, 0, stream, payload);
}

/** Connects and sends, without reading. */
export async function connectRaw(port: number, ...frames: Uint8Array[]): Promise<Deno.TcpConn> {
  const connection = await Deno.connect({ port, hostname: "127.0.0.1" });
  for (const bytes of frames) await writeAll(connection, bytes);
  return connection;
}

/** Writes all bytes. */
export async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

/** Resolves when the other side closes or resets. Received bytes are thrown away. */
export async function untilClosed(connection: Deno.TcpConn): Promise<void> {
  const buffer = new Uint8Array(65536);
  try {
    while (await connection.read(buffer) !== null) { /* thrown away */ }
  } catch { /* reset */ }
}
