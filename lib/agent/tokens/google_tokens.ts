/**
 * `GoogleTokenExchange`: exchanges a workload's token for a federated token of Google's security token service, and the
 * federated token for an access token of the mesh's service account.
 *
 * Permissions: net (Google's services).
 *
 * @module
 */
import { createHash } from "node:crypto";
import * as z from "zod";
import { FetchStatusError, fetchText, type TextExchange } from "../../kernel/fetch/fetch_text.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { ACCESS_TOKEN, ExchangeError, type ExchangeRequest } from "./exchange_request.ts";
import type { IssuedToken, TokenManager, TokenStatus } from "./token_service.ts";

/** Options of the requests for tokens. */
export interface GoogleTokenOptions {
  readonly exchangeEndpoint: string;
  /** `{project_number}` in the text becomes the project's number. */
  readonly accessEndpoint: string;
  /** Workload identity pool and provider, `identitynamespace:POOL:PROVIDER`. */
  readonly audience: string;
  /** Empty: unknown, and no token can be issued. */
  readonly projectNumber: string;
  /** Project that is charged for calls. Empty: the caller's. */
  readonly quotaProject: string;
  /** How servers are asked; default `fetch`. */
  readonly exchange?: TextExchange;
  /** Time for one call, ms. Default 5000. */
  readonly timeout?: number;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

const CLOUD_SCOPE = "https://www.googleapis.com/auth/cloud-platform";
/** Requested lifetime, and the lifetime of a token whose answer has none, s. */
const LIFETIME = 3600;
/** A token with less time left is replaced, ms. */
const GRACE = 300_000;
const TIMEOUT = 5000;
const MAX_ANSWER = 64 * 1024;
/** Attempts of a call that fails at once because of the server. A silent server gets one attempt. */
const ATTEMPTS = 3;
const PAUSE = 100;
/** Limit of remembered exchanges, and of simultaneous exchanges. */
const MOST = 100;

const federatedAnswer = z.looseObject({ access_token: z.string().min(1), expires_in: z.number().optional() });
const accessAnswer = z.looseObject({ accessToken: z.string().min(1), expireTime: z.string().optional() });

interface RememberedToken extends IssuedToken {
  readonly issued: number;
}

/** Requests with the same token for the same scopes get the same answer while the answer is fresh. */
export class GoogleTokens implements TokenManager {
  readonly #options: GoogleTokenOptions;
  /** In order of use: the least recently used token comes first. */
  readonly #tokens = new Map<string, RememberedToken>();
  readonly #running = new Map<string, Promise<IssuedToken>>();
  #federated: TokenStatus | undefined;

  constructor(options: GoogleTokenOptions) {
    this.#options = options;
  }

