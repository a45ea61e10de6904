/**
 * What users wrote and do not get, as translation found it. A warning belongs to the build result that came with
 * it, so it goes when that result is built again without it.
 *
 * @module
 */
import type { Built } from "./built.ts";

/** The part of translation that found it. */
export type WarningArea = "clusters" | "endpoints" | "routes" | "listeners" | "inbound" | "gateways" | "configuration";

/** Gauges that count warnings. */
export type WarningMetric =
  | "pilot_conflict_inbound_listener"
  | "pilot_conflict_outbound_listener_tcp_over_current_tcp"
  | "pilot_destrule_subsets"
  | "pilot_vservice_dup_domain";

/** One thing that a user asked for and does not get. */
export interface Warning {
  readonly area: WarningArea;
  /** Keys of the objects that it is about (`VirtualService/ns/name`), the nearest cause first. */
  readonly objects: readonly string[];
  /** One sentence. */
  readonly text: string;
  /** The gauge that counts it, where the field has one. */
  readonly metric?: WarningMetric;
}

/** Takes warnings while a result is built. */
export type Warn = (warning: Warning) => void;

/** Hands on what a builder has to say about a message, and gives the message back. */
export function warned(
  area: WarningArea,
  warn: Warn,
): <B extends Pick<Built<unknown>, "causes" | "warnings">>(b: B) => B {
  return (built) => {
    for (const text of built.warnings ?? []) warn({ area, objects: built.causes, text });
    return built;
  };
}

/** Each warning once, sorted: many classes of proxies find the same. */
export function distinctWarnings(warnings: Iterable<Warning>): Warning[] {
  const found = new Map<string, Warning>();
  for (const warning of warnings) found.set(warningKey(warning), warning);
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, warning]) => warning);
}

/** Tells warnings apart. */
export function warningKey({ area, objects, text }: Warning): string {
  return `${area}\n${objects.join()}\n${text}`;
}
