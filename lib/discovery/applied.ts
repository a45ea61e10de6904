/**
 * The changes that pushes bring into the mesh, for parts that note them.
 *
 * @module
 */
import type { AnyConfigObject } from "../config/types.ts";
import type { AffectedKeys, MeshChange } from "../mesh/mesh.ts";

/** A change whose objects may be looked at more than once. */
export interface ListedChange extends MeshChange {
  readonly removed: readonly AnyConfigObject[];
  readonly added: readonly AnyConfigObject[];
}

/** The changes of one push. */
export interface AppliedChange {
  /** Absent: the mesh is another one, made from all there is. */
  readonly change?: ListedChange;
  readonly affected: AffectedKeys;
}

/** The listeners, called before the push goes out. */
export class AppliedListeners {
  readonly #all = new Set<(applied: AppliedChange) => void>();

  /** Has a listener called with each; it only notes it. Returns the way to stop that. */
  listen(listener: (applied: AppliedChange) => void): () => void {
    this.#all.add(listener);
    return () => void this.#all.delete(listener);
  }

  /** Calls all listeners, and returns the affected keys. */
  announce(applied: AppliedChange): AffectedKeys {
    for (const listener of this.#all) listener(applied);
    return applied.affected;
  }
}
