/**
 * The resources of a view for one stream, as stacks of sets by type.
 *
 * @module
 */
import type { NameSet } from "../../resource/name_set.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { ProxyView } from "../protocol/source.ts";
import { EMPTY_STACK, type SetStack, type StackedSet, stackSets } from "./set_stack.ts";

/** The virtual hosts of one route configuration. */
interface RouteHosts {
  readonly sets: readonly ResourceSet[];
  readonly stack: readonly StackedSet[];
}

/**
 * The virtual hosts of the route configurations to which one client subscribes (VHDS). Only a route configuration with
 * virtual hosts has a group of sets, so that a name without virtual hosts costs no more than the name.
 */
class HostStack {
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

  /** Looks at route configurations again. `wanted` holds the client's subscriptions. */
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

/** Whether `sets` are the sets of `all` without the empty sets. Asked for each stream in each push. */
function sameBesidesEmpty(sets: readonly ResourceSet[], all: readonly ResourceSet[]): boolean {
  let at = 0;
  for (const set of all) if (set.size > 0 && set !== sets[at++]) return false;
  return at === sets.length;
}

/** Reads a view; the same stack is returned while the view's sets are the same. */
export class ViewStacks {
  readonly #stacks = new Map<string, { sets: readonly ResourceSet[]; stack: SetStack }>();
  readonly #hosts: HostStack;
  /** The view's revision at the last look at virtual hosts. */
  #hostsRevision: number | undefined;

  readonly #view: ProxyView;

  constructor(view: ProxyView) {
    this.#view = view;
    this.#hosts = new HostStack(view);
  }

  /** All visible resources of a type, without virtual hosts; undefined: the type is not served. */
  stack(typeUrl: string): SetStack | undefined {
    const sets = this.#view.resourceSets(typeUrl);
    if (sets === undefined) return undefined;
    const known = this.#stacks.get(typeUrl);
    if (known?.sets === sets) return known.stack;
    const stack = stackSets(sets);
    this.#stacks.set(typeUrl, { sets, stack });
    return stack;
  }

  /** The changed names may have joined or left the route configurations to which the client subscribes. */
  routesChanged(routes: NameSet, ...changed: readonly NameSet[]): void {
    for (const names of changed) this.#hosts.look(names, routes);
  }

  /** The view's virtual hosts have changed without a new revision. */
  hostsAnswered(): void {
    this.#hostsRevision = undefined;
  }

  /** The virtual hosts of the route configurations to which the client subscribes. */
  virtualHosts(routes: NameSet): SetStack {
    if (this.#hostsRevision !== this.#view.revision) this.#hosts.lookAtAll(routes);
    this.#hostsRevision = this.#view.revision;
    return this.#hosts.stack;
  }
}
