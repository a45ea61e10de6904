/**
 * A request and its response on top of `node:http`. Head and body are plain data. The client takes the response part by
 * part.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type HttpResponse, type RequestHead, textResponse } from "./message.ts";
import type { HeldBody } from "./held_bodies.ts";
import type { Peer } from "../sockets/transport/peer.ts";

/** Bytes of a body beyond the limit that are read and dropped, so that the client gets to read the refusal. */
const MAX_DROPPED = 256 * 1024;

/** Bytes of a response that are written at a time. */
const PART = 64 * 1024;

/** The head of a request, or the response to a malformed head. */
export function requestHead(request: IncomingMessage, peer: Peer): RequestHead | HttpResponse {
  const { url: target = "/", method = "GET" } = request;
  const hosts = request.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === "host");
  if (hosts.length > 1) return textResponse(400, `header host: got ${hosts.length}, expected one\n`);
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  // RFC 9112, 3.2.2: scheme and authority in the target override the header.
  const absolute = /^https?:\/\/([^/?#]+)/i.exec(target);
  const host = absolute?.[1] ?? headers["host"] ?? "";
  const behind = target.slice(absolute?.[0].length ?? 0);
  const rest = absolute === null || behind.startsWith("/") ? behind : `/${behind}`;
  if (!rest.startsWith("/") && !(rest === "*" && method === "OPTIONS")) {
    return textResponse(400, `request target: got ${JSON.stringify(target)}, expected a path such as /ready\n`);
  }
  const question = rest.indexOf("?");
  return {
    method: method === "HEAD" ? "GET" : method,
    path: question < 0 ? rest : rest.slice(0, question),
    query: new URLSearchParams(question < 0 ? "" : rest.slice(question + 1)),
    headers,
    host,
    peer,
  };
}

/**
 * Reads the body of a request.
 *
 * @param held counts the kept bytes of the body; released by the caller
 * @returns undefined when the body is longer than `max` bytes
 * @throws when the connection ends before the body does
 */
export async function readBody(request: IncomingMessage, max: number, held: HeldBody): Promise<Uint8Array | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > max + MAX_DROPPED) return undefined;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= max) {
      chunks.push(chunk);
      held.add(chunk.length);
    } else {
      chunks.length = 0;
      held.release();
    }
    if (length > max + MAX_DROPPED) return undefined;
  }
  return length <= max ? Buffer.concat(chunks) : undefined;
}

/** Reports the progress of a response. */
export interface SendingProgress {
  /** A part waits for the client to take it. */
  sending(): void;
  /** The client has all parts so far, and waits for the next part. */
  sent(): void;
}

/**
 * Sends a response.
 *
 * @throws TypeError for an invalid header
 * @returns when the whole response has been sent to the client, or the connection has ended
 */
export async function sendResponse(
  response: ServerResponse,
  { status, headers = {}, body, parts }: HttpResponse,
  { isHead, close }: { readonly isHead: boolean; readonly close: boolean },
  progress: SendingProgress,
): Promise<void> {
  if (response.destroyed) return;
  checkHeaders(headers);
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  response.writeHead(status, {
    ...headers,
    "x-content-type-options": "nosniff",
    // The length of a body in parts is not known yet.
    ...(status === 204 || status === 304 || parts !== undefined ? {} : { "content-length": bytes.length }),
    ...(close ? { connection: "close" } : {}),
  });
  const { promise: over, resolve } = Promise.withResolvers<void>();
  response.once("finish", resolve).once("close", resolve);
  if (!isHead && status !== 204 && status !== 304) {
    for (let at = 0; at < bytes.length && !response.destroyed; at += PART) {
      progress.sending();
      if (!response.write(bytes.subarray(at, at + PART))) await drained(response);
    }
    if (parts !== undefined) await sendParts(response, parts, progress);
  }
  progress.sending();
  response.end();
  await over;
}

async function sendParts(
  response: ServerResponse,
  parts: AsyncIterable<string | Uint8Array>,
  progress: SendingProgress,
): Promise<void> {
  response.flushHeaders();
  progress.sent();
  for await (const part of parts) {
    if (response.destroyed) return;
    progress.sending();
    if (!response.write(part)) await drained(response);
    progress.sent();
  }
}

/**
 * @throws TypeError for a header with a line break or other control character: `node:http` on Deno 2.8.3 writes such a
 * header unchanged
 */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    // deno-lint-ignore no-control-regex -- it looks for control characters
    if (/^[\w-]+$/.test(name) && !/[\x00-\x08\x0a-\x1f\x7f]/.test(value)) continue;
    throw new TypeError(
      `response header ${JSON.stringify(name)}: got ${JSON.stringify(value)}, expected one line of text`,
    );
  }
}

/** Resolves when the client has taken all written bytes, or is gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.removeListener("drain", done);
      response.removeListener("close", done);
      resolve();
    };
    if (response.destroyed) return resolve();
    response.once("drain", done);
    response.once("close", done);
  });
}
