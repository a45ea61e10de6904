/**
 * Where a server keeps its rollouts for a restart: a file.
 *
 * Permissions: read, write (the folder of the file).
 *
 * @module
 */
import { readRegularText } from "../../kernel/files/regular.ts";
import { removeUnfinishedFiles, writeWholeFile } from "../../kernel/files/whole_file.ts";
import { readRecords, writtenRecords } from "../../rollout/record.ts";
import type { StagedRecord } from "../../rollout/staged.ts";

/** Why single rollouts cannot be kept, by object. */
export type UnkeptRollouts = ReadonlyMap<string, string>;

const NONE: UnkeptRollouts = new Map();

/** Keeps rollouts. */
export interface RolloutShelf {
  /** The kept rollouts. Rejects if they cannot be read. */
  read(): Promise<readonly StagedRecord[]>;
  /**
   * Keeps these rollouts and no other. When it resolves, the rollouts survive a restart.
   *
   * @returns why single rollouts cannot be kept, by object: other rollouts are kept all the same
   */
  write(records: Iterable<StagedRecord>, signal?: AbortSignal): Promise<UnkeptRollouts>;
}

const FILE = "rollouts.json";

/** Rollouts in a file that only the owner may read. A missing folder is created with the first rollout. */
export class FolderShelf implements RolloutShelf {
  readonly #folder: string;
  #written: string | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get #path(): string {
    return `${this.#folder}/${FILE}`;
  }

  async read(): Promise<readonly StagedRecord[]> {
    try {
      this.#written = await readRegularText(this.#path);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw error;
    }
    return readRecords(this.#written, { from: "file", source: this.#folder, file: FILE, line: 0, within: "" });
  }

  async write(records: Iterable<StagedRecord>): Promise<UnkeptRollouts> {
    const all = [...records];
    if (all.length === 0 && this.#written === undefined) return NONE;
    const text = writtenRecords(all);
    if (text === this.#written) return NONE;
    await Deno.mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await removeUnfinishedFiles(this.#folder, [FILE]);
    await writeWholeFile(this.#path, text, 0o600);
    this.#written = text;
    return NONE;
  }
}
