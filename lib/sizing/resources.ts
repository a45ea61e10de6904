/**
 * Suggested memory request and memory limit of the server's container.
 *
 * @module
 */
import type { SizeAnswer } from "./answer.ts";

/** Memory in MiB. */
export interface Resources {
  readonly request: number;
  /** Undefined: the size is beyond the measured sizes. A guessed limit could end servers that work. */
  readonly limit: number | undefined;
}

/** Quantities are rounded up to a multiple of this number of MiB. */
const STEP = 64;
/** Share of the highest figure by which the limit is higher: other machines and other meshes differ. */
const RESERVE = 0.25;

/** The request fits a server with all its proxies connected, the limit a server whose proxies all reconnect at once. */
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
