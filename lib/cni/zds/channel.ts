/**
 * Lines of JSON between the node agent and its socket process, over the process's standard input and output.
 *
 * @module
 */
import { isObject } from "../config/network.ts";
import type { HeldPod } from "./session.ts";

/** What the agent asks. `id` comes back with the answer. */
export type Order =
  | { readonly do: "hold"; readonly id: number; readonly pod: HeldPod }
  | { readonly do: "release"; readonly id: number; readonly uid: string }
  /** All pods of the node are held: tunnels may connect. */
  | { readonly do: "serve" };

/** How an order, or a pod without an order, fared. */
export type TunnelOutcome = "acked" | "refused" | "lost" | "ended" | "no tunnel";

/** What the process says. */
export type Word =
  | { readonly say: "serving" }
  | { readonly say: "done"; readonly id: number; readonly outcome: TunnelOutcome; readonly why: string }
  /** A tunnel answered about a pod of a snapshot. */
  | { readonly say: "pod"; readonly uid: string; readonly outcome: TunnelOutcome; readonly why: string }
  | { readonly say: "tunnels"; readonly count: number }
  /** A connection ended. */
  | { readonly say: "left"; readonly why: string }
  /** The socket cannot be served, and the process ends. */
  | { readonly say: "failed"; readonly why: string };

/** Longest line, characters: many times the longest order. */
const MAX_LINE = 16 * 1024;

/** A line as an order. Undefined for anything else: the two ends are the same program. */
export function readOrder(line: string): Order | undefined {
  return readTable(line, "do") as Order | undefined;
}

/** A line as a word. Undefined for anything else. */
export function readWord(line: string): Word | undefined {
  return readTable(line, "say") as Word | undefined;
}

function readTable(line: string, key: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && typeof value[key] === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The lines of a stream, until its end. A line without an end beyond the limit ends the stream too. */
export async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncIterable<string> {
  let rest = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
    if (rest.length > MAX_LINE) return;
  }
}
