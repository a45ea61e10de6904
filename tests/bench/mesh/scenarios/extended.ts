/**
 * A mesh with telemetry and patches for all, compared with a mesh without.
 *
 * Permissions: the permissions of `../session.ts`.
 *
 * @module
 */
import { atMost, connectFigures, editFigures, figure } from "../figures.ts";
import { spread } from "../result.ts";
import type { Measured } from "../session.ts";
import { rowsOf } from "./proxies.ts";
import { checked, label, rounds, type Scenario, shapeOf, sized, USUAL, withSession } from "./scenario.ts";

/** Number of measured pairs of both kinds: single quotients differ by a third. */
const PAIRS = 5;

/** The cost of connecting with metrics, access logs, spans and patches for all, compared with a mesh without. */
export const extended: Scenario = {
  name: "extended-400-gzip",
  async run(options) {
    const load = sized({ services: USUAL, proxies: 400, delta: true, gzip: true }, options);
    const shape = { ...shapeOf(load.services), extended: true };
    const plain: Measured[] = [];
    const connects: Measured[] = [];
    let edits: readonly Measured[] = [];
    const last = (options.quick ? 1 : PAIRS) - 1;
    for (let pair = 0; pair <= last; pair++) {
      plain.push(await withSession(load, options, async (session) => checked(await session.connect(), load.proxies)));
      await withSession(load, options, async (session) => {
        connects.push(checked(await session.connect(), load.proxies));
        if (pair === last) edits = await rounds(options.rounds, 1, () => session.changeTelemetry());
      }, shape);
    }
    const row = rowsOf("extended-400-gzip", `metrics, logs, spans and three ProxyFilters, ${label(load)}`);
    const connect = middle(connects);
    return [
      row("connect", "all connect", "not measured", [connect], [
        ...connectFigures(connect),
        figure("without them", "CPU s", middle(plain).cpu),
        figure("the CPU without them", "x", ratio(connects, plain, ({ cpu }) => cpu), atMost(1.25)),
        figure("the bytes on the wire without them", "x", ratio(connects, plain, (m) => m.wireBytes), atMost(1.25)),
      ]),
      row(
        "telemetry",
        "the Telemetry of one workload changes, and concerns one proxy",
        "not measured",
        edits,
        editFigures(edits, 1, { only: ["Listener"] }),
      ),
    ];
  },
};

/** The measurement with the median CPU time. */
function middle(all: readonly Measured[]): Measured {
  return all.toSorted((a, b) => a.cpu - b.cpu)[all.length >> 1]!;
}

/** The median of the quotients of neighbours: a slow machine slows both. */
function ratio(of: readonly Measured[], to: readonly Measured[], pick: (measured: Measured) => number): number {
  return spread(of.map((one, i) => pick(one) / pick(to[i]!))).median;
}
