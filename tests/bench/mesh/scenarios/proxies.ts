/**
 * Many proxies that connect, see an edit and reconnect.
 *
 * Permissions: the permissions of `../session.ts`.
 *
 * @module
 */
import { atMost, calibrationOf, connectFigures, delayFigure, editFigures, figure } from "../figures.ts";
import { type Figure, type Row, spread } from "../result.ts";
import type { Measured } from "../session.ts";
import {
  checked,
  label,
  LARGE,
  type LoadSpec,
  rounds,
  type RunOptions,
  type Scenario,
  shapeOf,
  sized,
  USUAL,
  withSession,
} from "./scenario.ts";

const ENDPOINTS_ONLY = ["ClusterLoadAssignment"];

/** 400 proxies on delta: connect, a changed rule, a changed endpoint, reconnect. */
export function storm(gzip: boolean): Scenario {
  const full: LoadSpec = { services: USUAL, proxies: 400, delta: true, gzip };
  const targets = gzip ? { cpu: 2, seconds: 12, peak: 450, megabytes: 150 } : { cpu: 8, seconds: 16, peak: 2000 };
  const name = `delta-400${gzip ? "-gzip" : ""}`;
  return {
    name,
    run(options) {
      const load = sized(full, options);
      return withSession(load, options, async (session) => {
        const { proxies } = load;
        const row = rowsOf(name, label(load));
        const connect = checked(await session.connect(), proxies);
        const routes = await rounds(options.rounds, proxies, () => session.changeRoute());
        const ends = await rounds(options.rounds, proxies, () => session.changeEndpoint());
        const back = checked(await session.reconnect(), proxies);
        const istio = "54 CPU s, 39 s, 3.66 GB, 2.1 GB on the wire";
        return [
          row("connect", "all connect", istio, [connect], connectFigures(connect, targets)),
          row(
            "route",
            "one route rule changes",
            "8 CPU s, 10 s to the last proxy, 1.1 GB on the wire",
            routes,
            editFigures(routes, proxies, { cpu: 0.1, last: 200, kilobytes: 1000 }),
          ),
          row(
            "endpoint",
            `one endpoint changes, in a file of ${load.services / 10} services`,
            "1.3 CPU s, 1.6 s to the last proxy",
            ends,
            editFigures(ends, proxies, { cpu: 0.07, last: 300, only: ENDPOINTS_ONLY }),
          ),
          row("reconnect", "all reconnect with what they have", "everything again", [back], reconnectFigures(back)),
        ];
      });
    },
  };
}

/** 400 agents over mutual TLS: compared with plain text, at most twice the CPU. */
export const agents: Scenario = {
  name: "mtls-400-gzip",
  async run(options) {
    const plainLoad = sized({ services: USUAL, proxies: 400, delta: true, gzip: true }, options);
    const load = { ...plainLoad, mutualTls: true };
    const plain = await withSession(plainLoad, options, async (one) => checked(await one.connect(), load.proxies));
    return await withSession(load, options, async (session) => {
      const row = rowsOf("mtls-400-gzip", label(load));
      const connect = checked(await session.connect(), load.proxies);
      const back = checked(await session.reconnect(), load.proxies);
      return [
        row("connect", "all connect", "not measured", [connect], [
          ...connectFigures(connect, { seconds: 12, peak: 450, megabytes: 150 }),
          figure("the CPU in plain text", "x", connect.cpu / plain.cpu, atMost(2)),
        ]),
        row("reconnect", "all reconnect with what they have", "not measured", [back], reconnectFigures(back, 4)),
      ];
    });
  },
};

/**
 * Agents that answer DNS: a table of names is built once for all agents with the same view, and sent when a name
 * changes.
 */
