/**
 * The cost of the mesh's analysis for a start and for an edit: servers with and without analysis in turn.
 *
 * Permissions: the permissions of `../session.ts`.
 *
 * @module
 */
import { atMost, figure } from "../figures.ts";
import { onePair } from "../compare.ts";
import { editCost, spread } from "../result.ts";
import {
  checked,
  LARGE,
  type LoadSpec,
  rounds,
  type RunOptions,
  type Scenario,
  sized,
  USUAL,
  withSession,
} from "./scenario.ts";

/** Number of pairs of servers per run: the effect is smaller than the difference between two starts. */
const PAIRS = 5;

/** CPU seconds of a server. */
interface ServerCost {
  /** From the start until at rest. */
  readonly start: number;
  /** Of the usual edit of a route. */
  readonly edit: number;
  readonly calibration: number;
}

/** A mesh of some size. */
export function analysis(services: number): Scenario {
  const name = services === USUAL ? "analysis" : "analysis-large";
  return {
    name,
    async run(options) {
      const load = sized({ services, proxies: 1, delta: true, gzip: false }, options);
      const measure = (analysis: boolean) => serverCost(load, { ...options, analysis });
      const pairs: { readonly here: ServerCost; readonly there: ServerCost }[] = [];
      for (let i = 0; i < (options.quick ? 1 : PAIRS); i++) {
        pairs.push(await onePair(i, () => measure(true), () => measure(false)));
      }
      const median = (of: (pair: (typeof pairs)[number]) => number) => spread(pairs.map(of)).median;
      return [{
        id: name,
        work:
          `${load.services} services: a start, and an edit with one proxy, with the analysis of the mesh and without`,
        istio: "not measured",
        figures: [
          figure(
            "more for the start",
            "%",
            100 * (median(({ here, there }) => here.start / there.start) - 1),
            atMost(10),
          ),
          figure("more for an edit", "ms", 1000 * median(({ here, there }) => here.edit - there.edit), atMost(5)),
          figure("for the start without it", "CPU s", median(({ there }) => there.start)),
          figure("for an edit without it", "CPU s", median(({ there }) => there.edit)),
        ],
        calibrations: [median(({ here, there }) => (here.calibration + there.calibration) / 2)],
      }];
    },
  };
}

function serverCost(load: LoadSpec, options: RunOptions): Promise<ServerCost> {
  return withSession(load, options, async (session) => {
    const { cpu } = await session.server.measure();
    checked(await session.connect(), load.proxies);
    const edits = await rounds(options.rounds, load.proxies, () => session.changeRoute());
    return { start: cpu, edit: editCost(edits.map((one) => one.cpu)).usual, calibration: session.startCalibration };
  });
}

/** For the usual size, and for the large size. */
export const analyses: readonly Scenario[] = [analysis(USUAL), analysis(LARGE)];
