/**
 * Why a request to the orchestrator's API has no answer of use.
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";

/** No answer, or a refusal. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** Milliseconds that the server asked the client to wait; undefined: the server did not ask. */
  readonly retryAfter: number | undefined;
  /** Whether an answer began and then stayed silent for too long. */
  readonly silent: boolean;

  /** @param status HTTP status, or `code` of a Status object; undefined without an answer. */
  constructor(
    message: string,
    readonly status: number | undefined,
    { retryAfter, silent = false, cause }: {
      readonly retryAfter?: number | undefined;
      readonly silent?: boolean;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.retryAfter = retryAfter;
    this.silent = silent;
  }

  /** Whether another try may help: no answer, too busy, or credentials that are being renewed. */
  get transient(): boolean {
    return this.status === undefined || this.status === 401 || this.status === 429 || this.status >= 500;
  }

  /** Whether a resource version or a page's token is too old, so that all objects must be listed again. */
  get expired(): boolean {
    return this.status === 410;
  }

  /** Whether an object to create already exists, or an object to change has changed meanwhile. */
  get conflict(): boolean {
    return this.status === 409;
  }

  /** True when the API knows the caller and does not allow the request. */
  get forbidden(): boolean {
    return this.status === 403;
  }
}

/** Turns any error into an error of the API. */
export function asApiError(error: unknown, what: string): ApiError {
  if (error instanceof ApiError) return error;
  const message = errorMessage(error);
  return new ApiError(`${what}: ${message}`, undefined, { cause: error });
}

/** Most milliseconds that a server may ask a client to wait: a wrong header must not stop a watch for a day. */
const MAX_RETRY_AFTER_MS = 120_000;

/** The header `retry-after` in milliseconds: seconds, or a date (RFC 9110, 10.2.3); undefined: none, or nonsense. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null || header.trim() === "") return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS) : undefined;
}
