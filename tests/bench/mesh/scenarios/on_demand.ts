/**
 * Many proxies that ask for what they call: connect, see an edit of a rule that a few of them hold, and reconnect. The
 * same for a mesh that is five times larger.
 *
 * Permissions: the permissions of `../session.ts`.
 *
 * @module
 */
import { atMost, connectFigures, type ConnectTargets, editFigures, figure } from "../figures.ts";
import { CALLERS } from "../load/calls.ts";
import type { Figure } from "../result.ts";
import type { Measured } from "../session.ts";
import { reconnectFigures, rowsOf } from "./proxies.ts";
import {
  checked,
  label,
  LARGE,
  type LoadSpec,
  rounds,
  type RunOptions,
  type Scenario,
  sized,
  USUAL,
  withSession,
} from "./scenario.ts";

interface Steps {
  readonly connect: Measured;
  readonly route: readonly Measured[];
  readonly back: Measured;
}

function measure(load: LoadSpec, options: RunOptions): Promise<Steps> {
  const { proxies } = load;
  const callers = Math.min(CALLERS, proxies);
  return withSession(load, options, async (session) => ({
    connect: checked(await session.connect(), proxies),
    route: await rounds(options.rounds, callers, () => session.changeRoute(callers)),
    back: checked(await session.reconnect(), proxies),
  }));
}

/** Messages to proxies in a step. */
function pushes(step: Measured): number {
  return Object.values(step.messages).reduce((sum, count) => sum + count, 0);
}

function connectRow(step: Measured, proxies: number, targets: ConnectTargets, kilobytes?: number): Figure[] {
  return [
    ...connectFigures(step, targets),
    figure("on the wire for each proxy", "kB", step.wireBytes / 1e3 / proxies, atMost(kilobytes)),
  ];
}

/** @param gzip The proxies offer gzip, as agents do. */
export function asking(gzip: boolean): Scenario {
  const full: LoadSpec = { services: USUAL, proxies: 400, delta: true, gzip, onDemand: true };
  const name = `asking-400${gzip ? "-gzip" : ""}`;
  return {
    name,
    async run(options) {
      const load = sized(full, options);
      const { proxies } = load;
      const largeLoad = sized({ ...full, services: LARGE }, options);
      const usual = await measure(load, options);
      const large = await measure(largeLoad, options);
      const faster = large.connect.calibration / usual.connect.calibration;
      const row = rowsOf(name, label(load));
      const largeRow = rowsOf(`${name}-large`, `${largeLoad.services} services, ${label(load)}`);
      const most = (steps: readonly Measured[]) =>
        figure("to all proxies", "messages", Math.max(...steps.map(pushes)), atMost(CALLERS));
      const istio = "not measured";
      return [
        row("connect", "all connect", istio, [usual.connect], [
          ...connectRow(usual.connect, proxies, { cpu: 0.5, peak: 200 }, 50),
        ]),
        row("route", `one route rule changes, which ${CALLERS} proxies hold`, istio, usual.route, [
          ...editFigures(usual.route, proxies, {}),
          most(usual.route),
        ]),
        row("reconnect", "all reconnect with what they have", istio, [usual.back], reconnectFigures(usual.back)),
        largeRow("connect", "all connect", istio, [large.connect], [
          ...connectRow(large.connect, proxies, {}),
          figure("the CPU of 1,000 services", "x", large.connect.cpu / usual.connect.cpu / faster, atMost(1.1)),
          figure("the bytes of 1,000 services", "x", large.connect.wireBytes / usual.connect.wireBytes, atMost(1.1)),
        ]),
        largeRow("route", `one route rule changes, which ${CALLERS} proxies hold`, istio, large.route, [
          ...editFigures(large.route, proxies, {}),
          most(large.route),
        ]),
      ];
    },
  };
}
