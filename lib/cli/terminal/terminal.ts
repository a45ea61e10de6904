/**
 * The abilities of an output stream: width and colours. Colours are only for terminals, and never if the variable
 * NO_COLOR is set (https://no-color.org).
 *
 * Permissions: nothing beyond the standard streams.
 *
 * @module
 */

/** An output stream for people. */
export interface Terminal {
  /** Whether the stream is a terminal. Otherwise the stream is a file or a pipe. */
  readonly interactive: boolean;
  /** Characters in a line. `Infinity`: lines are never broken, because a program reads the lines. */
  readonly width: number;
  readonly colour: boolean;
}

/** A stream for programs: no colour, no broken lines. */
export const NO_TERMINAL: Terminal = { interactive: false, width: Infinity, colour: false };

/** Least width, also for a terminal that is narrower. */
const LEAST_WIDTH = 40;

/** The terminal of a standard stream of this process. */
export function terminalOf(stream: { isTerminal(): boolean }): Terminal {
  if (!stream.isTerminal()) return NO_TERMINAL;
  return { interactive: true, width: Math.max(LEAST_WIDTH, columns()), colour: !Deno.noColor };
}

function columns(): number {
  try {
    const { columns } = Deno.consoleSize();
    return columns > 0 ? columns : 80;
  } catch {
    return 80; // The size is asked of standard streams, and no standard stream is a terminal.
  }
}
