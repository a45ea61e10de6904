/**
 * Kept parts of derivations. A part is built again only when one of its own inputs or reads has changed. After an edit of a
 * route, a group of 5,000 routes derives again and keeps 4,999 of its parts.
 *
 * @module
 */
import { BuildCache } from "../../incremental/build_cache.ts";
import type { InvalidatedKeys } from "../../incremental/keys.ts";
import { sameItems } from "../../incremental/same_items.ts";
import type { DerivationReader } from "./derivation.ts";
import { DerivationRecorder, type DerivationSource } from "./reads.ts";

/** How a part is built: the inputs, compared one by one by identity, and the builder. */
interface PartInput {
  readonly inputs: readonly unknown[];
  readonly build: (read: DerivationReader) => unknown;
}

/** A kept part. */
interface KeptPart {
  /** Its name in the cache. */
  readonly full: string;
  /** The inputs of the kept result. */
  inputs: readonly unknown[];
  /** The last run that used the part. */
  run: number;
}

/** Separates the name of a derived thing from the name of its part. No key and no group contains this character. */
const SEPARATOR = "\0";

/** The parts of all inputs and groups of an engine. */
export class KeptParts {
  readonly #cache = new BuildCache<DerivationSource, unknown, never, PartInput>(
    (recorder, _name, { build }) => build(new DerivationRecorder(recorder)),
    {
      enabled: true,
      fallback: undefined,
      failed: (name, error) => void this.#failures.set(name, error),
      sameInput: () => true,
    },
  );
  readonly #failures = new Map<string, unknown>();
  /** By input or group, then by name. Two small lookups cost less than a joined name for each of 5,000 parts. */
  readonly #kept = new Map<string, Map<string, KeptPart>>();
  #runs = 0;

  /**
   * The maker of the parts of one input or group, for one run.
   *
   * @param owner Key of the input, or marked name of the group.
   */
  of(owner: string, source: DerivationSource): PartMaker {
    const run = ++this.#runs;
    const parts = this.#kept.getOrInsertComputed(owner, () => new Map<string, KeptPart>());
    return {
      part: <T>(name: string, inputs: readonly unknown[], build: (read: DerivationReader) => T): T => {
        const kept = parts.getOrInsertComputed(name, () => ({ full: owner + SEPARATOR + name, inputs, run }));
        const { full } = kept;
        kept.run = run;
        if (!sameItems(kept.inputs, inputs)) {
          this.#cache.drop(full);
          kept.inputs = inputs;
        }
        const { value, failed } = this.#cache.get(full, source, { inputs, build });
        // The run of the owner fails too: its earlier objects stay in force.
        if (failed) throw this.#failures.get(full);
        return value as T;
      },
      end: () => this.#end(owner, parts, run),
    };
  }

  /** Drops the parts whose reads have changed. @returns the owners of these parts */
  invalidate(keys: InvalidatedKeys): Set<string> {
    const owners = new Set<string>();
    for (const name of this.#cache.invalidate(keys)) owners.add(name.slice(0, name.indexOf(SEPARATOR)));
    return owners;
  }

  /** Forgets the parts that the last run did not use. */
  #end(owner: string, parts: Map<string, KeptPart>, run: number): void {
    for (const [name, { full, run: last }] of parts) {
      if (last === run) continue;
      this.#cache.drop(full);
      this.#failures.delete(full);
      parts.delete(name);
    }
    if (parts.size === 0) this.#kept.delete(owner);
  }
}

/** Makes the parts of one run. */
export interface PartMaker {
  part<T>(name: string, inputs: readonly unknown[], build: (read: DerivationReader) => T): T;
  /** Ends the run: parts that were not asked for are forgotten. */
  end(): void;
}
