/**
 * A line on a terminal with the progress of long work. Without a terminal nothing is shown.
 *
 * @module
 */
import type { Output } from "../command.ts";
import { shortened } from "./layout.ts";

/** Least time between two states of the line, ms. Faster states cannot be read, and each costs a write. */
const EVERY_MS = 100;

/** Says how far work is. */
export interface Progress {
  /** Shows a state, unless the last state is too young. */
  show(text: string): void;
  /** Clears the line: other text follows. */
  end(): void;
}

/** The progress line of an output's standard error. */
export function progressOn(output: Output, now: () => number = () => performance.now()): Progress {
  const terminal = output.terminals?.err;
  if (!terminal?.interactive) return { show: () => {}, end: () => {} };
  // Quick work shows nothing.
  let last = now();
  let isShown = false;
  return {
    show: (text) => {
      if (now() - last < EVERY_MS) return;
      last = now();
      isShown = true;
      output.err(`\r\x1b[K${shortened(text, terminal.width - 1)}`);
    },
    end: () => {
      if (isShown) output.err("\r\x1b[K");
      isShown = false;
    },
  };
}
