/**
 * What is measured, with the peer's figures and the targets.
 *
 * Permissions: those of `./session.ts`.
 *
 * @module
 */
import type { Shape } from "./configuration.ts";
import { measureEvents } from "./events.ts";
import { editCost, type Figure, quantile, type Row, spread } from "./result.ts";
import { type Measured, Session, type SessionOptions } from "./session.ts";

/** How a run is made. */
export interface RunOptions {
  /** Edits of each kind. */
  readonly rounds: number;
  /** Small sizes, to try the benchmarks themselves. */
  readonly quick: boolean;
  /** Folder for CPU profiles of the servers. */
  readonly profile?: string;
}

/** One server's worth of measurements. */
export interface Scenario {
  readonly name: string;
  run(options: RunOptions): Promise<Row[]>;
}

/** A mesh of so many services. */
export function shapeOf(services: number): Shape {
  return { services, endpoints: 10, namespaces: 10, routed: services / 10 };
}

const LARGE = 5000;
const USUAL = 1000;

interface LoadSpec {
  readonly services: number;
  readonly proxies: number;
  readonly delta: boolean;
  readonly gzip: boolean;
}

/** Smaller by ten for a quick run. */
const sized = (load: LoadSpec, { quick }: RunOptions): LoadSpec =>
  quick ? { ...load, services: load.services / 10, proxies: load.proxies / 10 } : load;

const label = ({ proxies, delta, gzip }: LoadSpec) =>
  `${proxies} proxies, ${delta ? "delta" : "state of the world"}, ${gzip ? "gzip" : "no gzip"}`;

async function withSession<T>(load: LoadSpec, options: RunOptions, use: (session: Session) => Promise<T>): Promise<T> {
  const made: SessionOptions = {
    ...load,
    shape: shapeOf(load.services),
    ...options.profile !== undefined && { profile: options.profile },
  };
  const session = await Session.start(made);
  try {
    return await use(session);
  } finally {
    await session.stop();
  }
}

const figure = (
  name: string,
  unit: Figure["unit"],
  values: readonly number[],
  bound: Pick<Figure, "atMost" | "atLeast"> = {},
): Figure => ({ name, unit, values, ...bound });

const atMost = (bound: number | undefined) => bound === undefined ? {} : { atMost: bound };

/** Whatever went wrong is shown with the figures: they mean nothing then. */
function checked(measured: Measured, proxies: number): Measured {
  if (measured.errors.length > 0 || measured.reached !== proxies) {
    const errors = measured.errors.slice(0, 5).join("; ");
    throw new Error(`${measured.reached} of ${proxies} proxies got what they waited for; ${errors || "no errors"}`);
  }
  return measured;
}

/** Targets of a connect. */
interface ConnectTargets {
  readonly cpu?: number;
  readonly seconds?: number;
  readonly peak?: number;
  readonly megabytes?: number;
}

function connectFigures(measured: Measured, targets: ConnectTargets = {}): Figure[] {
  return [
    figure("", "CPU s", [measured.cpu], atMost(targets.cpu)),
    figure("", "s", [measured.ms.last / 1000], atMost(targets.seconds)),
    figure("at peak", "MiB", [measured.peak], atMost(targets.peak)),
    figure("on the wire", "MB", [measured.wireBytes / 1e6], atMost(targets.megabytes)),
  ];
}

/** Targets of an edit. */
interface EditTargets {
  readonly cpu?: number;
  readonly last?: number;
  readonly kilobytes?: number;
  /** Types of which nothing may be sent. */
  readonly only?: readonly string[];
}

function editFigures(rounds: readonly Measured[], proxies: number, targets: EditTargets): Figure[] {
  const middle = (pick: (m: Measured) => number) => [spread(rounds.map(pick)).median];
  const { usual, dearest } = editCost(rounds.map(({ cpu }) => cpu));
  const { only } = targets;
  const count = ({ resources }: Measured, wanted: (type: string) => boolean) =>
    Object.entries(resources).reduce((sum, [type, n]) => sum + (wanted(type) ? n : 0), 0) / proxies;
  return [
    figure("", "CPU s", [usual], atMost(targets.cpu)),
    figure("the dearest edit", "CPU s", [dearest]),
    figure("median proxy", "ms", middle((m) => m.ms.p50)),
    figure("99 %", "ms", middle((m) => m.ms.p99)),
    figure("last proxy", "ms", middle((m) => m.ms.last), atMost(targets.last)),
    figure("on the wire", "kB", middle((m) => m.wireBytes / 1e3), atMost(targets.kilobytes)),
    figure("sent to each proxy", "resources", middle((m) => count(m, () => true))),
    ...only
      ? [figure("of other types", "resources", middle((m) => count(m, (t) => !only.includes(t))), { atMost: 0 })]
      : [],
  ];
}

