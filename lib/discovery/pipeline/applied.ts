/**
 * The changes that pushes bring into the mesh, and gateways that connect and go, for parts that note them.
 *
 * @module
 */
import type { AnyConfigObject } from "../../config/types.ts";
import type { AffectedKeys, MeshChange } from "../../mesh/mesh.ts";
import { profileOf, type ProxyType } from "../../translate/reader/proxy_profile.ts";

/** A change whose objects may be looked at more than once. */
export interface ListedChange extends MeshChange {
  readonly removed: readonly AnyConfigObject[];
  readonly added: readonly AnyConfigObject[];
}

/** The changes of one push. */
export type AppliedChange =
  | { readonly change: ListedChange; readonly affected: AffectedKeys }
  /** The mesh is another one, made from these objects. */
  | { readonly objects: readonly AnyConfigObject[] };

/** The listeners, called before the push goes out. */
export class AppliedListeners {
  readonly #all = new Set<(applied: AppliedChange) => void>();
  readonly #ofGateways = new Set<() => void>();

  /** Has a listener called with each; it only notes it. Returns the way to stop that. */
  listen(listener: (applied: AppliedChange) => void): () => void {
    this.#all.add(listener);
    return () => void this.#all.delete(listener);
  }

  /** Has a listener called when a gateway has connected or gone. Returns the way to stop that. */
  onGateway(listener: () => void): () => void {
    this.#ofGateways.add(listener);
    return () => void this.#ofGateways.delete(listener);
  }

  /** A proxy has connected or gone. Sidecars, of which there are many, tell nobody. */
  proxyMoved(type: ProxyType): void {
    if (profileOf(type).gateways) { for (const listener of this.#ofGateways) listener(); }
  }

  /** Calls all listeners. */
  announce(applied: AppliedChange): void {
    for (const listener of this.#all) listener(applied);
  }
}
