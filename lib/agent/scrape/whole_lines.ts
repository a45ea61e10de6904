/**
 * Passes on metrics in whole lines, from bytes in any parts. A source that breaks off leaves no half line: a half line
 * would spoil the metrics of all other sources.
 *
 * @module
 */
import { concatBytes } from "../../resource/block.ts";

/** Longest line, bytes. No series is that long, and a source without line ends must not fill the memory. */
export const MAX_LINE = 1024 * 1024;

/** Whether a comment line (without its end) is passed on. All other lines are passed on, except empty lines. */
export type KeepComment = (line: string) => boolean;

const NEW_LINE = 10, CARRIAGE_RETURN = 13, HASH = 35;
const NOTHING: Uint8Array = new Uint8Array(0);
const decoder = new TextDecoder();

/** Cuts a source's bytes into whole lines, and drops comments that are not wanted. */
export class WholeLines {
  readonly #keep: KeepComment | undefined;
  #rest: Uint8Array[] = [];
  #length = 0;

  /** @param keep Undefined: every line is passed on unchanged. */
  constructor(keep?: KeepComment) {
    this.#keep = keep;
  }

  /**
   * Takes bytes.
   * @returns The bytes to pass on, perhaps none.
   * @throws {Error} For a line longer than {@linkcode MAX_LINE}.
   */
  push(bytes: Uint8Array): Uint8Array {
    const end = bytes.lastIndexOf(NEW_LINE) + 1;
    const whole = end === 0 ? NOTHING : this.#chosen(this.#joined(bytes.subarray(0, end)));
    if (end < bytes.length) {
      // The source may reuse the buffer.
      this.#rest.push(bytes.slice(end));
      this.#length += bytes.length - end;
    }
    if (this.#length > MAX_LINE) throw new Error(`a line is longer than ${MAX_LINE} bytes`);
    return whole;
  }

  /** The end of the source: returns the last line, with a line end. */
  end(): Uint8Array {
    return this.#length === 0 ? NOTHING : this.push(Uint8Array.of(NEW_LINE));
  }

  #joined(last: Uint8Array): Uint8Array {
    if (this.#length === 0) return last;
    const all = concatBytes([...this.#rest, last]);
    this.#rest = [];
    this.#length = 0;
    return all;
  }

  /** The kept lines. `bytes` ends with a line end. */
  #chosen(bytes: Uint8Array): Uint8Array {
    const keep = this.#keep;
    if (keep === undefined) return bytes;
    const kept: Uint8Array[] = [];
    let from = 0;
    for (let start = 0; start < bytes.length;) {
      const end = bytes.indexOf(NEW_LINE, start) + 1;
      if (!isKept(bytes.subarray(start, end - 1), keep)) {
        if (from < start) kept.push(bytes.subarray(from, start));
        from = end;
      }
      start = end;
    }
    if (from === 0) return bytes;
    if (from < bytes.length) kept.push(bytes.subarray(from));
    return concatBytes(kept);
  }
}

function isKept(line: Uint8Array, keep: KeepComment): boolean {
  const end = line.at(-1) === CARRIAGE_RETURN ? line.length - 1 : line.length;
  if (end === 0) return false;
  return line[0] !== HASH || keep(decoder.decode(line.subarray(0, end)));
}
