/**
 * Runs the duties of a server, each under its lock.
 *
 * Permissions: the permissions of the client and of the duties.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { ApiClient } from "../client/client.ts";
import { BackOff } from "../informer/back_off.ts";
import type { Duty } from "./duty.ts";
import { Election } from "./election.ts";
import type { LockName } from "./locks.ts";
import type { Candidate } from "./machine.ts";

/** How duties are run. */
export interface DutyRunnerOptions extends Candidate {
  /** Where the locks are. */
  readonly namespace: string;
  /** False: the server is the only server, and leads at once (`ENABLE_LEADER_ELECTION`). */
  readonly elect: boolean;
  readonly log: Logger;
  /** From 0 to 1. Default: the runtime's. */
  readonly random?: () => number;
}

/** The leader of a lock, for pages. */
export interface LockState {
  readonly lock: LockName;
  /** The duties under the lock. */
  readonly duties: readonly string[];
  /** Whether the server itself leads. */
  readonly leads: boolean;
  /** Identity of the leader; empty: no leader is known. */
  readonly leader: string;
  /** Revision of the leader; empty: not known. */
  readonly revision: string;
  /** Beginning of the leader's term, RFC 3339; empty: not known. */
  readonly since: string;
  /** Why the lock cannot be used; empty: there is no trouble. */
  readonly trouble: string;
}

/** A lock with its duties and its election. */
interface LockedDuties {
  readonly duties: readonly Duty[];
  /** Undefined: there is no election. */
  readonly election: Election | undefined;
}

export class DutyRunner {
  readonly #client: ApiClient;
  readonly #options: DutyRunnerOptions;
  readonly #locks = new Map<LockName, LockedDuties>();
  readonly #stop = new AbortController();
  readonly #since: string;
  readonly #running: Promise<void>;

  /** Begins to stand for election under the lock of each duty. */
  constructor(client: ApiClient, duties: readonly Duty[], options: DutyRunnerOptions) {
    this.#client = client;
    this.#options = options;
    this.#since = new Date(client.clock.now()).toISOString();
    for (const [lock, own] of Map.groupBy(duties, (duty) => duty.lock)) {
      const election = options.elect ? new Election(client, { ...options, lock }) : undefined;
      this.#locks.set(lock, { duties: own, election });
    }
    this.#running = Promise.all([...this.#locks.values()].map((locked) => this.#run(locked))).then(() => {});
  }

  /** The locks of the server's duties. */
  states(): readonly LockState[] {
    return [...this.#locks].map(([lock, { duties, election }]) => ({
      lock,
      duties: duties.map(({ about }) => about),
      leads: election?.leads ?? true,
      leader: (election === undefined ? this.#options.identity : election.holder?.holder) ?? "",
      revision: (election === undefined ? this.#options.key : election.holder?.key) ?? "",
      since: (election === undefined ? this.#since : election.holder?.acquired) ?? "",
      trouble: election?.trouble ?? "",
    }));
  }

  /** Ends all duties and gives the locks back. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error("the server stops"));
    await this.#running;
  }

  async #run({ duties, election }: LockedDuties): Promise<void> {
    const lead = async (signal: AbortSignal) =>
      void (await Promise.all(duties.map((duty) => this.#keep(duty, signal))));
    if (election === undefined) await lead(this.#stop.signal);
    else await election.run(lead, this.#stop.signal);
  }

  /** Does a duty until the signal aborts. A failed duty is begun again, and does not end other duties. */
  async #keep(duty: Duty, signal: AbortSignal): Promise<void> {
    const { log, random } = this.#options;
    const { clock } = this.#client;
    const backOff = new BackOff(random);
    while (!signal.aborted) {
      let why: unknown = new Error("the duty ended by itself");
      try {
        await duty.run(signal);
      } catch (error) {
        why = error;
      }
      if (signal.aborted) return;
      log.error("a duty has failed; the server begins it again", { duty: duty.about, error: why });
      await clock.sleep(backOff.next(), signal).catch(() => {});
    }
  }
}
