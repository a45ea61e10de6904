/**
 * Stores what workloads have called, seldom, and takes what other servers have stored.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import type { CallMemory } from "./call_memory.ts";
import type { StoredWorkload } from "./stored_calls.ts";

/** Shortest time between two writes, in milliseconds. */
const PAUSE = 60_000;

/** Pauses between two looks at everything that is remembered: old names are forgotten, and calls that go on stored. */
const ALL_AFTER = 30;

/** Where calls are stored. */
export interface CallShelf {
  /** The place, for logs. */
  readonly place: string;
  /** Hands over what is stored, now and after changes by other servers. Resolves when everything was handed over once. */
  start(take: (stored: readonly StoredWorkload[]) => void): Promise<void>;
  /** Stores the calls of namespaces, if the stored calls lack some. */
  save(memory: CallMemory, namespaces: readonly string[], signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

export class CallKeeper {
  readonly #memory: CallMemory;
  readonly #shelf: CallShelf;
  readonly #clock: Pick<Clock, "after">;
  readonly #log: Pick<Logger, "info" | "warn">;
  readonly #stop = new AbortController();
  #cancel: Cancel = () => {};
  #saving: Promise<void> = Promise.resolve();
  #rounds = 0;
  #isFailing = false;

  constructor(
    memory: CallMemory,
    shelf: CallShelf,
    clock: Pick<Clock, "after">,
    log: Pick<Logger, "info" | "warn">,
  ) {
    this.#memory = memory;
    this.#shelf = shelf;
    this.#clock = clock;
    this.#log = log;
  }

  /** Takes what is stored, and begins to store. Without an answer of the shelf the memory begins empty. */
  async start(): Promise<void> {
    const { place } = this.#shelf;
    try {
      await this.#shelf.start((stored) => {
        for (const { workload, calls } of stored) this.#memory.merge(workload, calls);
      });
    } catch (error) {
      this.#log.warn("what workloads have called cannot be read; the server goes on without", { place, error });
    }
    this.#wait();
  }

  #wait(): void {
    this.#cancel = this.#clock.after(PAUSE, () => {
      if (++this.#rounds % ALL_AFTER === 0) this.#lookAtAll();
      this.#saving = this.#save().then(() => this.#wait());
    });
  }

  #lookAtAll(): void {
    this.#memory.forgetOld();
    for (const { workload } of this.#memory.workloads()) this.#memory.setChanged(workload.namespace);
  }

  async #save(): Promise<void> {
    const { place } = this.#shelf;
    const namespaces = this.#memory.takeChanged();
    if (namespaces.length === 0) return;
    try {
      await this.#shelf.save(this.#memory, namespaces, this.#stop.signal);
      if (this.#isFailing) this.#log.info("what workloads have called is stored again", { place });
      this.#isFailing = false;
    } catch (error) {
      for (const namespace of namespaces) this.#memory.setChanged(namespace);
      if (!this.#isFailing) {
        this.#log.warn("what workloads have called cannot be stored; the server tries again", { place, error });
      }
      this.#isFailing = true;
    }
  }

  /** Stores what is not stored yet, and ends. */
  async stop(): Promise<void> {
    this.#cancel();
    await this.#saving;
    this.#cancel();
    await this.#save();
    this.#stop.abort();
    await this.#shelf.stop();
  }
}
