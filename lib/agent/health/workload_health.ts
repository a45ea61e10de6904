/**
 * Probes the workload of a machine and reports the workload's health: the agent takes the place of the orchestrator's
 * kubelet.
 *
 * @module
 */
import type { ReadinessProbe } from "../../config/kinds/common/schema.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import { within } from "../probes/within.ts";
import { type HealthThresholds, nextHealth, UNKNOWN_HEALTH, type WorkloadReport } from "./health_state.ts";

export interface WorkloadHealthInput {
  /** Times and thresholds. An absent field, or 0, means Kubernetes' default: 1 s, every 10 s, 1 success, 3 failures. */
  readonly probe: ReadinessProbe;
  /** Why the workload is not well, as an exception; must end when the signal aborts. */
  readonly check: (signal: AbortSignal) => Promise<void>;
  readonly report: (report: WorkloadReport) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Probes until a stop. */
export class WorkloadHealth {
  readonly #input: WorkloadHealthInput;
  readonly #thresholds: HealthThresholds;
  readonly #stopped = new AbortController();
  #state = UNKNOWN_HEALTH;
  #cancel: Cancel | undefined;

  constructor(input: WorkloadHealthInput) {
    this.#input = input;
    const { successThreshold, failureThreshold } = input.probe;
    this.#thresholds = { success: successThreshold || 1, failure: failureThreshold || 3 };
  }

  /** Begins, after the probe's initial delay. */
  start(): void {
    this.#later(this.#input.probe.initialDelaySeconds ?? 0);
  }

  /** Ends the running probe, and starts no more. */
  stop(): void {
    this.#stopped.abort(new Error("the agent is stopping"));
    this.#cancel?.();
  }

  #later(seconds: number): void {
    if (this.#stopped.signal.aborted) return;
    this.#cancel = this.#input.clock.after(seconds * 1000, () => void this.#probe());
  }

  async #probe(): Promise<void> {
    const { probe, report, log } = this.#input;
    const outcome = await this.#outcome();
    if (this.#stopped.signal.aborted) return;
    const { state, report: made } = nextHealth(this.#state, outcome, this.#thresholds);
    this.#state = state;
    if (made !== undefined) {
      if (made.healthy) log.info("the workload is healthy");
      else log.warn("the workload is unhealthy", { reason: made.reason });
      report(made);
    }
    this.#later(probe.periodSeconds || 10);
  }

  async #outcome(): Promise<WorkloadReport> {
    const { probe, check, clock } = this.#input;
    try {
      await within({ timeout: (probe.timeoutSeconds || 1) * 1000, signal: this.#stopped.signal, clock }, check);
      return { healthy: true };
    } catch (error) {
      return { healthy: false, reason: (error as Error).message };
    }
  }
}
