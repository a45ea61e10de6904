/**
 * The virtual hosts of the route configurations that one client subscribes to (VHDS): a group of sets for each route
 * configuration that has any, so that a name that does not exist costs nothing but itself.
 *
 * @module
 */
import type { NameSet } from "../../resource/name_set.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { ProxyView } from "../protocol/source.ts";
import { EMPTY_STACK, type SetStack, type StackedSet, stackSets } from "./set_stack.ts";

/** The state of one route configuration. */
interface RouteHosts {
  readonly sets: readonly ResourceSet[];
  readonly stack: readonly StackedSet[];
}

/** Puts a client's virtual hosts together. */
export class HostStack {
  readonly #routes = new Map<string, RouteHosts>();
  #stack: SetStack | undefined = EMPTY_STACK;

  readonly #view: ProxyView;

  constructor(view: ProxyView) {
    this.#view = view;
  }

  /** The virtual hosts of all route configurations; the same stack is returned until something differs. */
  get stack(): SetStack {
    return this.#stack ??= [...this.#routes.values()].flatMap(({ stack }) => stack);
  }

  /** Looks at these route configurations again; `wanted` holds those that the client subscribes to. */
  look(names: Iterable<string>, wanted: NameSet): void {
    for (const name of names) this.#put(name, wanted.has(name) ? this.#view.virtualHosts(name) : []);
  }

  /** Looks at everything again. */
  lookAtAll(wanted: NameSet): void {
    for (const name of this.#routes.keys()) if (!wanted.has(name)) this.#put(name, []);
    this.look(wanted, wanted);
  }

  #put(route: string, all: readonly ResourceSet[]): void {
    if (sameBesidesEmpty(this.#routes.get(route)?.sets ?? [], all)) return;
    const sets = all.filter((set) => set.size > 0);
    this.#stack = undefined;
    if (sets.length === 0) this.#routes.delete(route);
    else this.#routes.set(route, { sets, stack: stackSets(sets, route) });
  }
}

/** Whether `sets` are those of `all` that are not empty. Asked of each stream in each push. */
function sameBesidesEmpty(sets: readonly ResourceSet[], all: readonly ResourceSet[]): boolean {
  let at = 0;
  for (const set of all) if (set.size > 0 && set !== sets[at++]) return false;
  return at === sets.length;
}
