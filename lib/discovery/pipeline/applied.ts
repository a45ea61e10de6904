/**
 * The changes of the mesh in each push, and gateways that connect and go, for parts that note the changes.
 *
 * @module
 */
import type { AnyConfigObject } from "../../config/types.ts";
import type { AffectedKeys } from "../../mesh/affected.ts";
import type { MeshChange } from "../../mesh/mesh.ts";
import { profileOf, type ProxyType } from "../../translate/reader/proxy_profile.ts";

/** A change whose objects can be read more than once. */
export interface ListedChange extends MeshChange {
  readonly removed: readonly AnyConfigObject[];
  readonly added: readonly AnyConfigObject[];
}

/** The changes of one push. */
export type AppliedChange =
  | { readonly change: ListedChange; readonly affected: AffectedKeys }
  /** The mesh was replaced by a new mesh, made from these objects. */
  | { readonly objects: readonly AnyConfigObject[] };

/** The listeners, called before the push goes out. */
export class AppliedListeners {
  readonly #all = new Set<(applied: AppliedChange) => void>();
  readonly #ofGateways = new Set<() => void>();

  /**
   * Adds a listener for each change. The listener must only note the change. Returns a function that removes the
   * listener.
   */
  listen(listener: (applied: AppliedChange) => void): () => void {
    this.#all.add(listener);
    return () => void this.#all.delete(listener);
  }

  /** Adds a listener for gateways that connect or go. Returns a function that removes the listener. */
  onGateway(listener: () => void): () => void {
    this.#ofGateways.add(listener);
    return () => void this.#ofGateways.delete(listener);
  }

  /** A proxy has connected or gone. Sidecars are numerous, and are not announced. */
  proxyMoved(type: ProxyType): void {
    if (profileOf(type).gateways) { for (const listener of this.#ofGateways) listener(); }
  }

  /** Calls all listeners. */
  announce(applied: AppliedChange): void {
    for (const listener of this.#all) listener(applied);
  }
}
