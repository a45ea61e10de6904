/**
 * How an agent ends: with its proxy, after a drain, or at once.
 *
 * @module
 */
import type { NameTable } from "../../dns/table/types.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { DrainRules } from "../envoy/drain.ts";
import { type EnvoyProcess, exitCodeOf } from "../envoy/envoy_process.ts";
import type { ReadinessCheck } from "../status/readiness.ts";
import type { StatusActions } from "../status/routes.ts";

const NOT_STARTED = "the proxy has not been started yet";

/** An agent that has started. */
interface Started {
  /** Absent where the agent has no proxy. */
  readonly envoy: EnvoyProcess | undefined;
  /** Ends all other parts of the agent. */
  closeAll(): Promise<unknown>;
}

/** The life of an agent, from its start to its exit code. */
export class AgentLife {
  /** Resolves with the exit code of the agent when the proxy, or the agent itself, has ended. */
  readonly ended: Promise<number>;
  readonly #resolve: (code: number) => void;
  readonly #drainRules: DrainRules;
  readonly #log: Logger;
  readonly #withoutProxy: ReadinessCheck;
  #started: Started | undefined;
  #over: Promise<void> | undefined;
  #isAsked = false;

  /** @param withoutProxy Decides about readiness where there is no proxy. */
  constructor(drainRules: DrainRules, log: Logger, withoutProxy: ReadinessCheck) {
    this.#drainRules = drainRules;
    this.#log = log;
    this.#withoutProxy = withoutProxy;
    ({ promise: this.ended, resolve: this.#resolve } = Promise.withResolvers<number>());
  }

  /** Every part has started. From now on the end of the proxy is the end of the agent. */
  begin(started: Started): void {
    this.#started = started;
    // A requested end counts as success, even if a signal caused the end.
    started.envoy?.ended.then(({ code, signal }) => {
      if (this.#isAsked) return this.#close(0);
      this.#log.error("Envoy ended by itself, and the agent with it", signal === null ? { code } : { signal });
      return this.#close(exitCodeOf({ code, signal }));
    });
  }

  /** Drains the proxy and ends the agent. Resolves when all parts have ended. */
  async drain(): Promise<void> {
    this.#isAsked = true;
    await this.#started?.envoy?.drain(this.#drainRules);
    await this.#close(0);
  }

  /** Ends the agent now. Resolves when all parts have ended. */
  async stop(): Promise<void> {
    this.#isAsked = true;
    await this.#started?.envoy?.end();
    await this.#close(0);
  }

  /** The questions and actions of the status port. */
  statusActions(nameTable: () => NameTable | undefined): StatusActions {
    return {
      nameTable,
      notReady: async () => {
        if (this.#started === undefined) return NOT_STARTED;
        const { envoy } = this.#started;
        return await (envoy === undefined ? this.#withoutProxy() : envoy.readiness.reason());
      },
      quit: () => {
        if (this.#started !== undefined) void this.stop();
      },
      drain: async () => {
        if (this.#started === undefined) throw new Error(NOT_STARTED);
        await this.#started.envoy?.drainAndStay(this.#drainRules);
      },
    };
  }

  #close(code: number): Promise<void> {
    return this.#over ??= Promise.resolve(this.#started?.closeAll()).then(() => this.#resolve(code));
  }
}
