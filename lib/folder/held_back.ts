/**
 * Files whose present state may not last: half-written files, and files that have disappeared. Many editors and tools
 * write a file by moving the old file away before they write the new file (`sed -i.bak`, backups of Emacs and vim). A
 * removal that is taken at once would take the last good version of the file's objects away.
 *
 * After a moment the present state of a file is taken.
 *
 * @module
 */
import type { Cancel, Clock } from "../kernel/time/clock.ts";
import { looksTruncated, type ReadFileState } from "./file.ts";
import type { FileRead } from "./index.ts";

/** How long a file may look half-written before its present content is taken, ms. */
export const SETTLE_MS = 50;

/** How long a file may be missing before its removal is taken, ms. */
export const REMOVAL_MS = 500;

/** Why a file is held back. */
export type HoldReason = "half-written" | "missing";

/** A file that is held back. */
interface Hold {
  readonly reason: HoldReason;
  readonly cancel: Cancel;
}

/** The files held back. */
export class HeldBack {
  readonly #clock: Pick<Clock, "after">;
  readonly #onDue: (path: string) => void;
  readonly #holds = new Map<string, Hold>();
  #due = new Map<string, HoldReason>();

  /** @param onDue Called when a file has been held back long enough, so that the file must be read again. */
  constructor(clock: Pick<Clock, "after">, onDue: (path: string) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** The files that are held back or due. */
  get paths(): readonly string[] {
    return [...this.#holds.keys(), ...this.#due.keys()];
  }

  /** Whether a file is held back or due. */
  has(path: string): boolean {
    return this.#holds.has(path) || this.#due.has(path);
  }

  /** The files that have been held back long enough. The files are asked for once, before they are read again. */
  takeDue(): ReadonlyMap<string, HoldReason> {
    const due = this.#due;
    this.#due = new Map();
    return due;
  }

  /**
   * The part of a read that is taken now; undefined: nothing.
   *
   * @param previous The state of the file so far.
   * @param due The files that were due before the read.
   */
  admit(
    read: FileRead,
    previous: ReadFileState | undefined,
    due: ReadonlyMap<string, HoldReason>,
  ): FileRead | undefined {
    const { path } = read;
    const reason = reasonFor(read, previous);
    if (reason === undefined || due.get(path) === reason) {
      this.#release(path);
      return read;
    }
    // Each write of a half-written file gives the writer more time. A removal is taken in a bounded time.
    if (reason === "half-written" || this.#holds.get(path)?.reason !== reason) this.#hold(path, reason);
    return reason === "missing" ? { path, bytes: undefined, isHeldBack: true } : undefined;
  }

  /** Nothing is called any more. */
  stop(): void {
    for (const { cancel } of this.#holds.values()) cancel();
  }

  #hold(path: string, reason: HoldReason): void {
    this.#release(path);
    const end = () => {
      this.#holds.delete(path);
      this.#due.set(path, reason);
      this.#onDue(path);
    };
    const cancel = this.#clock.after(reason === "missing" ? REMOVAL_MS : SETTLE_MS, end);
    this.#holds.set(path, { reason, cancel });
  }

  #release(path: string): void {
    this.#holds.get(path)?.cancel();
    this.#holds.delete(path);
  }
}

/** Why the state of a file may not last. A file without objects has nothing to lose. */
function reasonFor({ bytes }: FileRead, previous: ReadFileState | undefined): HoldReason | undefined {
  if (bytes === undefined) return previous !== undefined && previous.objects.size > 0 ? "missing" : undefined;
  return bytes instanceof Uint8Array && looksTruncated(previous, bytes) ? "half-written" : undefined;
}
