/**
 * Where registered entries are kept: in the orchestrator, or in the server's memory where the groups are files.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import type { AnnotationChange, EntryAnnotations } from "./connection.ts";

export interface EntryPlace {
  readonly namespace: string;
  readonly name: string;
}

export interface ShelvedEntry {
  readonly annotations: EntryAnnotations;
  /** Unique among all entries of the same name. */
  readonly uid: string;
  /** Unique among all states of the entry. */
  readonly version: string;
}

/** Another write came first: the writer reads again and decides again. */
export class EntryConflict extends Error {
  override readonly name = "EntryConflict";
}

/** Stores registered entries. Every call may fail, and may be repeated. */
export interface EntryShelf {
  /** Undefined: the entry does not exist. */
  read(place: EntryPlace, signal: AbortSignal): Promise<ShelvedEntry | undefined>;
  /** @throws {EntryConflict} when the entry exists */
  create(entry: ConfigObject<"WorkloadEntry">, signal: AbortSignal): Promise<void>;
  /** @throws {EntryConflict} when the entry has another version by now */
  annotate(place: EntryPlace, was: ShelvedEntry, change: AnnotationChange, signal: AbortSignal): Promise<void>;
  /**
   * @returns false: the entry was gone already
   * @throws {EntryConflict} when the entry has another version by now
   */
  remove(place: EntryPlace, was: ShelvedEntry, signal: AbortSignal): Promise<boolean>;
}
