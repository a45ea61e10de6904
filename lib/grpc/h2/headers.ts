/**
 * The headers or trailers of a request, and the rules for both (RFC 9113, sections 8.2 and 8.3).
 *
 * @module
 */

import type { HeaderSink } from "./hpack.ts";

/** Header names are lower case; several headers of a name are joined by a comma, as RFC 9110 (5.3) allows. */
export type HttpHeaders = Record<string, string>;

/** The size of an entry beyond the text (RFC 9113, section 6.5.2). */
const ENTRY_OVERHEAD = 32;
const PSEUDO = new Set([":method", ":scheme", ":authority", ":path"]);
/** Headers of HTTP/1 without a meaning in HTTP/2. */
const OF_CONNECTION = new Set(["connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade"]);

/** Whether a text can be the name of a header: a token in lower case, possibly after a colon. */
export function isHeaderName(name: string): boolean {
  return /^:?[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name);
}

/** A decoded header list. */
export class HeaderList implements HeaderSink {
  readonly headers: HttpHeaders = Object.create(null);
  /** Why the list can be neither a request nor trailers; undefined: no fault. */
  malformed: string | undefined;
  /** The list is above the limit, and not complete. */
  tooLarge = false;
  /** The list has pseudo-headers, as only requests have. */
  pseudo = false;
  /** Bytes of the list, counted as in section 6.5.2. */
  size = 0;
  #regular = false;

  readonly #maxSize: number;

  /** @param maxSize largest list, counted as in section 6.5.2 */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  /** Adds a header. */
  add(name: string, value: string): void {
    this.size += name.length + value.length + ENTRY_OVERHEAD;
    if (this.size > this.#maxSize) this.tooLarge = true;
    if (this.tooLarge || this.malformed !== undefined) return;
    this.malformed = name.charCodeAt(0) === 58 ? this.#addPseudo(name) : this.#addRegular(name, value);
    if (/[\0\r\n]/.test(value)) this.malformed ??= "a control character in a value";
    const before = this.headers[name];
    this.headers[name] = before === undefined ? value : `${before}${name === "cookie" ? "; " : ", "}${value}`;
  }

  #addPseudo(name: string): string | undefined {
    this.pseudo = true;
    if (!PSEUDO.has(name)) return "an unknown pseudo-header";
    if (this.#regular) return `${name} after other headers`;
    if (this.headers[name] !== undefined) return `${name} twice`;
    return undefined;
  }

  #addRegular(name: string, value: string): string | undefined {
    this.#regular = true;
    if (!isHeaderName(name)) return "a name that is none";
    if (OF_CONNECTION.has(name)) return `${name}, which HTTP/2 does not have`;
    if (name === "te" && value !== "trailers") return "te other than trailers";
    return undefined;
  }
}

/** Why a list is not a request; undefined: the list is a request. */
export function requestFault({ headers, malformed }: HeaderList): string | undefined {
  if (malformed !== undefined) return malformed;
  if (!headers[":method"]) return "no :method";
  // CONNECT has neither scheme nor path. It is refused like every method except POST.
  if (headers[":method"] === "CONNECT") return undefined;
  if (!headers[":scheme"]) return "no :scheme";
  if (!headers[":path"]) return "no :path";
  const length = headers["content-length"];
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return "content-length that is not a number";
  return undefined;
}

/** Why a list cannot be trailers; undefined: the list can. */
export function trailersFault({ malformed, pseudo }: HeaderList): string | undefined {
  return malformed ?? (pseudo ? "a pseudo-header in trailers" : undefined);
}