  exchange(request: ExchangeRequest): Promise<IssuedToken> {
    const key = createHash("sha256").update(JSON.stringify(request)).digest("base64");
    const known = this.#tokens.get(key);
    this.#tokens.delete(key);
    if (known !== undefined && known.expires - this.#options.clock.now() > GRACE) {
      this.#tokens.set(key, known);
      return Promise.resolve(known);
    }
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    if (this.#running.size >= MOST) return Promise.reject(unavailable(`${MOST} exchanges are under way already`));
    const made = this.#exchange(request, key).finally(() => this.#running.delete(key));
    this.#running.set(key, made);
    return made;
  }

  status(): readonly TokenStatus[] {
    const access = [...this.#tokens.values()].map(({ issued, expires }) => ({ type: "access token", issued, expires }));
    return [...(this.#federated === undefined ? [] : [this.#federated]), ...access];
  }

  async #exchange({ subjectToken, scopes }: ExchangeRequest, key: string): Promise<IssuedToken> {
    const { clock, projectNumber } = this.#options;
    if (projectNumber === "") {
      throw unavailable("the project's number is not known: CLOUD_METADATA, or the cloud's metadata server, has it");
    }
    const federated = await this.#federatedToken(subjectToken);
    const answer = await this.#accessToken(federated, scopes.length === 0 ? [CLOUD_SCOPE] : scopes);
    const given = Date.parse(answer.expireTime ?? "");
    const issued = clock.now();
    const made = {
      token: answer.accessToken,
      issued,
      expires: Number.isNaN(given) ? issued + LIFETIME * 1000 : given,
    };
    this.#tokens.set(key, made);
    for (const oldest of this.#tokens.keys()) {
      if (this.#tokens.size <= MOST) break;
      this.#tokens.delete(oldest);
    }
    return made;
  }

  async #federatedToken(subjectToken: string): Promise<string> {
    const { exchangeEndpoint, audience, clock } = this.#options;
    const body = {
      audience,
      grantType: "urn:ietf:params:oauth:grant-type:token-exchange",
      requestedTokenType: ACCESS_TOKEN,
      subjectTokenType: "urn:ietf:params:oauth:token-type:jwt",
      subjectToken,
      // With a smaller scope the federated token could not request the access token.
      scope: CLOUD_SCOPE,
    };
    // RFC 8693, 2.2.2: a subject token that the provider refuses is the request's fault.
    const answer = await this.#call(exchangeEndpoint, body, {}, federatedAnswer, "invalid_request");
    const issued = clock.now();
    this.#federated = { type: "federated token", issued, expires: issued + (answer.expires_in ?? LIFETIME) * 1000 };
    return answer.access_token;
  }

  #accessToken(federated: string, scope: readonly string[]) {
    const endpoint = this.#options.accessEndpoint.replaceAll("{project_number}", this.#options.projectNumber);
    const body = { scope, lifetime: `${LIFETIME}s` };
    return this.#call(endpoint, body, { authorization: `Bearer ${federated}` }, accessAnswer, "invalid_target");
  }

  /** One call, with further attempts. */
  async #call<Answer>(
    url: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
    schema: z.ZodType<Answer>,
    refusedAs: "invalid_request" | "invalid_target",
  ): Promise<Answer> {
    const { clock, metrics, quotaProject, exchange, timeout = TIMEOUT } = this.#options;
    const type = { request_type: "token_exchange" };
    const quota: Record<string, string> = quotaProject === "" ? {} : { "x-goog-user-project": quotaProject };
    const request = {
      method: "POST",
      headers: { "content-type": "application/json", ...quota, ...headers },
      body: JSON.stringify(body),
      ...(exchange === undefined ? {} : { exchange }),
    } as const;
    for (let attempt = 1;; attempt++) {
      const started = clock.monotonic();
      metrics.counter("num_outgoing_requests").inc(type);
      try {
        const text = await fetchText(url, { timeout, size: MAX_ANSWER }, request);
        metrics.counter("outgoing_latency").inc(type, clock.monotonic() - started);
        return readAnswer(url, text, schema);
      } catch (error) {
        metrics.counter("num_failed_outgoing_requests").inc(type);
        if (error instanceof ExchangeError) throw error;
        const isRefused = error instanceof FetchStatusError && error.status < 500 && error.status !== 429;
        if (isRefused) throw new ExchangeError(refusedAs, `${error.message}${reasonIn(error.body)}`);
        const isSilent = clock.monotonic() - started > timeout / 2;
        if (attempt === ATTEMPTS || isSilent) throw unavailable((error as Error).message);
        metrics.counter("num_outgoing_retries").inc(type);
        await clock.sleep(PAUSE * attempt);
      }
    }
  }
}

function unavailable(message: string): ExchangeError {
  return new ExchangeError("temporarily_unavailable", message);
}

/** Reads an answer. Errors do not repeat the answer's text, which may hold a token. */
function readAnswer<Answer>(url: string, text: string, schema: z.ZodType<Answer>): Answer {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw unavailable(`${url}: expected JSON with a token, got something else`);
  }
}

const refusalBody = z.union([
  z.looseObject({ error_description: z.string() }).transform((body) => body.error_description),
  z.looseObject({ error: z.looseObject({ message: z.string() }) }).transform((body) => body.error.message),
]);

/** Google's reason for a refusal, in the two forms of Google's services. */
function reasonIn(body: string): string {
  try {
    return `: ${refusalBody.parse(JSON.parse(body)).slice(0, 300)}`;
  } catch {
    return "";
  }
}
