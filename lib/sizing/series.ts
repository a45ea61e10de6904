/**
 * Which measured rows answer which question about the size of a mesh.
 *
 * Two axes were measured: up to 400 proxies with 1,000 services, and up to 5,000 services with 40 proxies. A service of
 * the measured meshes has 10 endpoints, and each proxy gets all services.
 *
 * @module
 */

/** A measured row at a size of the mesh. */
export interface SizedRow {
  /** Number on the axis: proxies or services. */
  readonly at: number;
  readonly work: string;
  readonly figure: string;
}

/** The measured rows for one figure, along both axes. */
export interface Series {
  /** Rows with {@linkcode BASE_SERVICES} services, by proxies. In ascending order. */
  readonly byProxies: readonly SizedRow[];
  /** The row with {@linkcode MOST_SERVICES} services and {@linkcode PROXIES_OF_MOST} proxies. */
  readonly most: SizedRow;
}

/** Services in the rows of `byProxies`. */
export const BASE_SERVICES = 1000;
/** Services of the largest measured mesh, and the proxies in that measurement. */
export const MOST_SERVICES = 5000;
export const PROXIES_OF_MOST = 40;

const LOADED = "1000 services are loaded, no proxy is connected";
const OF_100 = "100 proxies, delta, gzip";
const OF_400 = "400 proxies, delta, gzip";
const TLS_400 = "400 proxies, delta, gzip, mutual TLS";
const OF_5000 = "5000 services, 40 proxies, delta, gzip";

const most = (work: string, figure: string): SizedRow => ({ at: MOST_SERVICES, work: `${OF_5000}: ${work}`, figure });

/** Memory of a server while all its proxies connect, and afterwards. */
export const MEMORY: Series = {
  byProxies: [
    { at: 0, work: LOADED, figure: "at peak" },
    { at: 400, work: `${TLS_400}: all connect`, figure: "at peak" },
  ],
  most: most("all connect", "at peak"),
};

/** Memory of a server while all its proxies reconnect at once, and name the versions of their resources. */
export const MEMORY_OF_RECONNECT: Series = {
  byProxies: [
    { at: 0, work: LOADED, figure: "at peak" },
    { at: 400, work: `${TLS_400}: all reconnect with what they have`, figure: "at peak" },
  ],
  most: most("all connect", "at peak"),
};

/** CPU time of a server until all its proxies are connected. */
export const CPU_OF_CONNECT: Series = {
  byProxies: [
    { at: 100, work: `${OF_100}: all connect`, figure: "CPU" },
    { at: 400, work: `${TLS_400}: all connect`, figure: "CPU" },
  ],
  most: most("all connect", "CPU"),
};

/** CPU time of a server for one change. */
export const CPU_OF_CHANGE: Series = {
  byProxies: [
    { at: 100, work: `${OF_100}: one endpoint changes`, figure: "CPU" },
    { at: 400, work: `${OF_400}: one endpoint changes, in a file of 100 services`, figure: "CPU" },
  ],
  most: most("one route rule changes", "CPU"),
};

/** Time from a change to the last proxy of a server. */
export const TIME_OF_CHANGE: Series = {
  byProxies: [
    { at: 100, work: `${OF_100}: one endpoint changes`, figure: "last proxy" },
    { at: 400, work: `${OF_400}: one route rule changes`, figure: "last proxy" },
  ],
  most: most("one route rule changes", "last proxy"),
};

/**
 * Measured rows of bytes on the wire. Each proxy gets the same bytes, so the bytes grow with the number of proxies.
 * `at`: the proxies that share the bytes.
 */
export interface ByteSeries {
  readonly base: SizedRow;
  readonly most: SizedRow;
}

/** Bytes to all proxies when they connect. */
export const BYTES_OF_CONNECT: ByteSeries = {
  base: { at: 400, work: `${TLS_400}: all connect`, figure: "on the wire" },
  most: { at: PROXIES_OF_MOST, work: `${OF_5000}: all connect`, figure: "on the wire" },
};

/** Bytes to all proxies for one change. */
export const BYTES_OF_CHANGE: ByteSeries = {
  base: { at: 400, work: `${OF_400}: one route rule changes`, figure: "on the wire" },
  most: { at: PROXIES_OF_MOST, work: `${OF_5000}: one route rule changes`, figure: "on the wire" },
};

/** Memory of an agent, by services. */
export const AGENT: readonly SizedRow[] = [
  { at: 0, work: "an agent beside an idle Envoy, with a certificate, over TLS", figure: "of its own" },
  {
    at: 1600,
    work: "an agent relays the configuration of 1600 services to its proxy",
    figure: "of its own when it rests",
  },
];

/** Memory of an agent, with the memory that agents of a node share. */
export const AGENT_RESIDENT: SizedRow = {
  at: 0,
  work: "an agent beside an idle Envoy, with a certificate, over TLS",
  figure: "resident",
};

/** Memory of an Envoy without requests, by the services that Envoy gets. */
export const ENVOY: readonly SizedRow[] = [0, BASE_SERVICES, MOST_SERVICES].map((services) => ({
  at: services,
  work: `an Envoy rests with the configuration of ${services} services`,
  figure: "resident",
}));

/** All works of the series. `scripts/gen_sizing.ts` keeps these works of the page of benchmarks. */
export const WORKS: ReadonlySet<string> = new Set([
  ...[MEMORY, MEMORY_OF_RECONNECT, CPU_OF_CONNECT, CPU_OF_CHANGE, TIME_OF_CHANGE].flatMap(({ byProxies, most }) =>
    [...byProxies, most].map(({ work }) => work)
  ),
  ...[BYTES_OF_CONNECT, BYTES_OF_CHANGE].flatMap(({ base, most }) => [base.work, most.work]),
  ...[...AGENT, AGENT_RESIDENT, ...ENVOY].map(({ work }) => work),
]);
