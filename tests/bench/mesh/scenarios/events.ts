/**
 * Endpoint events at a high rate.
 *
 * Permissions: the permissions of `../events.ts`.
 *
 * @module
 */
import { measureEvents } from "../events.ts";
import { atMost, delayFigure, figure } from "../figures.ts";
import { quantile } from "../result.ts";
import type { Scenario } from "./scenario.ts";

/** 20,000 events a second, twice for some seconds, with watching proxies. */
export const events: Scenario = {
  name: "events",
  async run(options) {
    options.calibrator.pause();
    const { result, calibration } = await options.calibrator.beside(() => measureEvents(options));
    const { proxies, services, rate, seconds, measured } = result;
    const { perSecond, cpu, resident, late, seenAfter } = measured;
    const half = resident.length / 2;
    const growth = 100 * (Math.max(...resident.slice(half)) / Math.max(...resident.slice(0, half)) - 1);
    return [{
      id: "events",
      work:
        `${rate} endpoint events a second for ${seconds} s, twice; ${services} services, ${proxies} proxies, delta, gzip`,
      istio: "not measured",
      figures: [
        // A delay is caught up later. Only a delay at the very end, such as in a last push, lengthens the whole.
        figure("taken", "events/s", perSecond, { atLeast: rate * 0.95 }),
        figure("for each half", "CPU s", cpu / 2),
        figure("from the last event to the last proxy", "ms", seenAfter, atMost(1000)),
        figure("more memory at most in the second half than in the first", "%", growth, atMost(10)),
        figure("resident", "MiB", resident.at(-1)!),
        delayFigure(quantile(late, 1)),
      ],
      calibrations: [calibration],
    }];
  },
};
