/**
 * Requests and responses of the HTTP server, as plain data.
 *
 * @module
 */
import type { Peer } from "../sockets/transport/peer.ts";

/** The head of a request. */
export interface RequestHead {
  /** The method as sent. Only a HEAD request is handled as GET: the server leaves the body out. */
  readonly method: string;
  /** The path, percent-encoded as sent, without the query. Begins with `/`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. The values of a repeated header are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The name and port by which the client addresses this server; empty: the client named none (HTTP/1.0). */
  readonly host: string;
  /** The remote end of the connection. */
  readonly peer: Peer;
}

/** A request, read whole. */
export interface HttpRequest extends RequestHead {
  /** Values of the named segments of the route's path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Aborts when the client goes away before the answer, and when the server begins to close. */
  readonly signal: AbortSignal;
}

/** The response to a request. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. The server adds `content-length`, `date` and `x-content-type-options`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /**
   * Further parts, sent after the body as long as the iterable yields and the client takes: events. Must end when the
   * request's signal aborts. Default: nothing.
   */
  readonly parts?: AsyncIterable<string | Uint8Array>;
}

/** A response of plain text. */
export function textResponse(status: number, body: string): HttpResponse {
  return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body };
}

/** A response of JSON, indented for the query `?pretty`. */
export function jsonResponse(value: unknown, { query }: Pick<RequestHead, "query">, status = 200): HttpResponse {
  const body = JSON.stringify(value, null, query.has("pretty") ? 2 : undefined) + "\n";
  return { status, headers: { "content-type": "application/json" }, body };
}

/** The body of a request as text. Bytes outside UTF-8 become U+FFFD. */
export function bodyText({ body }: HttpRequest): string {
  return new TextDecoder().decode(body);
}

/** Addresses of the loopback interfaces, followed by a port. */
const LOOPBACK = /^(?:127\.|::1:\d+$|::ffff:127\.)/;

/** Whether a client runs on this machine: on a loopback address or a Unix socket. */
export function isLocalPeer({ address }: Peer): boolean {
  return LOOPBACK.test(address) || address.startsWith("/");
}
