/**
 * Clusters and load assignments of one class of proxies, kept up to date host by host.
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { BaseReader } from "../reader/read_record.ts";
import type { Unit, UnitCache } from "../reader/build_cache.ts";

type HostUnit = Unit<readonly EncodedResource[]>;

/** A set of resources made of one unit a host. */
export class HostResources {
  readonly #cache: UnitCache<readonly EncodedResource[]>;
  readonly #units: Map<string, HostUnit>;
  #set: ResourceSet;

  /** @param like Begins as a copy of another class's; the first update must look at all hosts of both. */
  constructor(cache: UnitCache<readonly EncodedResource[]>, empty: ResourceSet, like?: HostResources) {
    this.#cache = cache;
    this.#units = new Map(like?.units);
    this.#set = like?.set ?? empty;
  }

  /** The unit of each host. */
  get units(): ReadonlyMap<string, HostUnit> {
    return this.#units;
  }

  /** All resources now. The same object while none of them changed. */
  get set(): ResourceSet {
    return this.#set;
  }

  /**
   * Looks at some hosts again.
   *
   * @param exists Whether a host still has anything to translate here.
   * @param onUnit Told of each unit that is new to this class (for its questions about the proxy).
   * @param keeps Whether what there is stays where a builder throws; false where it is a copy of strangers'.
   */
  update(
    hosts: Iterable<string>,
    reader: BaseReader,
    exists: (host: string) => boolean,
    onUnit: (unit: HostUnit) => void,
    keeps = true,
  ): void {
    const upserts: EncodedResource[] = [];
    const removed: string[] = [];
    for (const host of hosts) {
      const old = this.#units.get(host);
      const unit = exists(host) ? this.#cache.get(host, reader) : undefined;
      if (unit) onUnit(unit);
      if (unit === old || (keeps && old && unit?.failed)) continue;
      for (const resource of old?.value ?? []) removed.push(resource.name);
      if (unit) {
        this.#units.set(host, unit);
        upserts.push(...unit.value);
      } else {
        this.#units.delete(host);
      }
    }
    this.#set = this.#set.with(upserts, removed);
  }
}
