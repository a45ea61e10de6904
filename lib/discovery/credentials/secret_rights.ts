/**
 * Whether a service account may list the Secrets of its namespace, or get one that is named, as the orchestrator's API
 * says (SubjectAccessReview): an account that may read them there may have them from here.
 *
 * A right is kept for five minutes, a refusal for one. When one is asked for after that, it still counts until the API has
 * answered again; while the API is away, for as long as that takes.
 *
 * Fields: https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/
 *
 * Permissions: those of the client. The API's: `create` of subject access reviews.
 *
 * @module
 */
import * as z from "zod";
import type { Logger } from "../../kernel/log/log.ts";
import { issueLines } from "../../kernel/json/issues.ts";
import { ApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { outageOf } from "../../orch/client/outage.ts";

/** Whether secrets may be read; `unknown`: the API has not answered yet. */
export type SecretRight = "allowed" | "denied" | "unknown";

export interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

/** A question to the API. */
interface RightQuestion {
  readonly user: string;
  /** Of the account. */
  readonly namespace: string;
  readonly secret: SecretName | undefined;
}

const ALLOWED_MS = 5 * 60_000;
const DENIED_MS = 60_000;

/** Pause after the API did not answer, milliseconds. */
const AGAIN_MS = 5000;

/** Accounts whose rights are kept. */
const MOST_KEPT = 10_000;

const PATH = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

const answerSchema = z.object({
  status: z.object({ allowed: z.boolean({ error: "true or false" }) }, { error: "a status" }),
}, { error: "a SubjectAccessReview" });

/** The kept right of an account. */
interface KeptRight {
  right: SecretRight;
  /** On the monotonic clock. */
  until: number;
  asking: boolean;
  /** Called when the right is another one. */
  readonly waiting: Set<() => void>;
}

export class SecretRights {
  readonly #client: Pick<ApiClient, "json" | "clock">;
  readonly #log: Logger;
  readonly #stop: AbortSignal;
  readonly #kept = new Map<string, KeptRight>();
  /** The rights that each caller waits for: also such as are kept no longer. */
  readonly #waits = new WeakMap<() => void, Set<KeptRight>>();

  /** @param stop Nothing is asked any more after it. */
  constructor(client: Pick<ApiClient, "json" | "clock">, log: Logger, stop: AbortSignal) {
    this.#client = client;
    this.#log = log;
    this.#stop = stop;
  }

  /**
   * The right as known now.
   *
   * @param namespace Of the account.
   * @param changed Called when it is another answer, until {@linkcode leave}. A refusal is asked about again each minute.
   * @param secret Whether it may get that one. Default: whether it may list all of its namespace.
   */
  of(namespace: string, account: string, changed: () => void, secret?: SecretName): SecretRight {
    const key = keyOf(namespace, account, secret);
    let kept = this.#kept.get(key);
    if (kept === undefined) {
      kept = { right: "unknown", until: 0, asking: false, waiting: new Set() };
      this.#kept.set(key, kept);
      if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    }
    const isFresh = kept.until > this.#client.clock.monotonic();
    if (isFresh && kept.right === "allowed") return kept.right;
    kept.waiting.add(changed);
    const waits = this.#waits.get(changed);
    if (waits === undefined) this.#waits.set(changed, new Set([kept]));
    else waits.add(kept);
    const question = { user: userOf(namespace, account), namespace, secret };
    if (!kept.asking) void this.#ask(question, kept, isFresh ? DENIED_MS : 0);
    return kept.right;
  }

  /** A caller is to be called no more, about any right. */
  leave(changed: () => void): void {
    for (const kept of this.#waits.get(changed) ?? []) kept.waiting.delete(changed);
    this.#waits.delete(changed);
  }

  /** Asks until the account is allowed, or nobody waits. @param pause Before the first question, milliseconds. */
  async #ask(question: RightQuestion, kept: KeptRight, pause: number): Promise<void> {
    const { clock } = this.#client;
    kept.asking = true;
    try {
      for (let next = pause;;) {
        if (next > 0) await clock.sleep(next, this.#stop);
        if (kept.waiting.size === 0) break;
        next = await this.#answer(question, kept);
        if (next === 0) break;
      }
    } catch (error) {
      if (!this.#stop.aborted) throw error;
    } finally {
      kept.asking = false;
      outageOf(this.#client).leaves(kept);
    }
  }

  /** Takes one answer. @returns milliseconds until the next question; 0: there is none */
  async #answer(question: RightQuestion, kept: KeptRight): Promise<number> {
    let allowed: boolean;
    try {
      allowed = await this.#isAllowed(question);
      outageOf(this.#client).works(kept, this.#log, { question: "SubjectAccessReview" });
    } catch (error) {
      this.#stop.throwIfAborted();
      if (error instanceof ApiError && error.transient) {
        outageOf(this.#client).fails(kept, error, this.#log, { question: "SubjectAccessReview" });
        return AGAIN_MS;
      }
      outageOf(this.#client).works(kept, this.#log, { question: "SubjectAccessReview" });
      this.#log.warn("it cannot be asked whether an account may read secrets; it is tried again", {
        user: question.user,
        error,
      });
      return AGAIN_MS;
    }
    const before = kept.right;
    kept.right = allowed ? "allowed" : "denied";
    kept.until = this.#client.clock.monotonic() + (allowed ? ALLOWED_MS : DENIED_MS);
    const waiting = [...kept.waiting];
    if (allowed) kept.waiting.clear();
    if (kept.right !== before) { for (const changed of waiting) changed(); }
    return allowed ? 0 : DENIED_MS;
  }

  async #isAllowed({ user, namespace, secret }: RightQuestion): Promise<boolean> {
    const resourceAttributes = secret === undefined
      ? { namespace, verb: "list", resource: "secrets" }
      : { ...secret, verb: "get", resource: "secrets" };
    // The groups that the API itself gives a service account.
    const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
    const body = {
      ...{ apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview" },
      spec: { user, groups, resourceAttributes },
    };
    const answer = await this.#client.json({ method: "POST", path: PATH, body, signal: this.#stop });
    const read = answerSchema.safeParse(answer, { reportInput: true });
    if (!read.success) throw new Error(issueLines(read.error.issues, "the answer").join("; "));
    return read.data.status.allowed;
  }
}

function keyOf(namespace: string, account: string, secret: SecretName | undefined): string {
  const user = userOf(namespace, account);
  return secret === undefined ? user : `${user} ${secret.namespace}/${secret.name}`;
}

function userOf(namespace: string, account: string): string {
  return `system:serviceaccount:${namespace}:${account}`;
}
