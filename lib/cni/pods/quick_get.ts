/**
 * One HTTP GET on a connection of its own, for a process with one question. The runtime's client would cost such a
 * process a fifth of its time before the first byte.
 *
 * Permissions: net (the address asked).
 *
 * @module
 */
import { requireCertificates } from "../../kernel/fetch/authorities.ts";
import { withinTime } from "./within.ts";

/** An answer, read whole. */
export interface QuickAnswer {
  readonly status: number;
  readonly body: string;
}

/** Time for a connection, milliseconds. The kernels connect, so this takes long only if nothing answers. */
const CONNECT_MS = 5000;

/** Largest answer, bytes. Objects of the orchestrator are smaller than the orchestrator's own limit, 3 MiB. */
const MAX_ANSWER = 4 * 1024 * 1024;

/**
 * Asks.
 *
 * @param ca PEM of the CA to trust, for `https:`.
 * @param ms Longest time, milliseconds.
 * @throws {Error} without an answer.
 */
export async function quickGet(
  url: URL,
  headers: Readonly<Record<string, string>>,
  ca: string | undefined,
  ms: number,
): Promise<QuickAnswer> {
  return await quickExchange(() => connect(url, ca), url, headers, ms);
}

/** The same on the caller's connection. */
export async function quickExchange(
  open: () => Promise<Deno.Conn>,
  url: URL,
  headers: Readonly<Record<string, string>>,
  ms: number,
): Promise<QuickAnswer> {
  return await withinTime(ms, open, async (connection) => {
    const lines = Object.entries({ ...headers, host: url.host, connection: "close" }).map(([k, v]) => `${k}: ${v}\r\n`);
    await writeAll(connection, `GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join("")}\r\n`);
    return parseAnswer(await readAll(connection));
  });
}

async function connect(url: URL, ca: string | undefined): Promise<Deno.Conn> {
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const signal = AbortSignal.timeout(CONNECT_MS);
  const connection = await Deno.connect({ hostname, port, signal }).catch((error) => {
    throw signal.aborted ? new Error(`no connection to ${url.host} within ${CONNECT_MS} ms`) : error;
  });
  // Else the request waits for the other side's word on the handshake: 40 ms.
  connection.setNoDelay(true);
  if (url.protocol !== "https:") return connection;
  return await Deno.startTls(connection, {
    hostname,
    caCerts: ca === undefined ? [] : [requireCertificates(ca, "certificate-authority")],
  });
}

async function writeAll(connection: Deno.Conn, text: string): Promise<void> {
  for (let rest = new TextEncoder().encode(text); rest.length > 0;) rest = rest.subarray(await connection.write(rest));
}

async function readAll(connection: Deno.Conn): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const buffer = new Uint8Array(64 * 1024);
    const length = await connection.read(buffer);
    if (length === null) break;
    parts.push(buffer.subarray(0, length));
    size += length;
    if (size > MAX_ANSWER) throw new Error(`the answer is larger than ${MAX_ANSWER} bytes`);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * An answer from all bytes of a connection.
 * @throws {Error} For bytes that are not a whole answer.
 */
export function parseAnswer(bytes: Uint8Array): QuickAnswer {
  const end = indexOf(bytes, [13, 10, 13, 10], 0);
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, Math.max(0, end))).split("\r\n");
  const status = /^HTTP\/1\.\d (\d{3})\b/.exec(head[0] ?? "")?.[1];
  if (end < 0 || status === undefined) throw new Error("the answer is no HTTP");
  const header = (name: string) =>
    head.find((line) => line.toLowerCase().startsWith(`${name}:`))?.slice(name.length + 1).trim();
  const rest = bytes.subarray(end + 4);
  const length = header("content-length");
  const body = /\bchunked\b/i.test(header("transfer-encoding") ?? "") ? dechunked(rest) : rest;
  if (length !== undefined && body.length < Number(length)) throw new Error("the answer ends too early");
  return { status: Number(status), body: new TextDecoder().decode(body) };
}

function dechunked(bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(bytes.length);
  let size = 0;
  for (let at = 0;;) {
    const line = indexOf(bytes, [13, 10], at);
    const length = line < 0 ? NaN : parseInt(new TextDecoder().decode(bytes.subarray(at, line)), 16);
    if (Number.isNaN(length) || line + 2 + length > bytes.length) throw new Error("the answer ends too early");
    if (length === 0) return whole.subarray(0, size);
    whole.set(bytes.subarray(line + 2, line + 2 + length), size);
    size += length;
    at = line + 2 + length + 2;
  }
}

function indexOf(bytes: Uint8Array, wanted: readonly number[], from: number): number {
  for (let i = from; i + wanted.length <= bytes.length; i++) {
    if (wanted.every((byte, k) => bytes[i + k] === byte)) return i;
  }
  return -1;
}
