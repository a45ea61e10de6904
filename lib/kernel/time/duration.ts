/**
 * Durations in Go syntax (`300ms`, `1h0m0s`, `2562047h47m16.854775807s`), as in flags, variables and mesh
 * configuration. In memory a duration is a number of milliseconds, with fractions.
 *
 * @module
 */
import { withoutEnd } from "../text/edges.ts";

const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  "µs": 1_000n,
  "μs": 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const MAX_NANOSECONDS = (1n << 63n) - 1n;

/** Text of the longest duration: 2^63-1 nanoseconds, about 292 years. The duration means "no limit". */
export const MAX_DURATION_TEXT = "2562047h47m16.854775807s";

/**
 * The longest duration in milliseconds. A double is exact to two microseconds here, so compare with `>=`. Do not format
 * the number by arithmetic; {@link formatDuration} has a case for it.
 */
export const MAX_DURATION_MS = milliseconds(MAX_NANOSECONDS);

/** The expectation for a duration in error messages. */
export const DURATION_EXPECTED = "a duration such as 300ms, 10s or 1h30m";

const PART = /(\d+)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)|\.(\d+)(ns|us|µs|μs|ms|s|m|h)/y;

/**
 * Milliseconds of a Go duration. Undefined for an invalid text (no unit, unknown unit, blanks, out of the 64-bit
 * range). `0` needs no unit, as in Go.
 */
export function parseDuration(text: string): number | undefined {
  const sign = text[0] === "-" ? -1n : 1n;
  const body = text[0] === "-" || text[0] === "+" ? text.slice(1) : text;
  if (body === "0") return 0;
  if (body === "") return undefined;
  let total = 0n;
  PART.lastIndex = 0;
  while (PART.lastIndex < body.length) {
    const part = PART.exec(body);
    if (part === null) return undefined;
    const unit = NANOSECONDS[part[3] ?? part[5] ?? ""] ?? 0n;
    total += BigInt(part[1] ?? "0") * unit + fraction(part[2] ?? part[4] ?? "", unit);
    if (total > MAX_NANOSECONDS) return undefined;
  }
  const ms = milliseconds(total);
  return sign < 0n && ms !== 0 ? -ms : ms;
}

/** Rounded once: a time beyond 104 days does not fit a double in nanoseconds. */
function milliseconds(ns: bigint): number {
  return Number(ns / 1_000_000n) + Number(ns % 1_000_000n) / 1e6;
}

/** The part of a unit behind the decimal point, cut at nanoseconds. */
function fraction(digits: string, unit: bigint): bigint {
  const kept = digits.slice(0, 18);
  return kept === "" ? 0n : (BigInt(kept) * unit) / 10n ** BigInt(kept.length);
}

/**
 * Go's text of a duration in milliseconds: `100ms`, `10s`, `1h0m0s`, `0s`. Precision: nanoseconds.
 *
 * @throws {RangeError} when `ms` is not a number.
 */
export function formatDuration(ms: number): string {
  if (Number.isNaN(ms)) throw new RangeError("a duration is a number of milliseconds, got NaN");
  if (ms >= MAX_DURATION_MS) return MAX_DURATION_TEXT;
  if (ms < 0) return "-" + (ms <= -MAX_DURATION_MS ? MAX_DURATION_TEXT : formatDuration(-ms));
  const whole = Math.floor(ms);
  const ns = BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1e6));
  if (ns === 0n) return "0s";
  if (ns < 1_000n) return `${ns}ns`;
  if (ns < 1_000_000n) return decimal(ns, 1_000n) + "µs";
  if (ns < 1_000_000_000n) return decimal(ns, 1_000_000n) + "ms";
  const minutes = ns / 60_000_000_000n;
  const seconds = decimal(ns % 60_000_000_000n, 1_000_000_000n) + "s";
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** The longest duration in help and reference. Read by {@link parseSpan}. */
export const NEVER = "never";

/**
 * A duration in short form: `24h`, `1h30m`, `1m30s`. The longest duration is `never`.
 *
 * @throws {RangeError} when `ms` is not a number.
 */
export function readableDuration(ms: number): string {
  if (ms >= MAX_DURATION_MS) return NEVER;
  return formatDuration(ms).replace(/(?<=m)0s$/, "").replace(/(?<=h)0m$/, "");
}

/** Milliseconds of a duration or of `never`. Undefined for an invalid text. */
export function parseSpan(text: string): number | undefined {
  return text === NEVER ? MAX_DURATION_MS : parseDuration(text);
}

function decimal(ns: bigint, unit: bigint): string {
  const rest = ns % unit;
  if (rest === 0n) return String(ns / unit);
  const digits = withoutEnd(String(rest).padStart(String(unit).length - 1, "0"), "0");
  return `${ns / unit}.${digits}`;
}
