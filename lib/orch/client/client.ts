/**
 * The client of the orchestrator's API: JSON requests with the present access, at the allowed rate.
 *
 * Lists and watches are read by `../informer`. The client repeats no request: the caller knows the effect of a second
 * request.
 *
 * Permissions: net (the API's address), and the permissions of the access.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import { type Clock, systemClock } from "../../kernel/time/clock.ts";
import type { AccessSource, ActingUser, ApiAccess } from "./access.ts";
import { ApiAnswer, type ApiJson } from "./answer.ts";
import { ApiError, asApiError, retryAfterMs } from "./api_error.ts";
import { type ApiExchange, type OpenExchange, openExchange, sameConnections } from "./exchange.ts";
import type { TokenBucket } from "./token_bucket.ts";

/** A request. */
export interface ApiCall {
  /** Default: GET. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Media type of the body. Default: `application/json`. */
  readonly type?: string;
  /** Media types of the answer. Default: `application/json`. */
  readonly accept?: string;
  /** Longest wait for the head of the answer, milliseconds. Default: the client's. */
  readonly within?: number;
  /**
   * Whether the request ignores the rate limit: one of few requests that must be in time while thousands wait, or a
   * request that another limit has let through. Default: false.
   */
  readonly unlimited?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface ApiClientParts {
  readonly access: AccessSource;
  /** Default: no limit. */
  readonly limit?: TokenBucket;
  /** Each request is a line of severity debug. Default: no line is written. */
  readonly log?: Logger;
  readonly clock?: Clock;
  /** Longest wait for the head of an answer, milliseconds. Default: 30 s. */
  readonly within?: number;
  /** Value of the header `user-agent`. Default: the runtime's. */
  readonly userAgent?: string;
  /** Replaces the exchange of the access, for tests. */
  readonly exchange?: ApiExchange;
}

/** Longest wait for the head of an answer, milliseconds. */
const HEAD_MS = 30_000;

/** The headers with which the API treats a client as another user. */
function impersonation({ user, groups, uid, extra = {} }: ActingUser): [name: string, value: string][] {
  return [
    ["impersonate-user", user],
    ...groups.map((group): [string, string] => ["impersonate-group", group]),
    ...(uid === undefined ? [] : [["impersonate-uid", uid] as [string, string]]),
    ...Object.entries(extra).flatMap(([name, values]) =>
      values.map((value): [string, string] => [`impersonate-extra-${encodeURIComponent(name.toLowerCase())}`, value])
    ),
  ];
}

/** Most characters of a refusal in a message. */
const SAID = 300;

export class ApiClient {
  readonly clock: Clock;
  readonly #parts: ApiClientParts;
  #open: { readonly access: ApiAccess; readonly by: Promise<OpenExchange> } | undefined;

  constructor(parts: ApiClientParts) {
    this.#parts = parts;
    this.clock = parts.clock ?? systemClock;
  }

  /**
   * Sends a request, and returns a successful answer.
   *
   * @throws {ApiError} without an answer in time, and for a refusal.
   */
  async send(call: ApiCall): Promise<ApiAnswer> {
    const method = call.method ?? "GET";
    const what = `${method} ${call.path}`;
    const { log, limit } = this.#parts;
    const stop = new AbortController();
    const aborted = () => stop.abort(call.signal?.reason);
    if (call.signal?.aborted) aborted();
    call.signal?.addEventListener("abort", aborted, { once: true });
    const over = () => call.signal?.removeEventListener("abort", aborted);
    const ms = call.within ?? this.#parts.within ?? HEAD_MS;
    let cancel = () => {};
    try {
      const waited = call.unlimited ? 0 : await limit?.take(stop.signal) ?? 0;
      const began = this.clock.monotonic();
      cancel = this.clock.after(ms, () => stop.abort(new Error(`no answer within ${ms / 1000} s`)));
      const response = await this.#exchange(call, method, stop.signal);
      cancel();
      log?.debug(() => `${what} ${response.status}`, {
        ms: Math.round(this.clock.monotonic() - began),
        waited: Math.round(waited),
      });
      const answer = new ApiAnswer({ response, what, clock: this.clock, end: (reason) => stop.abort(reason), over });
      if (response.ok) return answer;
      throw await this.#refusal(response, what, stop.signal);
    } catch (error) {
      cancel();
      over();
      const failure = asApiError(stop.signal.aborted ? stop.signal.reason : error, what);
      if (failure.status === undefined) log?.debug(() => failure.message);
      throw failure;
    }
  }

