/**
 * What stands in for resources that one proxy rejects and that patches of ProxyFilters changed.
 *
 *     rejected version ──is still the newest?──yes──> its stand-in
 *                                            └─no───> the newest, with all patches
 *
 * The version that the proxy has taken last stays. A proxy that has none gets the resource without the fewest ProxyFilters
 * that explain the rejection, never without one that may refuse requests: where such a one has to go, the proxy gets a
 * resource that lets nothing in. Only the proxy that rejects is served so. Configurations of extensions have no stand-in:
 * a filter without one denies. A rejection is forgotten when its resource goes.
 *
 * @module
 */
import { sameItems } from "../../incremental/same_items.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";
import { closedResource } from "../../translate/patches/closed.ts";
import { patchingFilters } from "../../translate/patches/rejected.ts";
import type { ProxyState } from "../../translate/machine/per_proxy/proxy_state.ts";
import type { Translator } from "../../translate/machine/translator.ts";
import { type EarlierVersion, NO_OTHERS, type RejectionAnswer } from "../../xds/protocol/source.ts";
import { CLUSTER, LISTENER, ROUTE, VIRTUAL_HOST } from "../../xds/protocol/types.ts";
import { RejectedResource } from "./rejected_resource.ts";
import { SharedBlame } from "./shared_blame.ts";
import { suspects } from "./suspects.ts";
import { Variants } from "./variants.ts";

/** Types of which others stand in for resources. */
const TYPES: ReadonlySet<string> = new Set([CLUSTER, LISTENER, ROUTE, VIRTUAL_HOST]);

/** Resources of a proxy that others stand in for: more are no single mistake. */
const MAX_REPLACED = 1000;

type Sets = readonly ResourceSet[];

/** The surroundings of the stand-ins of one proxy. */
export interface StandInParts {
  readonly state: ProxyState;
  readonly translator: () => Translator;
  /** The push in which an object last changed. */
  readonly changedIn: (key: string) => number;
  /** Has the sets of a type looked at again. */
  readonly answered: (typeUrl: string) => void;
  /** Reports that no stand-in could be built. */
  readonly failed: (error: unknown) => void;
}

/** See the module. Nothing until the proxy rejects something. */
export class StandIns {
  readonly #parts: StandInParts;
  readonly #variants: Variants;
  readonly #rejected = new Map<string, RejectedResource>();
  /** Of a resource whose rejected version is gone: what was known of it. */
  readonly #before = new Map<string, RejectedResource>();
  readonly #shared = new SharedBlame();
  #withheld: ReadonlyMap<string, string> | undefined;
  #working: Promise<void> | undefined;
  #hasWork = false;
  #closed = false;
  /** By the sets that they stand for: the same answer while these and the revision stay. */
  readonly #answers = new Map<string, { of: Sets; revision: number; sets: Sets }>();
  #revision = 0;

  constructor(parts: StandInParts) {
    this.#parts = parts;
    this.#variants = new Variants(parts.state, parts.translator);
  }

