/**
 * The HTTP/1 surfaces of the server: readiness and debug pages, metrics and version.
 *
 * Permissions: net (the listen addresses).
 *
 * @module
 */
import { Buffer } from "node:buffer";
import http from "node:http";
import type { Socket } from "node:net";

/** What a page answers. */
export interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly body: string | Uint8Array;
}

/** What a page is asked. */
export interface Ask {
  readonly method: string;
  readonly url: URL;
  /** The `Host` header: under which name the caller knows this server. */
  readonly host: string;
  /** The caller is on this machine. */
  readonly fromLoopback: boolean;
  /** Reads the body, as text; undefined: it is longer than {@linkcode LONGEST_BODY}. */
  body(): Promise<string | undefined>;
}

/** Longest body that a page reads, bytes: what pages are told is a few fields. */
export const LONGEST_BODY = 64 * 1024;

/** Answers a path, or leaves it to others. */
export type Handler = (ask: Ask) => Answer | undefined | Promise<Answer | undefined>;

/** Plain text. */
export function text(status: number, body: string): Answer {
  return { status, contentType: "text/plain; charset=utf-8", body };
}

/** JSON, indented where `?pretty` asks for it. */
export function json(value: unknown, ask: Ask): Answer {
  const body = JSON.stringify(value, null, ask.url.searchParams.has("pretty") ? 2 : undefined) + "\n";
  return { status: 200, contentType: "application/json", body };
}

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/**
 * An HTTP server without a listener of its own: connections are handed to it.
 *
 * @param handlers Asked in order; a path that none answers is 404.
 * @param failed Told of a page that threw; the caller gets 500 without details.
 */
export function httpServer(handlers: readonly Handler[], failed: (error: unknown, path: string) => void): http.Server {
  const server = http.createServer((request, response) => {
    void answer(request, handlers, failed).then(({ status, contentType, body }) => {
      response.writeHead(status, contentType === undefined ? {} : { "content-type": contentType });
      response.end(body);
    });
  });
  // Read 30 s, idle 90 s: as the field's servers.
  server.requestTimeout = 30_000;
  server.keepAliveTimeout = 90_000;
  return server;
}

/** Hands an accepted connection to an HTTP server. */
export function serveConnection(server: http.Server): (socket: Socket) => void {
  return (socket) => void server.emit("connection", socket);
}

async function answer(
  request: http.IncomingMessage,
  handlers: readonly Handler[],
  failed: (error: unknown, path: string) => void,
): Promise<Answer> {
  const path = request.url ?? "/";
  try {
    const ask: Ask = {
      method: request.method ?? "GET",
      url: new URL(path, "http://localhost"),
      host: request.headers.host ?? "",
      fromLoopback: LOOPBACK.test(request.socket.remoteAddress ?? ""),
      body: () => bodyOf(request),
    };
    for (const handler of handlers) {
      const found = await handler(ask);
      if (found) return found;
    }
    return text(404, `no page ${ask.url.pathname}\n`);
  } catch (error) {
    failed(error, path);
    return text(500, "internal error\n");
  }
}

async function bodyOf(request: http.IncomingMessage): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    // What comes after is read and let go: the connection stays in step with its next request.
    if (length <= LONGEST_BODY) chunks.push(chunk);
  }
  return length <= LONGEST_BODY ? Buffer.concat(chunks).toString() : undefined;
}
