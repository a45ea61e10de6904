/**
 * Estimates from measured rows. Between two rows the value is on the line through both rows. Nothing is extrapolated:
 * beyond the rows the value is the value of the nearest row, and `bound` says on which side the need lies.
 *
 * @module
 */
import { figureOf, type MeasuredFigure, type Measurements } from "./measurement.ts";
import {
  BASE_SERVICES,
  type ByteSeries,
  MOST_SERVICES,
  PROXIES_OF_MOST,
  type Series,
  type SizedRow,
} from "./series.ts";

/** Size of a mesh as a server sees it. */
export interface MeshSize {
  readonly services: number;
  /** Proxies on one server. */
  readonly proxies: number;
}

/** Where the need of the asked size lies: near the value, or only on one side of the value. */
export type Bound = "about" | "at most" | "at least";

/** An estimated value with the measured rows behind it. */
export interface Estimate {
  readonly value: number;
  readonly unit: string;
  /** `at least`: the size is beyond the measured sizes. `at most`: the size is below the smallest measured mesh. */
  readonly bound: Bound;
  readonly rows: readonly MeasuredFigure[];
  /** An assumption beyond the line between two rows; empty: no such assumption. */
  readonly assumes: string;
}

const UNMEASURED_CORNER =
  `more than ${BASE_SERVICES} services with more than ${PROXIES_OF_MOST} proxies was not measured, so the increase by services and the increase by proxies are added`;

/** The value of a series for a size. */
export function valueAt(
  measured: Measurements,
  { byProxies, most }: Series,
  { services, proxies }: MeshSize,
): Estimate {
  const base = onLine(measured, byProxies, proxies);
  if (services <= BASE_SERVICES) return { ...base, bound: orAtMost(base.bound, services < BASE_SERVICES), assumes: "" };
  const largest = figureOf(measured, most.work, most.figure);
  const increase = Math.max(0, largest.value - onLine(measured, byProxies, PROXIES_OF_MOST).value);
  return {
    value: base.value + increase * partOf(services),
    unit: base.unit,
    bound: services > MOST_SERVICES ? "at least" : base.bound,
    rows: [...base.rows, largest],
    assumes: proxies > PROXIES_OF_MOST ? UNMEASURED_CORNER : "",
  };
}

/** The bytes for a number of proxies: the bytes of one proxy, times the proxies. */
export function bytesFor(
  measured: Measurements,
  { base, most }: ByteSeries,
  services: number,
  proxies: number,
): Estimate {
  const [small, large] = [base, most].map(({ work, figure }) => figureOf(measured, work, figure));
  const share = small!.value / base.at;
  if (services <= BASE_SERVICES) {
    const bound = orAtMost("about", services < BASE_SERVICES);
    return { value: share * proxies, unit: small!.unit, bound, rows: [small!], assumes: "" };
  }
  const shareOfMost = large!.value / most.at;
  return {
    value: (share + (shareOfMost - share) * partOf(services)) * proxies,
    unit: small!.unit,
    bound: services > MOST_SERVICES ? "at least" : "about",
    rows: [small!, large!],
    assumes: "",
  };
}

/** The value on the line through the two nearest rows; outside of the rows, the value of the outermost row. */
export function onLine(measured: Measurements, rows: readonly SizedRow[], at: number): Omit<Estimate, "assumes"> {
  const points = rows.map((row) => ({ at: row.at, found: figureOf(measured, row.work, row.figure) }));
  const [first, last] = [points[0]!, points.at(-1)!];
  const { unit } = first.found;
  if (at <= first.at) {
    return { value: first.found.value, unit, bound: at < first.at ? "at most" : "about", rows: [first.found] };
  }
  if (at > last.at) return { value: last.found.value, unit, bound: "at least", rows: [last.found] };
  const next = points.findIndex((point) => point.at >= at);
  const [low, high] = [points[next - 1]!, points[next]!];
  const part = (at - low.at) / (high.at - low.at);
  const value = low.found.value + (high.found.value - low.found.value) * part;
  return { value, unit, bound: "about", rows: part === 1 ? [high.found] : [low.found, high.found] };
}

/** Where a number of services stands between the base (0) and the largest measured mesh (1). */
function partOf(services: number): number {
  return Math.min(1, (services - BASE_SERVICES) / (MOST_SERVICES - BASE_SERVICES));
}

/**
 * The bound of a value for a mesh below the smallest measured mesh: `at most`, unless another number of the mesh is
 * beyond the rows.
 */
function orAtMost(bound: Bound, isBelow: boolean): Bound {
  return isBelow && bound === "about" ? "at most" : bound;
}
