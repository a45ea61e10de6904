/**
 * The sizing of a mesh before its installation: memory, CPU, time and bytes, estimated from measured rows.
 *
 * @module
 */
import { bytesFor, type Estimate, onLine, valueAt } from "./interpolate.ts";
import { figureOf, type MeasuredFigure, type Measurements } from "./measurement.ts";
import {
  AGENT,
  AGENT_RESIDENT,
  BYTES_OF_CHANGE,
  BYTES_OF_CONNECT,
  CPU_OF_CHANGE,
  CPU_OF_CONNECT,
  ENVOY,
  MEMORY,
  MEMORY_OF_RECONNECT,
  TIME_OF_CHANGE,
} from "./series.ts";

/** The mesh to be sized. */
export interface SizeQuestion {
  readonly services: number;
  readonly proxies: number;
  /** Changes of configuration or endpoints in a minute. */
  readonly changesPerMinute: number;
  /** Undefined: the answer chooses the number of replicas. */
  readonly replicas: number | undefined;
}

/** Most proxies on one server in the measurements. */
export const MOST_PROXIES = 400;
/** Fewest servers: one of two servers may fail. */
const LEAST_REPLICAS = 2;

/** A line of the answer. */
export interface SizeLine {
  /** Stable name for programs. */
  readonly id: string;
  readonly what: string;
  readonly estimate: Estimate;
}

export interface SizeAnswer {
  readonly replicas: number;
  /** Proxies on one server while another server is away. */
  readonly proxiesOfReplica: number;
  readonly lines: readonly SizeLine[];
  /** The measured rows behind the lines, each once. */
  readonly rows: readonly MeasuredFigure[];
}

/** The fewest replicas so that, with one server away, no server has more proxies than the measurements had. */
export function replicasFor(proxies: number): number {
  return Math.max(LEAST_REPLICAS, Math.ceil(proxies / MOST_PROXIES) + 1);
}

export function sizeAnswer(measured: Measurements, question: SizeQuestion): SizeAnswer {
  const { services, proxies, changesPerMinute } = question;
  const replicas = question.replicas ?? replicasFor(proxies);
  const proxiesOfReplica = Math.ceil(proxies / Math.max(1, replicas - 1));
  const size = { services, proxies: proxiesOfReplica };
  const change = valueAt(measured, CPU_OF_CHANGE, size);
  const connected = valueAt(measured, MEMORY, size);
  const lines: SizeLine[] = [
    line("memory", "memory of a replica, all its proxies connected", connected),
    line(
      "memoryOfReconnect",
      "memory of a replica while all its proxies reconnect",
      notLess(connected, valueAt(measured, MEMORY_OF_RECONNECT, size)),
    ),
    line("cpuOfConnect", "CPU of a replica while all its proxies connect", valueAt(measured, CPU_OF_CONNECT, size)),
    line("cpuAtRest", `CPU of a replica at ${changesPerMinute} changes a minute`, {
      ...change,
      value: change.value * changesPerMinute / 60,
      unit: "cores",
    }),
    line("timeOfChange", "time from a change to the last proxy", valueAt(measured, TIME_OF_CHANGE, size)),
    line(
      "bytesOfConnect",
      "bytes to all proxies when they connect",
      bytesFor(measured, BYTES_OF_CONNECT, services, proxies),
    ),
    line("bytesOfChange", "bytes to all proxies for a change", bytesFor(measured, BYTES_OF_CHANGE, services, proxies)),
    line("memoryOfAgent", "memory of the agent in each pod", { ...onLine(measured, AGENT, services), assumes: "" }),
    line(
      "residentAgent",
      "the same with the memory that agents of a node share",
      measuredValue(figureOf(measured, AGENT_RESIDENT.work, AGENT_RESIDENT.figure)),
    ),
    line("memoryOfEnvoy", "memory of Envoy in each pod, before its first request", {
      ...onLine(measured, ENVOY, services),
      assumes: "",
    }),
  ];
  const rows = new Map(lines.flatMap(({ estimate }) => estimate.rows).map((row) => [`${row.work} ${row.figure}`, row]));
  return { replicas, proxiesOfReplica, lines, rows: [...rows.values()] };
}

function line(id: string, what: string, estimate: Estimate): SizeLine {
  return { id, what, estimate };
}

/**
 * The estimate, but not less than `least`. The rows for a reconnect and for a first connect were measured with meshes
 * of different sizes, so the line for a reconnect may be the lower one.
 */
function notLess(least: Estimate, estimate: Estimate): Estimate {
  return estimate.value >= least.value ? estimate : least;
}

function measuredValue(row: MeasuredFigure): Estimate {
  return { value: row.value, unit: row.unit, bound: "about", rows: [row], assumes: "" };
}