async function rounds(count: number, proxies: number, edit: () => Promise<Measured>): Promise<Measured[]> {
  const found: Measured[] = [];
  for (let i = 0; i < count; i++) found.push(checked(await edit(), proxies));
  return found;
}

/** 400 proxies on delta: connect, a changed rule, reconnect. */
function storm(gzip: boolean): Scenario {
  const full: LoadSpec = { services: USUAL, proxies: 400, delta: true, gzip };
  const targets = gzip ? { cpu: 2, seconds: 12, peak: 450, megabytes: 150 } : { cpu: 8, seconds: 16, peak: 2000 };
  const name = `delta-400${gzip ? "-gzip" : ""}`;
  return {
    name,
    run(options) {
      const load = sized(full, options);
      return withSession(load, options, async (session) => {
        const { proxies } = load;
        const connect = checked(await session.connect(), proxies);
        const routes = await rounds(options.rounds, proxies, () => session.changeRoute());
        const back = checked(await session.reconnect(), proxies);
        const sent = Object.values(back.resources).reduce((sum, n) => sum + n, 0);
        return [
          {
            id: `${name}/connect`,
            work: `${label(load)}: all connect`,
            peer: "54 CPU s, 39 s, 3.66 GB, 2.1 GB on the wire",
            figures: connectFigures(connect, targets),
          },
          {
            id: `${name}/route`,
            work: `${label(load)}: one route rule changes`,
            peer: "8 CPU s, 10 s to the last proxy, 1.1 GB on the wire",
            figures: editFigures(routes, proxies, { cpu: 0.1, last: 200, kilobytes: 1000 }),
          },
          {
            id: `${name}/reconnect`,
            work: `${label(load)}: all reconnect with what they have`,
            peer: "everything again",
            figures: [
              figure("", "CPU s", [back.cpu], { atMost: 2 }),
              figure("", "s", [back.ms.last / 1000]),
              figure("sent", "resources", [sent], { atMost: 0 }),
              figure("on the wire, the versions that proxies tell", "MB", [back.wireBytes / 1e6]),
              figure("at peak", "MiB", [back.peak]),
            ],
          },
        ];
      });
    },
  };
}

/** 100 proxies: connect, then one kind of edit. */
function hundred(delta: boolean, gzip: boolean): Scenario {
  const full: LoadSpec = { services: USUAL, proxies: 100, delta, gzip };
  const name = `${delta ? "delta" : "sotw"}-100${gzip ? "-gzip" : ""}`;
  return {
    name,
    run(options) {
      const load = sized(full, options);
      return withSession(load, options, async (session) => {
        const { proxies } = load;
        const connect = checked(await session.connect(), proxies);
        const row = (what: string, work: string, peer: string, figures: readonly Figure[]): Row => ({
          id: `${name}/${what}`,
          work: `${label(load)}: ${work}`,
          peer,
          figures,
        });
        const connected = row(
          "connect",
          "all connect",
          delta ? "14-20 CPU s, 8.9-11.8 s, 1.1-1.2 GB, 516 MB on the wire" : "14-19 CPU s, 8.5-11.2 s, 1.1 GB",
          connectFigures(connect),
        );
        if (delta) {
          const ends = await rounds(options.rounds, proxies, () => session.changeEndpoint());
          const only = ["ClusterLoadAssignment"];
          const figures = editFigures(ends, proxies, { cpu: 0.05, last: 150, only });
          return [connected, row("endpoint", "one endpoint changes", "0.5 CPU s, 0.7 s, 1 MB on the wire", figures)];
        }
        const routes = await rounds(options.rounds, proxies, () => session.changeRoute());
        const figures = editFigures(routes, proxies, { cpu: 0.4, only: ["RouteConfiguration"] });
        return [connected, row("route", "one route rule changes", "2.1 CPU s, 2.1-2.6 s, 270 MB on the wire", figures)];
      });
    },
  };
}