export const names: Scenario = {
  name: "names-400-gzip",
  run(options) {
    const load = sized({ services: USUAL, proxies: 400, delta: true, gzip: true, names: true }, options);
    return withSession(load, options, async (session) => {
      const { proxies } = load;
      const row = rowsOf("names-400-gzip", label(load));
      const connect = checked(await session.connect(), proxies);
      const address = await rounds(options.rounds, proxies, () => session.changeServiceAddress());
      const ends = await rounds(options.rounds, proxies, () => session.changeEndpoint());
      const figures = editFigures(address, proxies, {});
      const tables = (all: readonly Measured[]) =>
        spread(all.map((m) => (m.resources.NameTable ?? 0) / proxies)).median;
      return [
        row("connect", "all connect", "not measured", [connect], connectFigures(connect)),
        row("address", "the address of one service changes", "not measured", address, [
          ...figures,
          figure("tables of names to each proxy", "resources", tables(address), { atMost: 1, atLeast: 1 }),
        ]),
        row(
          "endpoint",
          "one endpoint changes, and no name",
          "not measured",
          ends,
          editFigures(ends, proxies, { cpu: 0.07, only: ENDPOINTS_ONLY }),
        ),
      ];
    });
  },
};

/** A policy per service: an edit of a policy concerns only the proxy of its service. */
export const policies: Scenario = {
  name: "policies-400-gzip",
  run(options) {
    const load = sized({ services: USUAL, proxies: 400, delta: true, gzip: true }, options);
    const shape = { ...shapeOf(load.services), authorized: load.services };
    return withSession(load, options, async (session) => {
      const row = rowsOf("policies-400-gzip", `${load.services} AuthorizationPolicies, ${label(load)}`);
      const connect = checked(await session.connect(), load.proxies);
      const edits = await rounds(options.rounds, 1, () => session.changePolicy());
      return [
        row("connect", "all connect", "not measured", [connect], connectFigures(connect)),
        row(
          "policy",
          "one policy changes, and concerns one proxy",
          "not measured",
          edits,
          editFigures(edits, 1, { cpu: 0.1, only: ["Listener"] }),
        ),
      ];
    }, shape);
  },
};

/** Another mesh configuration: everything is made anew, and every listener is sent to every proxy. */
export function meshEdits(services: number, proxies: number): Scenario {
  const name = `mesh-${proxies}${services === LARGE ? "-large" : ""}-gzip`;
  return {
    name,
    run(options) {
      const load = sized({ services, proxies, delta: true, gzip: true, editsMesh: true }, options);
      return withSession(load, options, async (session) => {
        const row = rowsOf(name, `${load.services} services, ${label(load)}`);
        checked(await session.connect(), load.proxies);
        const edits = await rounds(options.rounds, load.proxies, () => session.changeMesh());
        const figures = editFigures(edits, load.proxies, {});
        return [row("mesh", "the mesh configuration changes", "not measured", edits, figures)];
      });
    },
  };
}

/** @param cpu Upper bound of the server's cost, CPU seconds. Null: none. */
export function reconnectFigures(back: Measured, cpu: number | null = 2): Figure[] {
  const sent = Object.values(back.resources).reduce((sum, n) => sum + n, 0);
  return [
    figure("", "CPU s", back.cpu, atMost(cpu ?? undefined)),
    figure("", "s", back.ms.last / 1000),
    figure("sent", "resources", sent, atMost(0)),
    figure("on the wire, the versions that proxies name", "MB", back.wireBytes / 1e6),
    figure("at peak", "MiB", back.peak),
    delayFigure(back.delay),
  ];
}

/** Makes the rows of a scenario. */
export function rowsOf(name: string, load: string) {
  return (what: string, work: string, istio: string, steps: readonly Measured[], figures: readonly Figure[]): Row => ({
    id: `${name}/${what}`,
    work: `${load}: ${work}`,
    istio,
    figures,
    calibrations: [calibrationOf(steps)],
  });
}

