/**
 * The meshes of a translator: the mesh of settled objects, and a fork for each set of candidates in use. A candidate is
 * a new version of an object that only some proxies have yet.
 *
 * @module
 */
import type { AnyConfigObject } from "../../config/types.ts";
import type { Mesh } from "../../mesh/mesh.ts";
import { PatchSelection } from "./patch_selection.ts";

/** A mesh as proxies see it. */
export interface MeshView {
  readonly mesh: Mesh;
  readonly patches: PatchSelection;
}

/** The objects of a fork: the parameters of `Mesh.fork`. */
export interface ForkContent {
  /** Keys of the differing objects. */
  readonly keys: ReadonlySet<string>;
  /** All objects of the kinds of the differing objects, as they are in the fork. */
  readonly objects: Iterable<AnyConfigObject>;
}

/** The views of a translator. */
export class MeshViews {
  readonly settled: MeshView;
  readonly #forks = new Map<string, MeshView>();

  constructor(mesh: Mesh) {
    this.settled = { mesh, patches: new PatchSelection(mesh) };
  }

  /** The view of proxies with some candidates. Undefined, or a name without a fork: the settled objects. */
  of(candidates: string | undefined): MeshView {
    return candidates === undefined ? this.settled : this.#forks.get(candidates) ?? this.settled;
  }

  has(candidates: string): boolean {
    return this.#forks.has(candidates);
  }

  /** The names of the forks. */
  get names(): Iterable<string> {
    return this.#forks.keys();
  }

  /** Adds a fork. */
  add(candidates: string, { keys, objects }: ForkContent): void {
    const mesh = this.settled.mesh.fork(keys, objects);
    this.#forks.set(candidates, { mesh, patches: new PatchSelection(mesh) });
  }

  /** Drops a fork. No proxy may have it. */
  drop(candidates: string): void {
    const view = this.#forks.get(candidates);
    if (view === undefined) return;
    this.#forks.delete(candidates);
    this.settled.mesh.dropFork(view.mesh);
  }

  /** The patches have changed. */
  renewPatches(): void {
    this.settled.patches.renew();
    for (const { patches } of this.#forks.values()) patches.renew();
  }
}
