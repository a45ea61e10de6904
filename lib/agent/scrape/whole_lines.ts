/**
 * Metrics as bytes that come in any parts, passed on in whole lines: a source that breaks off leaves no half line, which
 * would spoil the metrics of all others.
 *
 * @module
 */
import { concatBytes } from "../../resource/block.ts";

/** Bytes of a line that is not over: no series is that long, and a source without lines must not fill the memory. */
export const MAX_LINE = 1024 * 1024;

/** Whether a comment line (without its end) is passed on. All other lines are, but empty ones. */
export type KeepComment = (line: string) => boolean;

const NEW_LINE = 10, CARRIAGE_RETURN = 13, HASH = 35;
const NOTHING: Uint8Array = new Uint8Array(0);
const decoder = new TextDecoder();

export class WholeLines {
  readonly #keep: KeepComment | undefined;
  #rest: Uint8Array[] = [];
  #length = 0;

  /** @param keep undefined: every line is passed on as it is */
  constructor(keep?: KeepComment) {
    this.#keep = keep;
  }

  /**
   * Takes bytes.
   *
   * @returns the bytes that can be passed on, perhaps none
   * @throws Error for a line that is longer than {@linkcode MAX_LINE}
   */
  push(bytes: Uint8Array): Uint8Array {
    const end = bytes.lastIndexOf(NEW_LINE) + 1;
    const whole = end === 0 ? NOTHING : this.#chosen(this.#joined(bytes.subarray(0, end)));
    if (end < bytes.length) {
      // The source may use its buffer again.
      this.#rest.push(bytes.slice(end));
      this.#length += bytes.length - end;
    }
    if (this.#length > MAX_LINE) throw new Error(`a line is longer than ${MAX_LINE} bytes`);
    return whole;
  }

  /** The source is at its end: its last line, with an end. */
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

  /** The lines that are kept; `bytes` ends with the end of a line. */
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
