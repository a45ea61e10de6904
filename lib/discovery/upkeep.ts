/**
 * Regular work of a server, independent of its proxies: drops results that no proxy uses, and reports settings of users
 * that are not in force.
 *
 * @module
 */
import type { Kernel } from "../kernel/kernel.ts";
import type { Log } from "../kernel/log/log.ts";
import type { Cancel } from "../kernel/time/clock.ts";
import { type Finding, findingIdentity, findingKeys } from "../finding/finding.ts";
import type { Pipeline } from "./pipeline/pipeline.ts";

/** Time between two sweeps, ms. */
export const SWEEP_INTERVAL = 60_000;

/**
 * Time from a push to the look at warnings, ms. Several pushes in a row cost one look, and no push waits for the look.
 */
export const REVIEW_DELAY = 1000;

/** Most new warnings in the log after a look. Further warnings are counted, and shown on the debug page. */
export const MAX_LOGGED = 100;

/** Logs each warning once, until the warning disappears and comes back. */
export class FindingLog {
  readonly #log: Log;
  #reported = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Takes all present warnings. */
  review(warnings: readonly Finding[]): void {
    const now = new Set<string>();
    let fresh = 0;
    for (const warning of warnings) {
      const key = findingIdentity(warning);
      now.add(key);
      if (this.#reported.has(key) || ++fresh > MAX_LOGGED) continue;
      const scope = warning.name === "gateway-not-as-written" ? "gateway" : "model";
      this.#log.scope(scope).warn(warning.message, {
        objects: findingKeys(warning),
        code: warning.code,
        what: warning.name,
      });
    }
    this.#reported = now;
    if (fresh > MAX_LOGGED) {
      this.#log.scope("model").warn("more findings, see /debug/warningz", { others: fresh - MAX_LOGGED });
    }
  }
}

/**
 * Starts the upkeep of a pipeline. The upkeep ends with the kernel.
 *
 * @param analyzed The findings of the analysis.
 */
export function startUpkeep(
  pipeline: Pipeline,
  kernel: Pick<Kernel, "log" | "metrics" | "clock" | "stopper">,
  analyzed: () => Iterable<Finding>,
): void {
  const { clock } = kernel;
  const warnings = new FindingLog(kernel.log);
  let sweep: Cancel;
  let review: Cancel | undefined;
  const guarded = (what: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      kernel.metrics.counter("pilot_total_xds_internal_errors").inc();
      kernel.log.scope("default").error("upkeep failed", { what, error });
    }
  };
  const look = () => {
    review = undefined;
    guarded("review of warnings", () => warnings.review([...pipeline.warnings(), ...analyzed()]));
  };
  const tidy = () => {
    sweep = clock.after(SWEEP_INTERVAL, tidy);
    guarded("sweep", () => pipeline.translator.sweep());
    guarded("review of warnings", () => warnings.review([...pipeline.warnings(), ...analyzed()]));
  };
  sweep = clock.after(SWEEP_INTERVAL, tidy);
  const pushed = () => {
    review ??= clock.after(REVIEW_DELAY, look);
  };
  const quiet = pipeline.onPush(pushed);
  pushed();
  kernel.stopper.add("upkeep", () => {
    quiet();
    sweep();
    review?.();
  });
}
