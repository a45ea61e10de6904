/**
 * Numbers as people read them.
 *
 * @module
 */

/** Bytes as `1.2 kB`, up to `1.2 GB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Milliseconds as `35 ms` or `1.2 s`. */
export function millisecondsText(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** `1 proxy`, `2 proxies`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const UNITS = [["year", 365.25 * 86_400_000], ["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000]] as const;

/** A long time in its largest unit with at least two of the unit: `10 years`, `36 hours`, `90 s`. */
export function durationText(ms: number): string {
  const unit = UNITS.find(([, length]) => ms >= 2 * length);
  return unit === undefined ? `${Math.max(0, Math.round(ms / 1000))} s` : counted(Math.floor(ms / unit[1]), unit[0]);
}
