/**
 * Figures of the steps of scenarios.
 *
 * @module
 */
import { editCost, type Figure, spread } from "./result.ts";
import type { Measured } from "./session.ts";

/** Limit of the lateness of the server's timers, ms. */
const LONGEST_DELAY = 1000;

/** The timed wait of an edit: `PILOT_DEBOUNCE_AFTER`, ms. */
export const DEBOUNCE = 100;

/** Makes a figure with a single value. */
export function figure(
  name: string,
  unit: Figure["unit"],
  value: number,
  more: Pick<Figure, "atMost" | "atLeast" | "waited"> = {},
): Figure {
  return { name, unit, values: [value], ...more };
}

/** An upper bound, if any. */
export function atMost(bound: number | undefined): Pick<Figure, "atMost"> {
  return bound === undefined ? {} : { atMost: bound };
}

/** The longest delay of the server's event loop in any step. */
export function delayFigure(...delays: readonly number[]): Figure {
  return figure("longest delay of the event loop", "ms", Math.max(...delays), { atMost: LONGEST_DELAY });
}

/** Mean of the calibrations beside some steps. */
export function calibrationOf(steps: readonly { readonly calibration: number }[]): number {
  return steps.reduce((sum, { calibration }) => sum + calibration, 0) / steps.length;
}

/** Targets of a connect. */
export interface ConnectTargets {
  readonly cpu?: number;
  readonly seconds?: number;
  readonly peak?: number;
  readonly megabytes?: number;
}

/** Figures of a connect. */
export function connectFigures(measured: Measured, targets: ConnectTargets = {}): Figure[] {
  return [
    figure("", "CPU s", measured.cpu, atMost(targets.cpu)),
    figure("", "s", measured.ms.last / 1000, atMost(targets.seconds)),
    figure("at peak", "MiB", measured.peak, atMost(targets.peak)),
    figure("on the wire", "MB", measured.wireBytes / 1e6, atMost(targets.megabytes)),
    delayFigure(measured.delay),
  ];
}

/** Targets of an edit. */
export interface EditTargets {
  readonly cpu?: number;
  readonly last?: number;
  readonly kilobytes?: number;
  /** Types that may be sent. */
  readonly only?: readonly string[];
}

/** Figures of a repeated edit. */
export function editFigures(rounds: readonly Measured[], proxies: number, targets: EditTargets): Figure[] {
  const middle = (pick: (m: Measured) => number) => spread(rounds.map(pick)).median;
  const { usual, dearest } = editCost(rounds.map(({ cpu }) => cpu));
  const { only } = targets;
  const count = ({ resources }: Measured, wanted: (type: string) => boolean) =>
    Object.entries(resources).reduce((sum, [type, n]) => sum + (wanted(type) ? n : 0), 0) / proxies;
  const waited = DEBOUNCE;
  return [
    figure("", "CPU s", usual, atMost(targets.cpu)),
    figure("the dearest edit", "CPU s", dearest),
    figure("median proxy", "ms", middle((m) => m.ms.p50), { waited }),
    figure("99 %", "ms", middle((m) => m.ms.p99), { waited }),
    figure("last proxy", "ms", middle((m) => m.ms.last), { waited, ...atMost(targets.last) }),
    figure("on the wire", "kB", middle((m) => m.wireBytes / 1e3), atMost(targets.kilobytes)),
    figure("sent to each proxy", "resources", middle((m) => count(m, () => true))),
    ...only
      ? [figure("of other types", "resources", middle((m) => count(m, (t) => !only.includes(t))), atMost(0))]
      : [],
    delayFigure(...rounds.map((m) => m.delay)),
  ];
}
