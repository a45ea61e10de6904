/**
 * Where registered entries are kept: in the orchestrator, or in the server's memory where the groups are files.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import type { AnnotationChange, EntryAnnotations } from "./connection.ts";

/** An entry by its name. */
export interface EntryPlace {
  readonly namespace: string;
  readonly name: string;
}

/** An entry as it was read. */
export interface ShelvedEntry {
  readonly annotations: EntryAnnotations;
  /** No other entry of the name has it. */
  readonly uid: string;
  /** No other state of the entry has it. */
  readonly version: string;
}

/** Another write came first: the writer reads again and decides again. */
export class EntryConflict extends Error {
  override readonly name = "EntryConflict";
}

/** See the module. Every call may fail, and be made again. */
export interface EntryShelf {
  /** Undefined: there is none. */
  read(place: EntryPlace, signal: AbortSignal): Promise<ShelvedEntry | undefined>;
  /** @throws {EntryConflict} there is one */
  create(entry: ConfigObject<"WorkloadEntry">, signal: AbortSignal): Promise<void>;
  /** @throws {EntryConflict} it is another version by now */
  annotate(place: EntryPlace, was: ShelvedEntry, change: AnnotationChange, signal: AbortSignal): Promise<void>;
  /** @returns false: it was gone @throws {EntryConflict} it is another version by now */
  remove(place: EntryPlace, was: ShelvedEntry, signal: AbortSignal): Promise<boolean>;
}
