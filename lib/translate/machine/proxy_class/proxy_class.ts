/**
 * Classes of proxies: all proxies of a class share every result that is not per proxy.
 *
 * Results of one kind (clusters, endpoints, listeners, routes) are shared more widely than by class: by all proxies of
 * one view that answer alike the queries of that kind's results. A class is one combination of such groups.
 *
 * @module
 */
import { sameItems } from "../../../incremental/same_items.ts";
import type { Scope } from "../../../mesh/scope.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import type { ProxyType } from "../../reader/proxy_profile.ts";
import type { ResultRow } from "../results/row.ts";
import type { Results } from "../results/table.ts";
import type { SharedGroup } from "./group.ts";
import type { HostResources } from "./host_resources.ts";
import type { OutboundListeners } from "./listeners.ts";
import type { OutboundRoutes } from "./routes.ts";
import type { SoleResult } from "./sole_result.ts";

/** The group of a row's results, by the form of the group. */
export type GroupOf<R> = R extends ResultRow<infer T, infer _, infer G>
  ? G extends { readonly form: "set" } ? HostResources
  : G extends { readonly form: "sole" } ? SoleResult<T>
  : G extends { readonly form: "listeners" } ? OutboundListeners
  : G extends { readonly form: "routes" } ? OutboundRoutes
  : never
  : never;

/** The shared resources of one type. The same object while none of the sets changed. */
export interface ClassSets {
  readonly sets: readonly ResourceSet[];
  /** Resources that a proxy gets too, unless another resource has the name. */
  readonly added: readonly ResourceSet[];
}

/** The sets of one type, and the look at results after which they were put together. */
interface KeptSets {
  readonly look: number;
  readonly of: ClassSets;
}

/** A class of proxies. */
export class ProxyClass {
  readonly #kept = new Map<string, KeptSets>();
  #look = 0;
  #failing: boolean | undefined;

  constructor(
    readonly type: ProxyType,
    readonly scope: Scope,
    /** By kind of result, in the order of the rows. */
    readonly groups: ReadonlyMap<string, SharedGroup>,
  ) {}

  /** The group of one kind of result. Undefined: proxies of the class have none. */
  group<K extends keyof Results>(kind: K): GroupOf<Results[K]> | undefined {
    return this.groups.get(kind) as GroupOf<Results[K]> | undefined;
  }

  /** To be called after the groups looked at their results. */
  looked(): void {
    this.#look++;
    this.#failing = undefined;
  }

  /** The shared resources of a type, put together once a look for all proxies of the class. */
  sets(typeUrl: string): ClassSets {
    const kept = this.#kept.get(typeUrl);
    if (kept?.look === this.#look) return kept.of;
    const now = this.#setsNow(typeUrl);
    const of = kept !== undefined && sameSets(kept.of, now) ? kept.of : now;
    this.#kept.set(typeUrl, { look: this.#look, of });
    return of;
  }

  #setsNow(typeUrl: string): ClassSets {
    const sets: ResourceSet[] = [];
    const added: ResourceSet[] = [];
    for (const group of this.groups.values()) {
      const [set, more] = [group.sets[typeUrl], group.added?.[typeUrl]];
      if (set !== undefined) sets.push(set);
      if (more !== undefined && more.size > 0) added.push(more);
    }
    return { sets, added };
  }

  /** A builder threw when results were last looked at: the results before stay in force. */
  get failing(): boolean {
    return this.#failing ??= this.groups.values().some(({ failing }) => failing);
  }
}

/** Whether two classes, or two looks at one, have the same sets of a type. */
export function sameSets(a: ClassSets, b: ClassSets): boolean {
  return a === b || sameItems(a.sets, b.sets) && sameItems(a.added, b.added);
}
