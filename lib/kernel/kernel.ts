/**
 * The base of a running program, made once and passed down: logs, metrics, time, readiness, drain, stop. Packages take
 * single parts, not the whole.
 *
 * Permissions: the permissions of the log targets.
 *
 * @module
 */
import { createDrain, type Drain } from "./lifecycle/drain.ts";
import { createReadiness, type Readiness } from "./lifecycle/readiness.ts";
import { createStopper, type Stopper } from "./lifecycle/stop.ts";
import { createLog, defaultLogOptions, type Log, type LogOptions } from "./log/log.ts";
import { scopes } from "./log/scopes.ts";
import { feedBuildMetrics } from "./metrics/build.ts";
import { createMetrics, type Metrics } from "./metrics/registry.ts";
import type { Program } from "./program/program.ts";
import { type Clock, systemClock } from "./time/clock.ts";

/** Services for every part of a program. */
export interface Kernel {
  readonly program: Program;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly readiness: Readiness;
  readonly drain: Drain;
  readonly stopper: Stopper;
}

/** Differences between programs and tests. */
export interface KernelOptions {
  /** Time for an ordered stop, milliseconds; default 10 s. */
  readonly stopDeadline?: number;
  /** Put before metric names; default none. */
  readonly metricPrefix?: string;
  readonly clock?: Clock;
  /** Instead of a log made from the log options. */
  readonly log?: Log;
}

/**
 * Makes the kernel of a program.
 *
 * @throws {LogOptionError} when a log target cannot be opened.
 */
export function startKernel(
  program: Program,
  logOptions: LogOptions = defaultLogOptions,
  options: KernelOptions = {},
): Kernel {
  const clock = options.clock ?? systemClock;
  const log = options.log ?? createLog(scopes[program], logOptions, { clock });
  const started = clock.monotonic();
  const failed = (error: unknown) => log.scope("monitoring").error("a metric could not be computed", { error });
  const metrics = createMetrics(program, { prefix: options.metricPrefix ?? "", failed });
  feedBuildMetrics(metrics, program, () => (clock.monotonic() - started) / 1000);
  return {
    program,
    log,
    metrics,
    clock,
    readiness: createReadiness(),
    drain: createDrain(),
    stopper: createStopper(options.stopDeadline ?? 10_000, clock),
  };
}

/**
 * Waits until draining starts, then ends all registered parts in order, and logs the outcome.
 *
 * @returns The exit code: 0, or 1 when a part failed or did not end in time.
 */
export async function untilStopped(kernel: Kernel): Promise<number> {
  const log = kernel.log.scope("default");
  const reason = await kernel.drain.whenStarted;
  log.info("stopping", { reason });
  const outcomes = await kernel.stopper.stop();
  for (const { name, result, error } of outcomes) {
    if (result !== "done") log.error("a part did not stop cleanly", { part: name, result, error });
  }
  const clean = outcomes.every((outcome) => outcome.result === "done");
  log.info("stopped", { clean });
  return clean ? 0 : 1;
}
