/**
 * A server without proxies: time of a start, and memory.
 *
 * Permissions: the permissions of `../session.ts`.
 *
 * @module
 */
import type { Shape } from "../configuration.ts";
import { atMost, delayFigure, figure } from "../figures.ts";
import { LARGE, type RunOptions, type Scenario, sized, USUAL, withSession } from "./scenario.ts";

/** 20,000 objects: a ServiceEntry per service, a VirtualService and a DestinationRule for every second service. */
const MANY: Shape = { services: 10_000, endpoints: 3, namespaces: 100, routed: 5000 };

const none = { proxies: 0, delta: true, gzip: false };

/** Start with 20,000 objects. */
export const start: Scenario = {
  name: "start",
  async run(options: RunOptions) {
    const shape = options.quick ? { ...MANY, services: 1000, routed: 500 } : MANY;
    const objects = shape.services + 2 * shape.routed;
    return await withSession({ ...none, services: shape.services }, options, async (session) => {
      const { seconds, cpu, delay } = session.server.start;
      // The server is ready before the mesh is analyzed and memory is returned.
      const rest = await session.server.measure();
      return [{
        id: "start",
        work: `start with ${objects} objects, until the server is ready`,
        istio: "not measured",
        figures: [
          // Targets: 5/9 of the times when the targets were set.
          figure("", "CPU s", cpu, atMost(2.5)),
          figure("", "s", seconds, atMost(2.6)),
          figure("until it rests", "CPU s", rest.cpu),
          figure("resident at rest", "MiB", rest.resident, atMost(200)),
          figure("at peak", "MiB", rest.peak),
          delayFigure(delay, rest.delay),
        ],
        calibrations: [session.startCalibration],
      }];
    }, shape);
  },
};

/** Memory at rest. */
export function idle(services: number, most: number, istio: string): Scenario {
  const name = services === USUAL ? "idle" : "idle-large";
  return {
    name,
    run(options) {
      const load = sized({ ...none, services }, options);
      return withSession(load, options, async (session) => {
        const { resident, peak, delay } = await session.restingMemory();
        return [{
          id: name,
          work: `${load.services} services are loaded, no proxy is connected`,
          istio,
          figures: [
            figure("resident", "MiB", resident, atMost(most)),
            figure("at peak", "MiB", peak),
            delayFigure(delay, session.server.start.delay),
          ],
          calibrations: [session.startCalibration],
        }];
      });
    },
  };
}

/** For the usual size, and for the large size. */
export const idles: readonly Scenario[] = [idle(USUAL, 150, "158 MB"), idle(LARGE, 168, "168 MB")];
