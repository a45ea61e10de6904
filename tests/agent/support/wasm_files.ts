/**
 * Wasm modules and their packages, byte by byte.
 * @module
 */
import { gzipSync } from "node:zlib";

const ascii = (text: string) => new TextEncoder().encode(text);

/** A module without code; modules of different texts differ. */
export function wasmModule(text = ""): Uint8Array<ArrayBuffer> {
  const name = ascii("note");
  const content = ascii(text);
  // A custom section: 0, size, name, any bytes.
  const size = 1 + name.length + content.length;
  return new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 0, ...varint(size), name.length, ...name, ...content]);
}

/** LEB128. */
export function varint(value: number): number[] {
  return value < 128 ? [value] : [value % 128 | 128, ...varint(Math.floor(value / 128))];
}

/** An archive (ustar). */
export function tar(files: Readonly<Record<string, Uint8Array>>): Uint8Array<ArrayBuffer> {
  const blocks = Object.entries(files).flatMap(([path, content]) => {
    const head = new Uint8Array(512);
    head.set(ascii(path));
    head.set(ascii(content.length.toString(8).padStart(11, "0")), 124);
    head[156] = path.endsWith("/") ? 0x35 : 0x30;
    head.set(ascii("ustar\0" + "00"), 257);
    const body = new Uint8Array(Math.ceil(content.length / 512) * 512);
    body.set(content);
    return [head, body];
  });
  return new Uint8Array([...blocks, new Uint8Array(1024)].flatMap((block) => [...block]));
}

export function gzip(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(gzipSync(bytes));
}

export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** A module for Envoy (proxy-wasm ABI 0.2.1) with a status between 128 and 8191 for every request. */
export function answeringModule(status: number): Uint8Array<ArrayBuffer> {
  const i32 = 0x7f;
  const section = (id: number, items: readonly number[][]) => {
    const content = [...varint(items.length), ...items.flat()];
    return [id, ...varint(content.length), ...content];
  };
  const text = (name: string) => [name.length, ...ascii(name)];
  const type = (parameters: number, results: number) => [
    ...[0x60, parameters, ...Array<number>(parameters).fill(i32)],
    ...[results, ...Array<number>(results).fill(i32)],
  ];
  const body = (code: readonly number[]) => [...varint(code.length + 2), 0, ...code, 0x0b];
  const constant = (value: number) => [0x41, ...(value === -1 ? [0x7f] : varint(value))];
  const send = [status, 0, 0, 0, 0, 0, 0, -1].flatMap(constant);
  return new Uint8Array([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [type(0, 0), type(1, 1), type(8, 1), type(3, 1)]),
    ...section(2, [[...text("env"), ...text("proxy_send_local_response"), 0, 2]]),
    ...section(3, [[0], [1], [3]]),
    ...section(5, [[0, 1]]),
    ...section(7, [
      [...text("memory"), 2, 0],
      [...text("proxy_abi_version_0_2_1"), 0, 1],
      [...text("proxy_on_memory_allocate"), 0, 2],
      [...text("proxy_on_request_headers"), 0, 3],
    ]),
    // The module sends a response with no details, body and headers; then the request goes no further.
    ...section(10, [body([]), body(constant(1024)), body([...send, 0x10, 0, 0x1a, ...constant(1)])]),
  ]);
}
