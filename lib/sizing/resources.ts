/**
 * Resources of the server's container by an answer.
 *
 * @module
 */
import type { SizeAnswer } from "./answer.ts";

/** Memory in MiB. */
export interface Resources {
  readonly request: number;
  /** Undefined: the size is beyond what was measured, and a limit would be a guess that ends servers. */
  readonly limit: number | undefined;
}

/** Quantities are rounded up to a multiple of this number of MiB. */
const STEP = 64;
/** The limit leaves this part beyond the highest figure free: other machines and other meshes differ. */
const RESERVE = 0.25;

/** Request: all proxies are connected. Limit: all proxies reconnect at once. */
export function suggestedResources({ lines }: Pick<SizeAnswer, "lines">): Resources {
  const of = (id: string) => lines.find((line) => line.id === id)!.estimate;
  const [connected, reconnecting] = [of("memory"), of("memoryOfReconnect")];
  return {
    request: roundedUp(connected.value),
    limit: reconnecting.bound === "at least" ? undefined : roundedUp(reconnecting.value * (1 + RESERVE)),
  };
}

function roundedUp(value: number): number {
  return Math.ceil(value / STEP) * STEP;
}
