/**
 * Replaces resources that a proxy rejects and that patches of ProxyFilters changed: it gets the same ones without
 * patches.
 *
 *     rejected version ──is still the newest?──yes──> the resource without patches
 *                                            └─no───> the newest, with its patches
 *
 * Only the proxy that rejects does without them. Configurations of extensions are left out: a filter without one denies.
 * A rejection is forgotten when its resource goes.
 *
 * @module
 */
import { sameItems } from "../incremental/same_items.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import type { ResourceSet } from "../resource/set.ts";
import { patchingFilters } from "../translate/patches/rejected.ts";
import type { ProxyState } from "../translate/per_proxy/proxy_state.ts";
import { unpatched } from "../translate/proxy/unpatched.ts";
import type { Translator } from "../translate/translator.ts";
import { CLUSTER, LISTENER, ROUTE, VIRTUAL_HOST } from "../xds/protocol/types.ts";

/** Types of which resources without patches stand in for others. */
const TYPES: ReadonlySet<string> = new Set([CLUSTER, LISTENER, ROUTE, VIRTUAL_HOST]);

/** Resources of a proxy that are replaced at once: more are no single mistake. */
const MAX_REPLACED = 1000;

type Sets = readonly ResourceSet[];

/** Resources without patches for one proxy; nothing until it rejects something. */
export class UnpatchedResources {
  readonly #state: ProxyState;
  readonly #translator: () => Translator;
  readonly #answered: (typeUrl: string) => void;
  readonly #failed: (error: unknown) => void;
  #plain: ProxyState | undefined;
  #building: Promise<void> | undefined;
  #closed = false;
  /** By the sets that they stand for: the same answer while these stay. */
  readonly #answers = new Map<string, { of: Sets; plain: Sets; revision: number; sets: Sets }>();
  #revision = 0;

  /**
   * @param answered Has the sets of a type looked at again.
   * @param failed Reports that nothing could be built without patches.
   */
  constructor(
    state: ProxyState,
    translator: () => Translator,
    answered: (typeUrl: string) => void,
    failed: (error: unknown) => void,
  ) {
    this.#state = state;
    this.#translator = translator;
    this.#answered = answered;
    this.#failed = failed;
  }

  /** The proxy rejects these resources. */
  rejected(typeUrl: string, resources: readonly EncodedResource[], message: string): void {
    if (!TYPES.has(typeUrl)) return;
    const { rejectedPatches } = this.#state;
    const revision = this.#revision;
    for (const { name, version, causes } of resources) {
      const filters = patchingFilters(causes);
      if (filters.length === 0 || rejectedPatches.size >= MAX_REPLACED) continue;
      rejectedPatches.set(`${typeUrl} ${name}`, { typeUrl, name, version, filters, message });
      this.#revision++;
    }
    if (this.#revision === revision) return;
    const built = () => this.#closed || this.#answered(typeUrl);
    void (this.#building ??= this.#build()).then(built, (error) => {
      if (this.#building !== undefined) this.#failed(error);
      this.#building = undefined;
    });
  }

  /** In steps: others go on between. Where one throws, the proxy keeps its resources until its next rejection. */
  async #build(): Promise<void> {
    for (const _ of this.#translator().prepareUnpatched(this.#state.proxy)) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      if (this.#closed) return;
    }
    this.#plain = this.#translator().join(unpatched(this.#state.proxy));
  }

  /** Sets of a type with the resources without patches in place of those that the proxy rejects. */
  sets(typeUrl: string, sets: Sets | undefined): Sets | undefined {
    return sets && this.#replaced(typeUrl, typeUrl, sets, (plain) => plain.resourceSets(typeUrl) ?? []);
  }

  /** The same of the virtual hosts of a route configuration. */
  virtualHosts(routes: string, sets: Sets): Sets {
    // Of a route configuration that does not exist nothing is kept: a client makes up any number of names.
    if (sets.every((set) => set.size === 0)) return sets;
    return this.#replaced(VIRTUAL_HOST, `${VIRTUAL_HOST} ${routes}`, sets, (plain) => plain.virtualHosts(routes));
  }

  #replaced(typeUrl: string, key: string, of: Sets, plainSets: (plain: ProxyState) => Sets): Sets {
    if (this.#plain === undefined || this.#state.rejectedPatches.size === 0) return of;
    const plain = plainSets(this.#plain);
    const known = this.#answers.get(key);
    if (known?.revision === this.#revision && sameItems(known.of, of) && sameItems(known.plain, plain)) {
      return known.sets;
    }
    const sets = this.#replace(typeUrl, of, plain);
    this.#answers.set(key, { of, plain, revision: this.#revision, sets });
    return sets;
  }

  #replace(typeUrl: string, of: Sets, plain: Sets): Sets {
    const { rejectedPatches } = this.#state;
    const replaced = new Map<string, EncodedResource | undefined>();
    for (const [key, { typeUrl: type, name, version }] of rejectedPatches) {
      const now = type === typeUrl ? found(of, name) : undefined;
      if (now?.version === version) replaced.set(name, found(plain, name));
      else if (now !== undefined || this.#isGone(type, name, typeUrl)) rejectedPatches.delete(key);
    }
    if (replaced.size === 0) return of;
    return of.map((set) => {
      const names = [...replaced.keys()].filter((name) => set.has(name));
      return names.length === 0 ? set : set.with(names.flatMap((name) => replaced.get(name) ?? []), names);
    });
  }

  /**
   * Whether the proxy has no such resource any more, as far as a look at all sets of a type tells: a virtual host may be in
   * those of another route configuration, and goes with its own.
   */
  #isGone(type: string, name: string, looked: string): boolean {
    if (type !== VIRTUAL_HOST) return type === looked;
    if (looked !== VIRTUAL_HOST && looked !== ROUTE) return false;
    const routes = this.#state.resourceSets(ROUTE) ?? [];
    return !beginnings(name).some((route) =>
      found(routes, route) !== undefined && found(this.#state.virtualHosts(route), name) !== undefined
    );
  }

  /** The proxy is gone. */
  close(): void {
    this.#closed = true;
    if (this.#plain !== undefined) this.#translator().leave(this.#plain);
  }
}

function found(sets: Sets, name: string): EncodedResource | undefined {
  return sets.findLast((set) => set.has(name))?.get(name);
}

/** The texts before each slash of a name: one is the route configuration of a virtual host. Both may have slashes. */
function beginnings(name: string): string[] {
  const parts = name.split("/");
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join("/"));
}
