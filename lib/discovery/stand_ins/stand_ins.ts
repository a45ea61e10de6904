/**
 * Replacements ("stand-ins") for resources of one proxy that the proxy rejects and that patches of ProxyFilters
 * changed.
 *
 *     rejected version ──is still the newest?──yes──> its stand-in
 *                                            └─no───> the newest, with all patches
 *
 * The version that the proxy accepted last stays. A proxy without an accepted version gets the resource without the
 * fewest ProxyFilters that explain the rejection. A filter that may refuse requests is never left out: if such a filter
 * has to go, the proxy gets a resource that lets nothing in. Only the rejecting proxy gets stand-ins. Configurations of
 * extensions have no stand-in: an HTTP filter without its configuration denies. A rejection is forgotten when its
 * resource goes.
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

/** Types of resources with stand-ins. */
const TYPES: ReadonlySet<string> = new Set([CLUSTER, LISTENER, ROUTE, VIRTUAL_HOST]);

/** Most stand-ins of a proxy: more rejections are not single mistakes. */
const MAX_REPLACED = 1000;

type Sets = readonly ResourceSet[];

/** The surroundings of a proxy's stand-ins. */
export interface StandInParts {
  readonly state: ProxyState;
  readonly translator: () => Translator;
  /** The push in which an object last changed. */
  readonly changedIn: (key: string) => number;
  /** Has the sets of a type looked at again. */
  readonly answered: (typeUrl: string) => void;
  /** Reports that a stand-in could not be built. */
  readonly failed: (error: unknown) => void;
}

/** The stand-ins of one proxy. Costs nothing until the proxy rejects a resource. */
export class StandIns {
  readonly #parts: StandInParts;
  readonly #variants: Variants;
  readonly #rejected = new Map<string, RejectedResource>();
  /** Earlier rejections of resources whose rejected version is gone. */
  readonly #before = new Map<string, RejectedResource>();
  readonly #shared = new SharedBlame();
  #withheld: ReadonlyMap<string, string> | undefined;
  #working: Promise<void> | undefined;
  #hasWork = false;
  #closed = false;
  /**
   * Sets with stand-ins, by type or route configuration. An answer holds while its input and the revision stay the
   * same.
   */
  readonly #answers = new Map<string, { of: Sets; revision: number; sets: Sets }>();
  #revision = 0;

  constructor(parts: StandInParts) {
    this.#parts = parts;
    this.#variants = new Variants(parts.state, parts.translator);
  }

  /** The objects that the proxy goes without, with the proxy's words. An undecided object has no words. */
  get withheld(): ReadonlyMap<string, string> {
    if (this.#withheld !== undefined) return this.#withheld;
    const found = new Map<string, string>();
    for (const one of this.#rejected.values()) {
      for (const [key, words] of one.withheld()) if (!found.get(key)) found.set(key, words);
    }
    return this.#withheld = found;
  }

  /**
   * Takes a rejection of resources.
   *
   * @param earlier The proxy's version of a resource.
   * @param whole All resources of the response. Default: the rejected resources.
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

  /**
   * Whether an unnamed resource may be treated as rejected: the proxy keeps its version, or gets the resource without a
   * filter.
   */
  #mayGo({ typeUrl, causes }: EncodedResource, earlier: EarlierVersion): boolean {
    if (earlier !== undefined) return true;
    const mesh = this.#parts.translator().meshOf(this.#parts.state);
    return suspects(mesh, typeUrl, patchingFilters(causes), "", this.#parts.changedIn).harmless.length > 0;
  }

  /** Takes an accepted response. @param has The proxy's version of a resource of the type. */
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
      suspects: suspects(translator().meshOf(this.#parts.state), resource.typeUrl, filters, message, changedIn),
      hasEarlier: earlier !== undefined && before?.row.standIn !== "closed",
      isOld: before?.leftOut !== undefined || (typeof earlier === "object" && hasOtherCauses(earlier, resource)),
      plainBefore: before?.plain,
      withoutBefore: before?.leftOut ?? [],
    });
    this.#rejected.set(key, one);
    return one;
  }

  /** Builds needed resources until nothing is needed. After an exception, the next rejection tries again. */
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

  /** @returns the types with changed stand-ins */
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
        // The resource may have been rejected again, or may be gone, since the build began.
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

  /** Sets of a type, with stand-ins in place of rejected resources. */
  sets(typeUrl: string, sets: Sets | undefined): Sets | undefined {
    return sets && this.#replaced(typeUrl, typeUrl, sets);
  }

  /** The virtual hosts of a route configuration, with stand-ins. */
  virtualHosts(routes: string, sets: Sets): Sets {
    // Nothing is kept for a route configuration that does not exist: a client may make up any number of names.
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

  /** Another version exists, and is tried with all patches. The known facts help if that version is rejected, too. */
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
   * Whether the proxy no longer has a resource, after a look at all sets of a type. A virtual host may be in the sets
   * of another route configuration, and is gone only with its own route configuration.
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

/** Whether two versions of a resource were made by different objects other than ProxyFilters. */
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

/**
 * The texts before each slash of a name. One of them is the route configuration of a virtual host; both names may have
 * slashes.
 */
function beginnings(name: string): string[] {
  const parts = name.split("/");
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join("/"));
}