  /** The objects that the proxy goes without, with its words; without words where that is not decided. */
  get withheld(): ReadonlyMap<string, string> {
    if (this.#withheld !== undefined) return this.#withheld;
    const found = new Map<string, string>();
    for (const one of this.#rejected.values()) {
      for (const [key, words] of one.withheld()) if (!found.get(key)) found.set(key, words);
    }
    return this.#withheld = found;
  }

  /**
   * The proxy rejects these resources.
   *
   * @param earlier What the proxy has of a resource.
   * @param whole All resources of the response. Default: those that are rejected
   */
  rejected(
    typeUrl: string,
    resources: readonly EncodedResource[],
    message: string,
    earlier: (name: string) => EarlierVersion,
    whole: readonly EncodedResource[] = resources,
  ): RejectionAnswer {
    if (!TYPES.has(typeUrl)) return NO_OTHERS;
    const mayGo = (resource: EncodedResource) => this.#mayGo(resource, earlier(resource.name));
    const also = this.#shared.others(typeUrl, resources, whole, mayGo);
    let isOpen = false;
    for (const resource of [...resources, ...also]) {
      const key = `${typeUrl} ${resource.name}`;
      let one = this.#rejected.get(key);
      if (one?.awaits === resource.version) one.answered(false);
      else if (one?.version !== resource.version) one = this.#begin(key, resource, message, earlier(resource.name));
      isOpen ||= one?.isOpen === true;
    }
    this.#changed();
    if (isOpen) this.#work();
    return { isOpen, also };
  }

  /** Whether a resource may be treated as rejected that was not named: its proxy keeps it, or gets it without a filter. */
  #mayGo({ typeUrl, causes }: EncodedResource, earlier: EarlierVersion): boolean {
    if (earlier !== undefined) return true;
    const { mesh } = this.#parts.translator();
    return suspects(mesh, typeUrl, patchingFilters(causes), "", this.#parts.changedIn).harmless.length > 0;
  }

  /** The proxy has taken a response. @param has A resource of the type as the proxy has it. */
  accepted(typeUrl: string, has: (name: string) => EncodedResource | undefined): void {
    this.#shared.end(typeUrl);
    if (this.#rejected.size === 0) return;
    for (const [key, one] of this.#rejected) {
      if (one.typeUrl !== typeUrl) continue;
      const version = has(one.name)?.version;
      if (version === undefined) continue;
      if (version === one.awaits) one.answered(true);
      else if (version === one.version) this.#forget(key);
    }
    this.#changed();
    if (this.#rejected.values().some(({ need }) => need !== undefined)) this.#work();
  }

  #begin(
    key: string,
    resource: EncodedResource,
    message: string,
    earlier: EarlierVersion,
  ): RejectedResource | undefined {
    const filters = patchingFilters(resource.causes);
    if (filters.length === 0 || this.#rejected.size >= MAX_REPLACED) return undefined;
    const { changedIn, translator } = this.#parts;
    const before = this.#before.get(key);
    this.#before.delete(key);
    const one = new RejectedResource(resource, message, {
      suspects: suspects(translator().mesh, resource.typeUrl, filters, message, changedIn),
      hasEarlier: earlier !== undefined && before?.row.standIn !== "closed",
      isOld: before?.leftOut !== undefined || (typeof earlier === "object" && hasOtherCauses(earlier, resource)),
      plainBefore: before?.plain,
      withoutBefore: before?.leftOut ?? [],
    });
    this.#rejected.set(key, one);
    return one;
  }

  /** Builds what is needed next, until nothing is. Where that throws, the next rejection tries again. */
  #work(): void {
    this.#hasWork = true;
    this.#working ??= this.#workOn().catch((error) => {
      for (const [key, { isOpen }] of this.#rejected) if (isOpen) this.#forget(key);
      if (!this.#closed) this.#parts.failed(error);
      this.#changed();
    }).finally(() => {
      this.#working = undefined;
      if (this.#hasWork && !this.#closed) this.#work();
    });
  }

  async #workOn(): Promise<void> {
    while (this.#hasWork && !this.#closed) {
      this.#hasWork = false;
      const types = await this.#workThrough();
      this.#variants.keepOnly([...this.#rejected.values()].flatMap(({ uses }) => uses));
      this.#changed();
      for (const typeUrl of types) if (!this.#closed) this.#parts.answered(typeUrl);
    }
  }

  /** @returns the types of which there are other stand-ins */
  async #workThrough(): Promise<ReadonlySet<string>> {
    const types = new Set<string>();
    for (let isDone = false; !isDone && !this.#closed;) {
      isDone = true;
      for (const one of this.#rejected.values()) {
        const { need } = one;
        if (need === undefined) continue;
        isDone = false;
        const without = need.is === "without" ? need.without : undefined;
        if (this.#variants.get(without) === undefined) await this.#variants.build(without);
        if (this.#closed) return types;
        const variant = this.#variants.get(without);
        // Meanwhile it may have been rejected again, or have gone.
        if (variant === undefined || one.need?.is !== need.is) continue;
        const plain = resourceOf(variant, one);
        if (need.is === "plain") one.compare(plain?.version);
        else if (need.is === "closed") one.close(closedResource(plain, one.causes));
        else one.offer(plain);
        types.add(one.typeUrl);
      }
    }
    return types;
  }

  /** Sets of a type with the stand-ins in place of what the proxy rejects. */
  sets(typeUrl: string, sets: Sets | undefined): Sets | undefined {
    return sets && this.#replaced(typeUrl, typeUrl, sets);
  }

  /** The same of the virtual hosts of a route configuration. */
  virtualHosts(routes: string, sets: Sets): Sets {
    // Of a route configuration that does not exist nothing is kept: a client makes up any number of names.
    if (sets.every((set) => set.size === 0)) return sets;
    return this.#replaced(VIRTUAL_HOST, `${VIRTUAL_HOST} ${routes}`, sets);
  }

  #replaced(typeUrl: string, key: string, of: Sets): Sets {
    if (this.#rejected.size === 0) return of;
    const known = this.#answers.get(key);
    if (known?.revision === this.#revision && sameItems(known.of, of)) return known.sets;
    const sets = this.#replace(typeUrl, of);
    this.#answers.set(key, { of, revision: this.#revision, sets });
    return sets;
  }

  #replace(typeUrl: string, of: Sets): Sets {
    const replaced = new Map<string, EncodedResource | undefined>();
    for (const [key, one] of this.#rejected) {
      const now = one.typeUrl === typeUrl ? found(of, one.name) : undefined;
      if (now?.version === one.version) {
        if (one.shown !== undefined) replaced.set(one.name, one.shown === "absent" ? undefined : one.shown);
      } else if (now !== undefined) this.#remember(key, one);
      else if (this.#isGone(one.typeUrl, one.name, typeUrl)) this.#forget(key);
    }
    if (replaced.size === 0) return of;
    return of.map((set) => {
      const names = [...replaced.keys()].filter((name) => set.has(name));
      return names.length === 0 ? set : set.with(names.flatMap((name) => replaced.get(name) ?? []), names);
    });
  }

  /** There is another version, which is tried with all patches; what is known helps if it is rejected, too. */
  #remember(key: string, one: RejectedResource): void {
    this.#forget(key);
    if (this.#before.size < MAX_REPLACED) this.#before.set(key, one);
  }

  #forget(key: string): void {
    if (!this.#rejected.delete(key)) return;
    this.#parts.state.rejectedPatches.delete(key);
    this.#withheld = undefined;
  }

  #changed(): void {
    this.#revision++;
    this.#withheld = undefined;
    for (const [key, one] of this.#rejected) this.#parts.state.rejectedPatches.set(key, one.row);
  }

  /**
   * Whether the proxy has no such resource any more, as far as a look at all sets of a type tells: a virtual host may be in
   * those of another route configuration, and goes with its own.
   */
  #isGone(type: string, name: string, looked: string): boolean {
    if (type !== VIRTUAL_HOST) return type === looked;
    if (looked !== VIRTUAL_HOST && looked !== ROUTE) return false;
    const { state } = this.#parts;
    const routes = state.resourceSets(ROUTE) ?? [];
    return !beginnings(name).some((route) =>
      found(routes, route) !== undefined && found(state.virtualHosts(route), name) !== undefined
    );
  }

  /** The proxy is gone. */
  close(): void {
    this.#closed = true;
    this.#variants.close();
  }
}

/** Whether other objects than ProxyFilters made one of two versions of a resource. */
function hasOtherCauses(earlier: EncodedResource, now: EncodedResource): boolean {
  const others = ({ causes }: EncodedResource) =>
    causes.filter((key) => !key.startsWith("ProxyFilter/")).toSorted().join();
  return others(earlier) !== others(now);
}

function resourceOf(state: ProxyState, { typeUrl, name }: RejectedResource): EncodedResource | undefined {
  if (typeUrl !== VIRTUAL_HOST) return found(state.resourceSets(typeUrl) ?? [], name);
  for (const route of beginnings(name)) {
    const host = found(state.virtualHosts(route), name);
    if (host !== undefined) return host;
  }
  return undefined;
}

function found(sets: Sets, name: string): EncodedResource | undefined {
  return sets.findLast((set) => set.has(name))?.get(name);
}

/** The texts before each slash of a name: one is the route configuration of a virtual host. Both may have slashes. */
function beginnings(name: string): string[] {
  const parts = name.split("/");
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join("/"));
}