/** 100 proxies: connect, then one kind of edit. */
export function hundred(delta: boolean, gzip: boolean): Scenario {
  const full: LoadSpec = { services: USUAL, proxies: 100, delta, gzip };
  const name = `${delta ? "delta" : "sotw"}-100${gzip ? "-gzip" : ""}`;
  const istio = delta ? "14-20 CPU s, 8.9-11.8 s, 1.1-1.2 GB, 516 MB on the wire" : "14-19 CPU s, 8.5-11.2 s, 1.1 GB";
  return {
    name,
    run(options) {
      const load = sized(full, options);
      return withSession(load, options, async (session) => {
        const { proxies } = load;
        const row = rowsOf(name, label(load));
        const connect = checked(await session.connect(), proxies);
        const connected = row("connect", "all connect", istio, [connect], connectFigures(connect));
        if (delta) {
          const ends = await rounds(options.rounds, proxies, () => session.changeEndpoint());
          const figures = editFigures(ends, proxies, { cpu: 0.05, last: 150, only: ENDPOINTS_ONLY });
          const other = "0.5 CPU s, 0.7 s, 1 MB on the wire";
          return [connected, row("endpoint", "one endpoint changes", other, ends, figures)];
        }
        const routes = await rounds(options.rounds, proxies, () => session.changeRoute());
        const figures = editFigures(routes, proxies, { cpu: 0.4, only: ["RouteConfiguration"] });
        const other = "2.1 CPU s, 2.1-2.6 s, 270 MB on the wire";
        return [connected, row("route", "one route rule changes", other, routes, figures)];
      });
    },
  };
}

/** The cost of a mesh of one size. */
async function measureSize(load: LoadSpec, options: RunOptions) {
  return await withSession(load, options, async (session) => {
    const { proxies } = load;
    return {
      proxies,
      connect: checked(await session.connect(), proxies),
      route: await rounds(2 * options.rounds, proxies, () => session.changeRoute()),
      endpoint: await rounds(2 * options.rounds, proxies, () => session.changeEndpoint()),
    };
  });
}

/** The same 40 proxies at 1,000 and 5,000 services: an edit should cost the same. Twice the edits: ratios need more. */
export function large(gzip: boolean): Scenario {
  const full: LoadSpec = { services: LARGE, proxies: 40, delta: true, gzip };
  const name = `delta-40-large${gzip ? "-gzip" : ""}`;
  return {
    name,
    async run(options) {
      const load = sized(full, options);
      const small = await measureSize(sized({ ...full, services: USUAL }, options), options);
      const big = await measureSize(load, options);
      const compare = (what: "route" | "endpoint") => {
        const figures = editFigures(big[what], big.proxies, {});
        const before = editFigures(small[what], small.proxies, {});
        const faster = calibrationOf(big[what]) / calibrationOf(small[what]);
        const ratio = (name: string, unit: Figure["unit"], speed = 1) =>
          valueOf(figures, name, unit) / valueOf(before, name, unit) / speed;
        return [
          ...figures,
          figure("the CPU of 1,000 services", "x", ratio("", "CPU s", faster), atMost(1.5)),
          figure("the time of the last proxy at 1,000 services", "x", ratio("last proxy", "ms"), atMost(1.5)),
        ];
      };
      const row = rowsOf(name, `${load.services} services, ${label(load)}`);
      const connected = connectFigures(big.connect, { cpu: 2.75 });
      return [
        row("connect", "all connect", "53-57 CPU s, 49-71 s, 2.8-3.0 GB", [big.connect], connected),
        row(
          "route",
          "one route rule changes",
          "12.4-13.2 CPU s, 563 MB on the wire",
          big.route,
          compare("route"),
        ),
        row("endpoint", "one endpoint changes", "3.7-4.3 CPU s", big.endpoint, compare("endpoint")),
      ];
    },
  };
}

function valueOf(figures: readonly Figure[], name: string, unit: Figure["unit"]): number {
  return figures.find((f) => f.name === name && f.unit === unit)!.values[0]!;
}
