/**
 * Classes of proxies: the proxies of a class share all results, except per-proxy results.
 *
 * Results of a kind (clusters, endpoints, listeners, routes) are shared more widely than by class: by all proxies with
 * the same view and the same answers to the queries of the results. A class is a combination of such groups.
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

/** The shared resources of a type. The same object until a set changes. */
export interface ClassSets {
  readonly sets: readonly ResourceSet[];
  /** Further resources, unless another resource has the same name. */
  readonly added: readonly ResourceSet[];
}

/** The sets of a type, with the number of the look. */
interface LookedUpSets {
  readonly look: number;
  readonly of: ClassSets;
}

export class ProxyClass {
  readonly #kept = new Map<string, LookedUpSets>();
  #look = 0;
  #failing: boolean | undefined;

  constructor(
    readonly type: ProxyType,
    readonly scope: Scope,
    /** By kind of result, in the order of the rows. */
    readonly groups: ReadonlyMap<string, SharedGroup>,
  ) {}

  /** The group of a kind of result. Undefined: the proxies of the class have no such group. */
  group<K extends keyof Results>(kind: K): GroupOf<Results[K]> | undefined {
    return this.groups.get(kind) as GroupOf<Results[K]> | undefined;
  }

  /** Call it after the groups looked up their results. */
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

  /** Whether a builder threw when the results were last looked up. The builder's earlier results stay in force. */
  get failing(): boolean {
    return this.#failing ??= this.groups.values().some(({ failing }) => failing);
  }
}

/** Whether the sets of a type are equal in two classes, or in two looks. */
export function sameSets(a: ClassSets, b: ClassSets): boolean {
  return a === b || sameItems(a.sets, b.sets) && sameItems(a.added, b.added);
}
