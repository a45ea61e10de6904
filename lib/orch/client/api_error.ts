/**
 * Why a request to the orchestrator's API has no answer of use.
 *
 * @module
 */

/** No answer, or a refusal. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** Milliseconds for which the server asked to be left alone; undefined: it did not. */
  readonly retryAfter: number | undefined;
  /** True for an answer that began and then said nothing for too long. */
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

  /** True when asking again may help: no answer, too busy, or credentials that are being renewed. */
  get transient(): boolean {
    return this.status === undefined || this.status === 401 || this.status === 429 || this.status >= 500;
  }

  /** True when a resource version or a page's token is too old, so that everything has to be listed. */
  get expired(): boolean {
    return this.status === 410;
  }

  /** True when an object that was to be made is there already, or one that was to be changed is another one by now. */
  get conflict(): boolean {
    return this.status === 409;
  }

  /** True when the API knows the caller and does not allow the request. */
  get forbidden(): boolean {
    return this.status === 403;
  }
}

/** An error of any sort as one of the API. */
export function asApiError(error: unknown, what: string): ApiError {
  if (error instanceof ApiError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError(`${what}: ${message}`, undefined, { cause: error });
}

/** Longest wait that a server may ask for, milliseconds: a mistaken header must not stop a watch for a day. */
const MAX_RETRY_AFTER_MS = 120_000;

/** The header `retry-after` in milliseconds: seconds, or a date (RFC 9110, 10.2.3); undefined: none, or nonsense. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null || header.trim() === "") return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS) : undefined;
}
