/**
 * A server that follows a real API server.
 *
 * Permissions: the permissions of `../session.ts` and `../api.ts`.
 *
 * @module
 */
import { BenchApi } from "../api.ts";
import { atMost, calibrationOf, connectFigures, delayFigure, editFigures, figure } from "../figures.ts";
import { startIstio } from "../istio_child.ts";
import {
  checked,
  label,
  LARGE,
  rounds,
  type RunOptions,
  type Scenario,
  shapeOf,
  sized,
  USUAL,
  withSession,
} from "./scenario.ts";

/** 80,000 endpoints, in one slice per service. */
const ENDPOINTS = 16;

/** Start with all services and endpoints in the API, compared with Istio if available. */
export const orchStart: Scenario = {
  name: "orch-start",
  async run(options: RunOptions) {
    const load = sized({ services: LARGE, proxies: 0, delta: true, gzip: false }, options);
    const shape = { ...shapeOf(load.services), endpoints: ENDPOINTS, routed: 0 };
    await using api = await BenchApi.start(shape);
    return await withSession(
      load,
      options,
      async (session) => {
        const { seconds, cpu, delay } = session.server.start;
        const rest = await session.restingMemory();
        const endpoints = shape.services * shape.endpoints;
        return [{
          id: "orch-start",
          work:
            `start on an API server with ${shape.services} services and ${endpoints} endpoints, until the server is ready`,
          istio: "1.2 s, 0.8 CPU s, 236 MB",
          figures: [
            figure("", "CPU s", cpu),
            figure("", "s", seconds, atMost(1.2)),
            figure("resident at rest", "MiB", rest.resident, atMost(225)),
            figure("at peak", "MiB", rest.peak),
            delayFigure(delay, rest.delay),
          ],
          calibrations: [session.startCalibration],
          ...await beside(api.kubeconfig),
        }];
      },
      shape,
      api,
    );
  },
};

/** The cost of the same start for Istio's server, on the same machine and API server. */
async function beside(kubeconfig: string): Promise<{ readonly note?: string }> {
  const folder = await Deno.makeTempDir({ prefix: "mesh-bench-istio-" });
  try {
    const istio = await startIstio(folder, kubeconfig);
    if (istio === undefined) return {};
    const { cpu, resident } = await istio.used();
    await istio.stop();
    return {
      note: `Istio beside: ${cpu.toFixed(2)} CPU s, ${istio.seconds.toFixed(2)} s, ${resident.toFixed(0)} MiB resident`,
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** An edit of a slice. */
export const orchEdits: Scenario = {
  name: "orch-400-gzip",
  async run(options: RunOptions) {
    const load = sized({ services: USUAL, proxies: 400, delta: true, gzip: true }, options);
    const shape = { ...shapeOf(load.services), routed: 0 };
    await using api = await BenchApi.start(shape);
    return await withSession(
      load,
      options,
      async (session) => {
        const { proxies } = load;
        const connect = checked(await session.connect(), proxies);
        const ends = await rounds(options.rounds, proxies, () => session.changeEndpoint());
        const work = (what: string) => `${label(load)}, fed by an API server: ${what}`;
        return [
          {
            ...{ id: "orch-400-gzip connect", work: work("all connect"), istio: "not measured" },
            figures: connectFigures(connect),
            calibrations: [connect.calibration],
          },
          {
            ...{ id: "orch-400-gzip endpoint", work: work("one slice changes"), istio: "not measured" },
            figures: editFigures(ends, proxies, { cpu: 0.07, last: 300, only: ["ClusterLoadAssignment"] }),
            calibrations: [calibrationOf(ends)],
          },
        ];
      },
      shape,
      api,
    );
  },
};
