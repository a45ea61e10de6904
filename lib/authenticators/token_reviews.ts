/**
 * Asks the orchestrator's API about tokens. Answers are kept for a few seconds, and equal concurrent questions are
 * asked once. Callers of different addresses get equal shares of the API.
 *
 * Fields: https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1/
 *
 * Permissions: the permissions of the client. Rights at the API: `create` of token reviews.
 *
 * @module
 */
import { createHash } from "node:crypto";
import * as z from "zod";
import { issueLines } from "../kernel/json/issues.ts";
import { ApiError } from "../orch/client/api_error.ts";
import type { ApiClient } from "../orch/client/client.ts";
import type { TokenReview, TokenReviewer } from "./orchestrator_token.ts";
import { addressGroup } from "../sockets/transport/address_group.ts";
import { unverifiedClaims } from "./claims.ts";
import { FairPlaces } from "./fair_places.ts";
import { shownText } from "./trust.ts";

/** Milliseconds for which an acceptance is kept. A token is accepted that long after its pod has gone. */
const KNOWN_MS = 10_000;

/** Milliseconds for which a refusal is kept: an account may be about to be created. */
const REFUSED_MS = 1000;

/** Longest wait for an answer, milliseconds. Agents repeat their request by themselves. */
const WITHIN_MS = 5000;

/** Most kept answers. Senders of many tokens can thus occupy a few MB of memory at most. */
const MOST_KEPT = 10_000;

const PATH = "/apis/authentication.k8s.io/v1/tokenreviews";

const answerSchema = z.object({
  status: z.object({
    authenticated: z.boolean({ error: "true or false" }).default(false),
    error: z.string({ error: "a text" }).optional(),
    audiences: z.array(z.string({ error: "a text" }), { error: "texts" }).default([]),
    user: z.object({
      username: z.string({ error: "a text" }).default(""),
      groups: z.array(z.string({ error: "a text" }), { error: "texts" }).default([]),
      extra: z.record(z.string(), z.array(z.string({ error: "a text" }), { error: "texts" }), {
        error: "lists of texts",
      })
        .default({}),
    }, { error: "a user" }).default({ username: "", groups: [], extra: {} }),
  }, { error: "a status" }),
}, { error: "a TokenReview" });

/** A question to the API and its answer. */
interface KeptReview {
  readonly review: Promise<TokenReview>;
  /** On the monotonic clock; undefined: the API has not answered yet. */
  until: number | undefined;
}

export class TokenReviews {
  readonly #client: Pick<ApiClient, "json" | "clock">;
  readonly #isOwn: (clusterId: string) => boolean;
  readonly #kept = new Map<string, KeptReview>();
  readonly #places: FairPlaces;

  /** @param isOwn Whether a caller's name of its cluster means the client's cluster. */
  constructor(client: Pick<ApiClient, "json" | "clock">, isOwn: (clusterId: string) => boolean) {
    this.#client = client;
    this.#isOwn = isOwn;
    this.#places = new FairPlaces(() => client.clock.monotonic());
  }

  /** {@linkcode TokenReviewer} */
  readonly review: TokenReviewer = (token, audiences, clusterId, address = "") => {
    if (clusterId !== undefined && clusterId !== "" && !this.#isOwn(clusterId)) {
      return Promise.reject(new Error(`cluster ${shownText(clusterId)} is not known here`));
    }
    const flaw = flawOf(token, this.#client.clock.now());
    if (flaw !== undefined) return Promise.resolve({ authenticated: false, username: "", groups: [], error: flaw });
    const key = createHash("sha256").update(JSON.stringify([token, audiences])).digest("base64");
    const known = this.#kept.get(key);
    if (known !== undefined && (known.until === undefined || known.until > this.#now())) return known.review;
    return this.#asked(key, token, audiences, addressGroup(address));
  };

  #asked(key: string, token: string, audiences: readonly string[], group: string): Promise<TokenReview> {
    const review = this.#inTurn(token, audiences, group);
    const kept: KeptReview = { review, until: undefined };
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    review.then(
      ({ authenticated }) => kept.until = this.#now() + (authenticated ? KNOWN_MS : REFUSED_MS),
      () => {
        if (this.#kept.get(key) === kept) this.#kept.delete(key);
      },
    );
    return review;
  }

  async #inTurn(token: string, audiences: readonly string[], group: string): Promise<TokenReview> {
    const late = new AbortController();
    // The waits for a place and for the rate of the client count, too.
    const cancel = this.#client.clock.after(WITHIN_MS, () => {
      late.abort(new ApiError(`no answer within ${WITHIN_MS / 1000} s`, undefined));
    });
    try {
      await this.#enter(group, late.signal);
      try {
        const review = await this.#ask(token, audiences, late.signal);
        if (!review.authenticated) this.#places.inVain(group);
        return review;
      } finally {
        this.#places.leave(group);
      }
    } finally {
      cancel();
    }
  }

  async #enter(group: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#places.enter(group, signal);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new ApiError("too many tokens are asked about at once", undefined);
    }
  }

  async #ask(token: string, audiences: readonly string[], signal: AbortSignal): Promise<TokenReview> {
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token, audiences } };
    const answer = await this.#client.json({ method: "POST", path: PATH, body, signal });
    const read = answerSchema.safeParse(answer, { reportInput: true });
    if (!read.success) throw new Error(issueLines(read.error.issues, "the answer").join("; "));
    const { authenticated, error, user, audiences: meant } = read.data.status;
    // An API without knowledge of audiences does not answer with audiences, and accepts tokens for any audience.
    const isMeant = audiences.some((audience) => meant.includes(audience));
    const reason = authenticated && !isMeant ? `the token is not for ${audiences.join(" or ")}` : error;
    return {
      ...{ authenticated: authenticated && isMeant, username: user.username, groups: user.groups },
      ...podOf(user.extra),
      ...(reason === undefined ? {} : { error: reason }),
    };
  }

  #now(): number {
    return this.#client.clock.monotonic();
  }
}

/** The pod that a token is bound to, in the API's answer. */
function podOf(extra: Readonly<Record<string, readonly string[]>>): Pick<TokenReview, "pod"> {
  const [name] = extra["authentication.kubernetes.io/pod-name"] ?? [];
  const [uid] = extra["authentication.kubernetes.io/pod-uid"] ?? [];
  return name === undefined || uid === undefined ? {} : { pod: { name, uid } };
}

/** The visible flaw of a token, for which the API need not be asked; undefined: no flaw is visible. */
function flawOf(token: string, now: number): string | undefined {
  try {
    const { exp } = unverifiedClaims(token);
    return exp !== undefined && exp * 1000 <= now ? "the token has expired" : undefined;
  } catch (error) {
    return `${(error as Error).message}, as the tokens of service accounts are`;
  }
}
