/**
 * Values between measured rows. Between two rows the value is on the line through both rows. Outside of the rows the
 * value is that of the nearest row, and says so: nothing is extrapolated.
 *
 * @module
 */
import { figureOf, type MeasuredFigure, type Measurements } from "./measurement.ts";
import { BASE_SERVICES, MOST_SERVICES, PROXIES_OF_MOST, type Series, type Shared, type SizedRow } from "./series.ts";

/** Size of a mesh as a server sees it. */
export interface MeshSize {
  readonly services: number;
  /** Proxies on one server. */
  readonly proxies: number;
}

/** How a value relates to the truth about a size that was not measured. */
export type Bound = "about" | "at most" | "at least";

/** A value and its measured rows. */
export interface Estimate {
  readonly value: number;
  readonly unit: string;
  /** `at least`: the size is beyond what was measured. `at most`: the size is below the smallest measured mesh. */
  readonly bound: Bound;
  readonly rows: readonly MeasuredFigure[];
  /** What the value assumes beside the line between rows; empty: nothing. */
  readonly assumes: string;
}

const UNMEASURED_CORNER =
  `between ${BASE_SERVICES} and ${MOST_SERVICES} services with more than ${PROXIES_OF_MOST} proxies was not measured: both increases are added`;

/** The value of a series for a size. */
export function valueAt(
  measured: Measurements,
  { byProxies, most }: Series,
  { services, proxies }: MeshSize,
): Estimate {
  const base = onLine(measured, byProxies, proxies);
  if (services <= BASE_SERVICES) return { ...base, bound: lower(base.bound, services < BASE_SERVICES), assumes: "" };
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

/** The share of one proxy, times the proxies. */
export function sharedBy(measured: Measurements, { base, most }: Shared, services: number, proxies: number): Estimate {
  const [small, large] = [base, most].map(({ work, figure }) => figureOf(measured, work, figure));
  const share = small!.value / base.at;
  if (services <= BASE_SERVICES) {
    const bound = lower("about", services < BASE_SERVICES);
    return { value: share * proxies, unit: small!.unit, bound, rows: [small!], assumes: "" };
  }
  const most1 = large!.value / most.at;
  return {
    value: (share + (most1 - share) * partOf(services)) * proxies,
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

/** How far a number of services is from the base to the largest measured mesh, 0 to 1. */
function partOf(services: number): number {
  return Math.min(1, (services - BASE_SERVICES) / (MOST_SERVICES - BASE_SERVICES));
}

/** A mesh below the smallest measured mesh needs at most as much, unless another number is beyond the rows. */
function lower(bound: Bound, isBelow: boolean): Bound {
  return isBelow && bound === "about" ? "at most" : bound;
}
