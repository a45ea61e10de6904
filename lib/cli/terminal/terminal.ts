/**
 * The abilities of an output stream: its width, and whether it takes colours. Colour is for terminals alone, and never
 * where the variable NO_COLOR is set (https://no-color.org).
 *
 * Permissions: nothing beyond the standard streams.
 *
 * @module
 */

/** One output stream as a place where people read. */
export interface Terminal {
  /** Whether it is a terminal; else it is a file or a pipe. */
  readonly interactive: boolean;
  /** Characters in a line; `Infinity`: lines are never broken, because a program reads them. */
  readonly width: number;
  readonly colour: boolean;
}

/** A stream that a program reads: no colour, no broken lines. */
export const NO_TERMINAL: Terminal = { interactive: false, width: Infinity, colour: false };

/** Narrower than this nothing reads well; a terminal that claims less gets this. */
const LEAST_WIDTH = 40;

/** The terminal behind a standard stream of this process. */
export function terminalOf(stream: { isTerminal(): boolean }): Terminal {
  if (!stream.isTerminal()) return NO_TERMINAL;
  return { interactive: true, width: Math.max(LEAST_WIDTH, columns()), colour: !Deno.noColor };
}

function columns(): number {
  try {
    const { columns } = Deno.consoleSize();
    return columns > 0 ? columns : 80;
  } catch {
    return 80; // The size is asked of standard streams, and none of them has one.
  }
}
