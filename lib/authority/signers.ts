/**
 * Certificates by external signers. The server checks the caller and the request, has the request signed, and checks
 * the answer.
 *
 * @module
 */
import type { Clock } from "../kernel/time/clock.ts";
import { QueueFull, WorkQueue } from "../kernel/time/work_queue.ts";
import { CurrentValue } from "../pki/current.ts";
import { writePem } from "../pki/pem.ts";
import type { PrivateKey } from "../pki/private_key.ts";
import { createCertificateRequest } from "../pki/request.ts";
import { NO_NAMES } from "../pki/subject.ts";
import {
  checkedLifetime,
  type IssuedChain,
  IssueError,
  type Lifetimes,
  type OwnIssuer,
  type WorkloadAuthority,
  type WorkloadOrder,
} from "./issuing.ts";
import { type AskedCertificate, readSignerAnswer, requestFault } from "./signer_answer.ts";
import { type SignerNames, signerOf } from "./signer_name.ts";

/** Longest wait for a signer, milliseconds. */
const WITHIN_MS = 60_000;

/** Requests at a signer at a time; each is an object of the API, and a few requests there. */
const AT_ONCE = 32;

/** Most signers with requests under way: callers choose the names of signers. */
const MOST_SIGNERS = 64;

/** Shortest lifetime in the API, milliseconds. */
const SHORTEST_MS = 600_000;

/** Has a request in PEM signed. */
export type SignElsewhere = (
  order: {
    readonly signer: string;
    readonly request: string;
    readonly usages: readonly string[];
    readonly seconds: number;
  },
  signal: AbortSignal,
) => Promise<string>;

/** Inputs of the signers. */
export interface SignersOptions {
  /** @throws {IssueError} */
  readonly sign: SignElsewhere;
  /** The roots of a signer in PEM; undefined: the roots come with the signer's certificates. */
  readonly roots: (signer: string) => string | undefined;
  /** Hears when roots of signers change. */
  readonly onRoots: (listener: () => void) => () => void;
  readonly names: SignerNames;
  readonly lifetimes: Lifetimes;
  readonly clock: Pick<Clock, "now" | "after">;
  /** Longest wait for a signer, milliseconds. Default: 60 s. */
  readonly within?: number;
}

const USAGES = ["digital signature", "key encipherment"];
const AUTH = { client: "client auth", server: "server auth" } as const;

interface SignerQueue {
  readonly queue: WorkQueue;
  users: number;
}

export class Signers implements WorkloadAuthority {
  readonly #options: SignersOptions;
  readonly #queues = new Map<string, SignerQueue>();

  constructor(options: SignersOptions) {
    this.#options = options;
  }

  /** @throws {IssueError} with the reason of a refusal; {QueueFull} when too many requests wait for the signer */
  async issueWorkload({ uri, request, lifetime, signer: wanted, signal }: WorkloadOrder): Promise<IssuedChain> {
    const signer = signerOf(wanted, this.#options.names);
    const fault = requestFault(request, uri);
    if (fault !== undefined) throw new IssueError("request", `csr: ${fault}`);
    const pem = writePem("CERTIFICATE REQUEST", request.der);
    const asked: AskedCertificate = {
      ...{ signer, spki: request.spki, names: { ...NO_NAMES, uris: [uri] } },
      purposes: ["client", "server"],
    };
    return await this.#issue(asked, pem, lifetime, signal);
  }

  /** Issues the server's own certificates by one signer. */
  server(signer: string): OwnIssuer & { readonly roots: CurrentValue<string> } {
    const roots = new CurrentValue("");
    const issueServer = async (key: PrivateKey, dns: readonly string[]) => {
      const names = { ...NO_NAMES, dns };
      const asked: AskedCertificate = { ...{ signer, spki: key.spki, names }, purposes: ["server"] };
      const issued = await this.#issue(asked, await createCertificateRequest(key, { dns }), 0);
      if (issued.rootsPem !== roots.current()) roots.set(issued.rootsPem);
      return issued;
    };
    let before = this.#options.roots(signer);
    const onChange = (listener: (value: unknown) => void) =>
      this.#options.onRoots(() => {
        const now = this.#options.roots(signer);
        if (now === before) return;
        before = now;
        listener(now);
      });
    return { issueServer, roots, material: { onChange } };
  }

  async #issue(asked: AskedCertificate, request: string, lifetime: number, gone?: AbortSignal): Promise<IssuedChain> {
    const { clock, lifetimes, roots, sign, within = WITHIN_MS } = this.#options;
    const wanted = checkedLifetime(lifetimes, lifetime);
    if (wanted < SHORTEST_MS) {
      throw new IssueError("ttl", `the lifetime: got ${wanted / 1000} s, expected at least ${SHORTEST_MS / 1000} s`);
    }
    const stop = new AbortController();
    const left = () => stop.abort(gone?.reason);
    const cancel = clock.after(within, () => stop.abort(new Error(`no answer within ${within / 1000} s`)));
    gone?.addEventListener("abort", left, { once: true });
    if (gone?.aborted) left();
    const usages = [...USAGES, ...asked.purposes.map((purpose) => AUTH[purpose])];
    const order = { signer: asked.signer, request, usages, seconds: Math.round(wanted / 1000) };
    // A caller that waits behind other callers gets its answer in time, too.
    const waited = Promise.withResolvers<never>();
    let isAsked = false;
    stop.signal.addEventListener("abort", () => {
      const why = `signer ${asked.signer}: ${
        (stop.signal.reason as Error).message
      }: other requests wait for the signer already`;
      if (!isAsked) waited.reject(new IssueError("late", why));
    }, { once: true });
    try {
      const signed = this.#queued(asked.signer, () => {
        isAsked = true;
        return sign(order, stop.signal);
      });
      const answer = await Promise.race([signed, waited.promise]);
      return await readSignerAnswer(answer, asked, roots(asked.signer), clock.now());
    } finally {
      cancel();
      gone?.removeEventListener("abort", left);
    }
  }

  /** A queue for each signer, so that a silent signer delays no other signer. */
  async #queued<T>(signer: string, work: () => Promise<T>): Promise<T> {
    const kept = this.#queues.get(signer) ?? { queue: new WorkQueue(AT_ONCE), users: 0 };
    if (kept.users === 0 && this.#queues.size >= MOST_SIGNERS) {
      throw new QueueFull(`${MOST_SIGNERS} signers are being asked already`);
    }
    this.#queues.set(signer, kept);
    kept.users++;
    try {
      return await kept.queue.run(work);
    } finally {
      if (--kept.users === 0) this.#queues.delete(signer);
    }
  }
}
