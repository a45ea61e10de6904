/**
 * Stores what workloads have called in a file. Servers may share the file: each adds what the file lacks.
 *
 * Permissions: read, write (the folder).
 *
 * @module
 */
import { readRegularText } from "../../kernel/files/regular.ts";
import { dropFile, prepareFile } from "../../kernel/files/whole_file.ts";
import type { CallShelf } from "./call_keeper.ts";
import type { CallMemory } from "./call_memory.ts";
import { callsText, isStale, readCalls, type StoredWorkload } from "./stored_calls.ts";

const FILE = "calls.json";

/** Most characters of the file. */
const MOST = 32 * 1024 * 1024;

export class CallFile implements CallShelf {
  readonly place: string;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.place = `${folder}/${FILE}`;
  }

  async start(take: (stored: readonly StoredWorkload[]) => void): Promise<void> {
    take(await this.#read());
  }

  /** @throws {Error} when the file has another form: the file is not overwritten */
  async #read(): Promise<StoredWorkload[]> {
    let text: string;
    try {
      text = await readRegularText(this.place);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw error;
    }
    const read = readCalls(text, MOST);
    if (read !== undefined) return read;
    throw new Error(`${this.place}: got another content, expected what a server has stored; remove the file`);
  }

  async save(memory: CallMemory): Promise<void> {
    const stored = await this.#read();
    for (const { workload, calls } of stored) memory.merge(workload, calls);
    const now = [...memory.workloads()];
    if (!isStale(stored, now, memory.lifetime)) return;
    await Deno.mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const { beside } = await prepareFile(this.place, callsText(now, MOST), 0o600);
    try {
      await Deno.rename(beside, this.place);
    } finally {
      await dropFile(beside);
    }
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}