/** The same 40 proxies at 1,000 and 5,000 services: an edit should cost the same. Twice the edits: ratios need more. */
function large(gzip: boolean): Scenario {
  const full: LoadSpec = { services: LARGE, proxies: 40, delta: true, gzip };
  const name = `delta-40-large${gzip ? "-gzip" : ""}`;
  const measure = (load: LoadSpec, options: RunOptions) =>
    withSession(load, options, async (session) => {
      const { proxies } = load;
      return {
        proxies,
        connect: checked(await session.connect(), proxies),
        route: await rounds(2 * options.rounds, proxies, () => session.changeRoute()),
        endpoint: await rounds(2 * options.rounds, proxies, () => session.changeEndpoint()),
      };
    });
  return {
    name,
    async run(options) {
      const load = sized(full, options);
      const small = await measure(sized({ ...full, services: USUAL }, options), options);
      const big = await measure(load, options);
      const compare = (what: "route" | "endpoint") => {
        const figures = editFigures(big[what], big.proxies, {});
        const before = editFigures(small[what], small.proxies, {});
        const valueOf = (from: readonly Figure[], name: string, unit: Figure["unit"]) =>
          from.find((f) => f.name === name && f.unit === unit)!.values[0]!;
        const ratio = (name: string, unit: Figure["unit"]) => [
          valueOf(figures, name, unit) / valueOf(before, name, unit),
        ];
        return [
          ...figures,
          figure("the CPU of 1,000 services", "x", ratio("", "CPU s"), { atMost: 1.5 }),
          figure("the time of the last proxy at 1,000 services", "x", ratio("last proxy", "ms"), { atMost: 1.5 }),
        ];
      };
      const work = `${load.services} services, ${label(load)}`;
      return [
        {
          id: `${name}/connect`,
          work: `${work}: all connect`,
          peer: "53-57 CPU s, 49-71 s, 2.8-3.0 GB",
          figures: connectFigures(big.connect),
        },
        {
          id: `${name}/route`,
          work: `${work}: one route rule changes`,
          peer: "12.4-13.2 CPU s, 563 MB on the wire",
          figures: compare("route"),
        },
        {
          id: `${name}/endpoint`,
          work: `${work}: one endpoint changes`,
          peer: "3.7-4.3 CPU s",
          figures: compare("endpoint"),
        },
      ];
    },
  };
}

const idle: Scenario = {
  name: "idle",
  run(options) {
    const load = sized({ services: USUAL, proxies: 0, delta: true, gzip: false }, options);
    return withSession(load, options, async (session) => {
      const { resident, peak } = await session.restingMemory();
      return [{
        id: "idle",
        work: `${load.services} services are loaded, no proxy is connected`,
        peer: "158 MB",
        figures: [figure("resident", "MiB", [resident], { atMost: 150 }), figure("at peak", "MiB", [peak])],
      }];
    });
  },
};

const events: Scenario = {
  name: "events",
  async run(options) {
    const { proxies, services, rate, seconds, measured } = await measureEvents(options);
    const { perSecond, cpu, resident, late, seenAfter } = measured;
    const half = resident.length / 2;
    const growth = 100 * (Math.max(...resident.slice(half)) / Math.max(...resident.slice(0, half)) - 1);
    return [{
      id: "events",
      work:
        `${rate} endpoint events a second for ${seconds} s, twice; ${services} services, ${proxies} proxies, delta, gzip`,
      peer: "not measured",
      figures: [
        // A delay is caught up with; only one at the very end, as that of a last push, makes the whole take longer.
        figure("taken", "events/s", [perSecond], { atLeast: rate * 0.95 }),
        figure("for each half", "CPU s", [cpu / 2]),
        figure("longest delay of the source", "ms", [quantile(late, 1)]),
        figure("from the last event to the last proxy", "ms", [seenAfter], { atMost: 1000 }),
        figure("more memory at most in the second half than in the first", "%", [growth], { atMost: 10 }),
        figure("resident", "MiB", [resident.at(-1)!]),
      ],
    }];
  },
};

/** All scenarios, in the order of the table. */
export const SCENARIOS: readonly Scenario[] = [
  storm(true),
  storm(false),
  hundred(false, true),
  hundred(false, false),
  hundred(true, true),
  hundred(true, false),
  large(true),
  large(false),
  idle,
  events,
];
