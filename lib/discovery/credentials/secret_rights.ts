/**
 * The rights of service accounts to Secrets: to list the Secrets of the account's namespace, or to get a named Secret.
 * The orchestrator's API decides (SubjectAccessReview): an account that may read Secrets at the API may read the same
 * Secrets from this server.
 *
 * A permission is kept for five minutes, a refusal for one minute. An expired answer still counts until the API has
 * answered again, however long the API is away.
 *
 * Fields: https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/
 *
 * Permissions: the permissions of the client. Rights at the API: `create` of subject access reviews.
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
  /** Namespace of the account. */
  readonly namespace: string;
  readonly secret: SecretName | undefined;
}

const ALLOWED_MS = 5 * 60_000;
const DENIED_MS = 60_000;

/** Pause after the API did not answer, milliseconds. */
const AGAIN_MS = 5000;

/** Most accounts whose rights are kept. */
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
  /** Called when the right changes. */
  readonly waiting: Set<() => void>;
}

export class SecretRights {
  readonly #client: Pick<ApiClient, "json" | "clock">;
  readonly #log: Logger;
  readonly #stop: AbortSignal;
  readonly #kept = new Map<string, KeptRight>();
  /** The rights that each caller waits for, including rights that are dropped from the kept rights. */
  readonly #waits = new WeakMap<() => void, Set<KeptRight>>();

  /** @param stop Ends all questions to the API. */
  constructor(client: Pick<ApiClient, "json" | "clock">, log: Logger, stop: AbortSignal) {
    this.#client = client;
    this.#log = log;
    this.#stop = stop;
  }

  /**
   * The right as known now.
   *
   * @param namespace Namespace of the account.
   * @param changed Called when the answer changes, until {@linkcode leave}. A refusal is asked about again each minute.
   * @param secret Asks for the right to get this Secret. Default: the right to list all Secrets of the namespace.
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

  /** Stops all calls to a caller. */
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

  /** Takes one answer. @returns milliseconds until the next question; 0: no further question */
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
      this.#log.warn("the API cannot be asked whether an account may read secrets; the server asks again", {
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
    // The groups of every service account, as the API assigns them.
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
