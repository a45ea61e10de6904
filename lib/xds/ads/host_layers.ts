/**
 * The virtual hosts of the route configurations that one client subscribes to (VHDS). The key of each layer begins with
 * the name of its route configuration.
 *
 * @module
 */
import type { NameSet } from "../../resource/names.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { ProxyView } from "../source.ts";
import { type Layers, stack } from "./layers.ts";

/** Puts a client's virtual hosts together; the same layers are returned until something differs. */
export class HostLayers {
  #last: { routes: NameSet; sets: (readonly ResourceSet[])[]; layers: Layers } | undefined;

  constructor(private readonly view: ProxyView) {}

  /** The virtual hosts of these route configurations. */
  of(routes: NameSet): Layers {
    const names = [...routes.names];
    const sets = names.map((name) => this.view.virtualHosts(name));
    const last = this.#last;
    if (last?.routes === routes && sets.every((set, i) => set === last.sets[i])) return last.layers;
    const layers = names.flatMap((name, i) => stack(sets[i]!, name + "#"));
    this.#last = { routes, sets, layers };
    return layers;
  }

  /** The route configuration to which a layer with this key belongs. */
  static routeOf(key: string): string {
    return key.slice(0, key.lastIndexOf("#"));
  }
}
