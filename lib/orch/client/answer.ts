/**
 * An answer of the orchestrator's API. A body that stops coming is given up.
 *
 * @module
 */
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import { ApiError, asApiError } from "./api_error.ts";
import { ListScanner } from "./list_scanner.ts";

/** A JSON object. */
export type ApiJson = Readonly<Record<string, unknown>>;

/** Whether a value is an object of JSON. */
export function isApiJson(value: unknown): value is ApiJson {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Silence after which the body of an answer is given up, unless the answer is a watch; milliseconds. */
const BODY_IDLE_MS = 30_000;

/**
 * Bytes of a list to wait for at a time: the runtime hands out pieces of some 3 kB, and each piece costs a turn of the
 * event loop. A body with less than 2 kB/s counts as silent.
 */
const LIST_PIECE = 64 * 1024;

/** Longest line of a watch, characters: objects are smaller than the API's own limit of 3 MiB. */
const MAX_LINE = 32 * 1024 * 1024;

/** The parts of an answer. */
interface AnswerParts {
  readonly response: Response;
  /** The request, for messages. */
  readonly what: string;
  readonly clock: Clock;
  /** Ends the request with a reason. */
  readonly end: (reason: Error) => void;
  /** Called once, when the body is over or given up. */
  readonly over: () => void;
}

/** An answer with status 2xx. The caller must read or cancel the body. */
export class ApiAnswer {
  readonly #parts: AnswerParts;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
  }

  /**
   * The body as one object.
   *
   * @throws {ApiError} for a body that stays silent, ends too early, or is not an object.
   */
  async json(): Promise<ApiJson> {
    const parts: string[] = [];
    for await (const text of this.#texts(BODY_IDLE_MS)) parts.push(text);
    return this.#object(() => JSON.parse(parts.join("")));
  }

  /**
   * The body as a list. Each item is handed over as soon as it has arrived.
   *
   * @param take Called with each item that is an object or an array. Its errors are passed on.
   * @returns the list without the items
   * @throws {ApiError} for a body that stays silent, ends too early, or is not an object.
   */
  async list(take: (item: unknown) => void): Promise<ApiJson> {
    const scanner = new ListScanner(take);
    for await (const bytes of this.#bytes(BODY_IDLE_MS, LIST_PIECE)) scanner.push(bytes);
    return this.#object(() => scanner.end());
  }

  /**
   * The lines of the body. Lines that arrive together are returned together. Half a line at the end is left out.
   *
   * @param idleMs Longest silence, milliseconds.
   * @throws {ApiError} for a body that is silent for longer, a broken connection, and an endless line.
   */
  async *lines(idleMs: number): AsyncGenerator<readonly string[], void> {
    let rest = "";
    for await (const text of this.#texts(idleMs)) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > MAX_LINE) {
        throw new ApiError(`${this.#parts.what}: a line of more than ${MAX_LINE} characters`, undefined);
      }
      const whole = lines.filter((line) => line.trim() !== "");
      if (whole.length > 0) yield whole;
    }
  }

  /** Gives the body up. */
  cancel(): void {
    this.#parts.end(new Error("the answer is not read"));
    this.#parts.over();
    this.#parts.response.body?.cancel().catch(() => {});
  }

  #object(read: () => unknown): ApiJson {
    let value: unknown;
    try {
      value = read();
    } catch (error) {
      throw asApiError(error, this.#parts.what);
    }
    if (!isApiJson(value)) throw new ApiError(`${this.#parts.what}: got JSON that is not an object`, undefined);
    return value;
  }

  async *#texts(idleMs: number): AsyncGenerator<string, void> {
    const decoder = new TextDecoder();
    for await (const bytes of this.#bytes(idleMs, 1)) {
      const text = decoder.decode(bytes, { stream: true });
      if (text !== "") yield text;
    }
  }

  /**
   * Pieces of the body. Each piece but the last has at least the given number of bytes, and is valid until the next
   * piece is requested.
   */
  async *#bytes(idleMs: number, atLeast: number): AsyncGenerator<Uint8Array, void> {
    const { response, what, clock, end, over } = this.#parts;
    let cancel: Cancel = () => {};
    let silence: ApiError | undefined;
    const watch = () => {
      cancel();
      cancel = clock.after(idleMs, () => {
        end(silence = new ApiError(`${what}: silent for ${idleMs / 1000} s`, undefined, { silent: true }));
      });
    };
    try {
      watch();
      for await (const bytes of pieces(response.body, atLeast)) {
        watch();
        yield bytes;
      }
    } catch (error) {
      throw silence ?? asApiError(error, what);
    } finally {
      cancel();
      over();
    }
  }
}

/** Most bytes of one read. */
const MOST_AT_ONCE = 128 * 1024;

/**
 * The pieces of a body. The body of a connection is read into one buffer, which all pieces share. Other bodies yield
 * their own pieces.
 */
async function* pieces(body: ReadableStream<Uint8Array> | null, atLeast: number): AsyncGenerator<Uint8Array, void> {
  const reader = body && intoBuffer(body);
  if (reader === undefined) return yield* body ?? [];
  if (reader === null) return;
  try {
    let buffer = new ArrayBuffer(Math.max(MOST_AT_ONCE, atLeast));
    for (;;) {
      const { done, value } = await reader.read(new Uint8Array(buffer), { min: atLeast });
      if (value !== undefined && value.length > 0) yield value;
      if (done || value === undefined) return;
      buffer = value.buffer;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function intoBuffer(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return undefined;
  }
}
