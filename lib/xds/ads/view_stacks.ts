/**
 * The resources of a view for one stream, as stacks of sets by type.
 *
 * @module
 */
import type { NameSet } from "../../resource/name_set.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { ProxyView } from "../protocol/source.ts";
import { HostStack } from "./host_stack.ts";
import { type SetStack, stackSets } from "./set_stack.ts";

/** Reads a view; the same stack is returned while the view's sets are the same. */
export class ViewStacks {
  readonly #stacks = new Map<string, { sets: readonly ResourceSet[]; stack: SetStack }>();
  readonly #hosts: HostStack;
  /** The view's revision at which virtual hosts were looked at. */
  #hostsRevision: number | undefined;

  readonly #view: ProxyView;

  constructor(view: ProxyView) {
    this.#view = view;
    this.#hosts = new HostStack(view);
  }

  /** All that the proxy may see of a type besides virtual hosts; undefined when the type is not served. */
  stack(typeUrl: string): SetStack | undefined {
    const sets = this.#view.resourceSets(typeUrl);
    if (sets === undefined) return undefined;
    const known = this.#stacks.get(typeUrl);
    if (known?.sets === sets) return known.stack;
    const stack = stackSets(sets);
    this.#stacks.set(typeUrl, { sets, stack });
    return stack;
  }

  /** These may have joined the route configurations that the client subscribes to, or have left them. */
  routesChanged(routes: NameSet, ...changed: readonly NameSet[]): void {
    for (const names of changed) this.#hosts.look(names, routes);
  }

  /** The view has other virtual hosts now, though its revision stays. */
  hostsAnswered(): void {
    this.#hostsRevision = undefined;
  }

  /** The virtual hosts of the route configurations that the client subscribes to. */
  virtualHosts(routes: NameSet): SetStack {
    if (this.#hostsRevision !== this.#view.revision) this.#hosts.lookAtAll(routes);
    this.#hostsRevision = this.#view.revision;
    return this.#hosts.stack;
  }
}