  /** The body of an answer as one object. Throws the errors of {@linkcode send}. */
  async json(call: ApiCall): Promise<ApiJson> {
    return await (await this.send(call)).json();
  }

  /** The object at a path; undefined: the object does not exist (404). Throws the other errors of {@linkcode send}. */
  async get(path: string, call: Omit<ApiCall, "path" | "method"> = {}): Promise<ApiJson | undefined> {
    try {
      return await this.json({ ...call, path });
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Sends a request whose answer is not needed. */
  async tell(call: ApiCall): Promise<void> {
    (await this.send(call)).cancel();
  }

  /** Drops the client's connections. A later request opens new connections. */
  close(): void {
    this.#open?.by.then((open) => open.close(), () => {});
    this.#open = undefined;
  }

  async #exchange(call: ApiCall, method: string, signal: AbortSignal): Promise<Response> {
    const access = await this.#parts.access.current();
    signal.throwIfAborted();
    const exchange = this.#parts.exchange ?? (await this.#exchangeOf(access)).exchange;
    const headers: Record<string, string> = { accept: call.accept ?? "application/json" };
    if (access.authorization !== undefined) headers["authorization"] = access.authorization;
    if (this.#parts.userAgent !== undefined) headers["user-agent"] = this.#parts.userAgent;
    if (call.body !== undefined) headers["content-type"] = call.type ?? "application/json";
    // Each group is a header of its own: the API would read two groups in one line as one group of another name.
    const all = [...Object.entries(headers), ...(access.actsAs === undefined ? [] : impersonation(access.actsAs))];
    return await exchange(access.server + call.path, {
      ...{ method, signal, redirect: "manual", headers: access.actsAs === undefined ? headers : all },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    });
  }

  /** Connections are kept while the access stays the same, so that only the first request pays for TLS. */
  async #exchangeOf(access: ApiAccess): Promise<OpenExchange> {
    const before = this.#open;
    if (before !== undefined && sameConnections(before.access, access)) return await before.by;
    const by = openExchange(access);
    const made = this.#open = { access, by };
    before?.by.then((open) => open.close(), () => {});
    by.catch(() => {
      if (this.#open === made) this.#open = undefined;
    });
    return await by;
  }

  async #refusal(response: Response, what: string, signal: AbortSignal): Promise<ApiError> {
    if (response.status === 401) this.#parts.access.refused();
    const retryAfter = retryAfterMs(response.headers.get("retry-after"), this.clock.now());
    const said = await this.#said(response, signal);
    return new ApiError(`${what}: status ${response.status}: ${said}`, response.status, { retryAfter });
  }

  /** The beginning of a refusal; empty after a second without a body. */
  async #said(response: Response, signal: AbortSignal): Promise<string> {
    const late = Promise.withResolvers<string>();
    const cancel = this.clock.after(1000, () => late.resolve(""));
    const ended = () => late.resolve("");
    signal.addEventListener("abort", ended, { once: true });
    try {
      const text = await Promise.race([textUpTo(response, 4 * SAID), late.promise]);
      return messageOf(text).slice(0, SAID);
    } catch {
      return "";
    } finally {
      cancel();
      signal.removeEventListener("abort", ended);
      response.body?.cancel().catch(() => {});
    }
  }
}

async function textUpTo(response: Response, most: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length >= most) break;
  }
  return text;
}

/** The message of a Status object, or the unchanged text. */
function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === "string" && message !== "" ? message : text;
  } catch {
    return text;
  }
}
