/**
 * Durations as users write them: Go syntax, which contains protobuf's JSON form (`1.5s`).
 * @module
 * Permissions: none.
 */

const NANOSECONDS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};
const WHOLE = /^([+-]?)((?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const PARTS = /(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g;

/**
 * Parses a duration: `5s`, `1h30m`, `0.25s`, `100ms`, `0`.
 * @returns milliseconds (fractions possible), or undefined when the text is no duration
 */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (text.length > 64) return undefined;
  const match = WHOLE.exec(text);
  if (match === null) return undefined;
  let milliseconds = 0;
  let nanoseconds = 0;
  for (const [, whole = "", fraction = "", unit = ""] of text.matchAll(PARTS)) {
    const scale = NANOSECONDS[unit] ?? 0;
    // In integers, and milliseconds apart: 1.001 s must be 1001 ms, not 1000.9999999999999, also after many years.
    if (scale >= 1e6) milliseconds += Number(whole || "0") * (scale / 1e6);
    else nanoseconds += Number(whole || "0") * scale;
    if (fraction !== "") nanoseconds += Math.round((Number(fraction) * scale) / 10 ** fraction.length);
  }
  const total = milliseconds + Math.floor(nanoseconds / 1e6) + (nanoseconds % 1e6) / 1e6;
  return match[1] === "-" ? -total : total;
}

/** Writes milliseconds as a protobuf JSON duration: 1500 gives `1.5s`. */
export function formatDuration(milliseconds: number): string {
  return `${milliseconds / 1000}s`;
}
