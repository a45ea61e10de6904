/**
 * A response of HTTP/1 as a probe reads it (RFC 9112): the status, the redirect's target, and the beginning of the
 * body.
 *
 * `node:http` of Deno 2.8.3 cannot do it: its client takes no source address and no connection made elsewhere, and
 * `fetch` cannot leave certificates unverified.
 *
 * @module
 */
import { concatBytes } from "../../resource/block.ts";

/** The part of a response for a probe. */
export interface ProbeAnswer {
  readonly status: number;
  /** The target of a redirect. Absent: the response is not a redirect. */
  readonly location?: string;
  readonly contentType?: string;
  /** At most {@linkcode MAX_PROBE_BODY} bytes. */
  readonly body: Uint8Array;
  /** Whether the connection takes another request. */
  readonly isReusable: boolean;
}

/** Size of the body that is passed on: 10 KiB, as kubelet reads. */
export const MAX_PROBE_BODY = 10 * 1024;
/** Bytes of a head, and of a line between chunks. */
const MAX_HEAD = 64 * 1024, MAX_LINE = 4096;

const latin1 = new TextDecoder("latin1");

type Framing =
  | { readonly by: "none" | "close" }
  | { readonly by: "length"; left: number }
  /** `left` of the present chunk; undefined: a line is due. */
  | { readonly by: "chunks"; left: number | undefined; isLast: boolean };

interface AnswerHead {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly isReusable: boolean;
}

/** Reads one response from bytes in any parts. */
export class AnswerReader {
  #rest: Uint8Array = new Uint8Array(0);
  #head: AnswerHead | undefined;
  #framing: Framing = { by: "none" };
  readonly #body = new Uint8Array(MAX_PROBE_BODY);
  #length = 0;

  /** Whether anything has been read. */
  get isEmpty(): boolean {
    return this.#head === undefined && this.#rest.length === 0;
  }

  /**
   * Takes bytes.
   * @returns The response, when the response is whole or its body is larger than the limit.
   * @throws {Error} If the bytes are not a response of HTTP/1.
   */
  push(bytes: Uint8Array): ProbeAnswer | undefined {
    this.#rest = this.#rest.length === 0 ? bytes : concatBytes([this.#rest, bytes]);
    while (this.#head === undefined) {
      if (!this.#readHead()) return undefined;
    }
    const isWhole = this.#readBody();
    if (this.#length === MAX_PROBE_BODY && !isWhole) return this.#answer(false);
    return isWhole ? this.#answer(this.#head.isReusable && this.#rest.length === 0) : undefined;
  }

  /**
   * The connection has ended.
   *
   * @throws Error when the response has not
   */
  end(): ProbeAnswer {
    if (this.#head !== undefined && this.#framing.by === "close") return this.#answer(false);
    throw new Error(this.isEmpty ? "the connection was closed without a response" : "the response was cut off");
  }

  #answer(isReusable: boolean): ProbeAnswer {
    const { status, headers } = this.#head!;
    const [location, contentType] = [headers.get("location"), headers.get("content-type")];
    return {
      status,
      ...(location ? { location } : {}),
      ...(contentType === undefined ? {} : { contentType }),
      body: this.#body.slice(0, this.#length),
      isReusable,
    };
  }

  #readHead(): boolean {
    const end = endOfHead(this.#rest);
    if (end === undefined) {
      if (this.#rest.length > MAX_HEAD) throw new Error(`the head of the response is longer than ${MAX_HEAD} bytes`);
      return false;
    }
    const head = readHead(latin1.decode(this.#rest.subarray(0, end)));
    this.#rest = this.#rest.subarray(end);
    // Informational responses come before the real one.
    if (head.status < 200) return true;
    this.#head = head;
    this.#framing = framingOf(head);
    return true;
  }

  /** Whether the body is whole. */
  #readBody(): boolean {
    const framing = this.#framing;
    switch (framing.by) {
      case "none":
        return true;
      case "close":
        this.#take(this.#rest.length);
        return false;
      case "length":
        framing.left -= this.#take(framing.left);
        return framing.left === 0;
      case "chunks":
        return this.#readChunks(framing);
    }
  }

  #readChunks(framing: Extract<Framing, { by: "chunks" }>): boolean {
    while (true) {
      if (framing.left !== undefined && framing.left > 0) {
        framing.left -= this.#take(framing.left);
        if (framing.left > 0) return false;
      }
      const line = this.#line();
      if (line === undefined) return false;
      if (framing.isLast) {
        // Trailers, up to an empty line.
        if (line === "") return true;
      } else if (framing.left === 0) {
        if (line !== "") throw new Error("a chunk of the response does not end where it says");
        framing.left = undefined;
      } else {
        const size = line.split(";", 1)[0]!.trim();
        if (!/^[0-9a-f]{1,12}$/i.test(size)) throw new Error("a chunk of the response has no size");
        framing.left = parseInt(size, 16);
        framing.isLast = framing.left === 0;
        if (framing.isLast) framing.left = undefined;
      }
    }
  }

  #line(): string | undefined {
    const end = this.#rest.indexOf(10);
    if (end < 0 || end > MAX_LINE) {
      if (this.#rest.length > MAX_LINE) throw new Error(`a line of the response is longer than ${MAX_LINE} bytes`);
      return undefined;
    }
    const line = latin1.decode(this.#rest.subarray(0, end)).replace(/\r$/, "");
    this.#rest = this.#rest.subarray(end + 1);
    return line;
  }

  /** Takes at most `wanted` bytes of the body and keeps as many as fit. Returns the number of taken bytes. */
  #take(wanted: number): number {
    const part = this.#rest.subarray(0, wanted);
    const kept = part.subarray(0, MAX_PROBE_BODY - this.#length);
    this.#body.set(kept, this.#length);
    this.#length += kept.length;
    this.#rest = this.#rest.subarray(part.length);
    return part.length;
  }
}

/** Index behind the empty line at the end of a head. */
function endOfHead(bytes: Uint8Array): number | undefined {
  for (let at = bytes.indexOf(10); at >= 0 && at < MAX_HEAD; at = bytes.indexOf(10, at + 1)) {
    if (bytes[at + 1] === 10) return at + 2;
    if (bytes[at + 1] === 13 && bytes[at + 2] === 10) return at + 3;
  }
  return undefined;
}

function readHead(text: string): AnswerHead {
  const [first = "", ...lines] = text.split(/\r?\n/);
  const [, minor, code] = /^HTTP\/1\.(\d) (\d{3})(?: |$)/.exec(first) ?? [];
  if (code === undefined) throw new Error("the answer is not an HTTP/1 response");
  if (code === "101" || code < "100" || code > "599") throw new Error(`the response has the status ${code}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon < 1) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined || name === "location" ? value : `${before}, ${value}`);
  }
  const connection = headers.get("connection")?.toLowerCase() ?? "";
  return { status: Number(code), headers, isReusable: minor !== "0" && !connection.includes("close") };
}

function framingOf({ status, headers }: AnswerHead): Framing {
  if (status === 204 || status === 304) return { by: "none" };
  if (headers.has("transfer-encoding")) return { by: "chunks", left: undefined, isLast: false };
  const length = headers.get("content-length");
  if (length === undefined) return { by: "close" };
  if (!/^\d{1,15}$/.test(length)) throw new Error("the response's content-length is not a number");
  return { by: "length", left: Number(length) };
}
