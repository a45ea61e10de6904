/**
 * Requests and responses of the HTTP server, as plain data.
 *
 * @module
 */
import type { Peer } from "../sockets/transport/peer.ts";

/** The head of a request. */
export interface RequestHead {
  /** As it was sent, except that a HEAD request is handled as GET: the server leaves the body out by itself. */
  readonly method: string;
  /** Percent-encoded as it was sent, without the query; it begins with `/`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. A header that was sent several times is joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The name and port by which the client addresses this server; empty when it names none (HTTP/1.0). */
  readonly host: string;
  /** The remote end of the connection. */
  readonly peer: Peer;
}

/** A request, read whole. */
export interface HttpRequest extends RequestHead {
  /** Values of the named segments of the route's path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Aborts when the client goes away before it is answered, and when the server begins to close. */
  readonly signal: AbortSignal;
}

/** The response to a request. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. The server adds `content-length`, `date` and `x-content-type-options`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /**
   * Sent after the body, part by part, for as long as it yields and the client takes it: events. It must end when the
   * request's signal aborts. Default: nothing.
   */
  readonly parts?: AsyncIterable<string | Uint8Array>;
}

/** A response of plain text. */
export function textResponse(status: number, body: string): HttpResponse {
  return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body };
}

/** A response of JSON; the query `?pretty` indents it. */
export function jsonResponse(value: unknown, { query }: Pick<RequestHead, "query">, status = 200): HttpResponse {
  const body = JSON.stringify(value, null, query.has("pretty") ? 2 : undefined) + "\n";
  return { status, headers: { "content-type": "application/json" }, body };
}

/** The body of a request as text; bytes that are no UTF-8 become U+FFFD. */
export function bodyText({ body }: HttpRequest): string {
  return new TextDecoder().decode(body);
}

/** Addresses of the loopback interfaces, with the port behind them. */
const LOOPBACK = /^(?:127\.|::1:\d+$|::ffff:127\.)/;

/** Whether a client runs on this machine: it came over a loopback address or a Unix socket. */
export function isLocalPeer({ address }: Peer): boolean {
  return LOOPBACK.test(address) || address.startsWith("/");
}
