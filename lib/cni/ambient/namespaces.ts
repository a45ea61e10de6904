/**
 * Finds the network namespaces of pods that run already: by the pods' addresses, among the namespaces that the runtime
 * keeps in a folder. A process inside a namespace says nothing about whose the namespace is; addresses do.
 *
 * Permissions: read (the folder), and the permissions of the look.
 *
 * @module
 */
import { identityOf } from "../node/namespace_identity.ts";
import { canonical } from "../plugin/ownership.ts";
import type { Answers } from "../plugin/questions.ts";

/** A network namespace, by its path and its identity, `device:inode`. */
export interface NetworkNamespace {
  readonly netns: string;
  readonly identity: string;
}

/** What a look into a namespace shows. */
export interface NamespaceFacts {
  readonly addresses: ReadonlySet<string>;
  /** True for the node's own namespace. */
  readonly isNode: boolean;
  /** All that was read there. */
  readonly answers?: Answers;
}

/** A namespace that was found. */
export interface FoundNamespace extends NetworkNamespace {
  /** What was read there just now. Absent: it was read earlier. */
  readonly answers?: Answers | undefined;
}

/** Looks into namespaces, and resolves with facts by path. Those that cannot be entered are left out. */
export type LookInside = (places: readonly NetworkNamespace[]) => Promise<ReadonlyMap<string, NamespaceFacts>>;

/** Longest age of answers, milliseconds. A start reads all namespaces of the node before it compares the first. */
const FRESH_MS = 10_000;

/** Longest age of a list of the folder, milliseconds. */
const LISTED_MS = 100;

/** What was seen in a namespace, and when the look began. */
interface Seen {
  readonly facts: NamespaceFacts;
  readonly at: number;
}

/** A folder of namespaces, with what was seen in each. */
export class Namespaces {
  readonly #folder: string;
  readonly #look: LookInside;
  readonly #now: () => number;
  #looking: Promise<void> = Promise.resolve();
  #listed: { readonly places: readonly NetworkNamespace[]; readonly at: number } | undefined;
  /** By path and identity: addresses of a namespace seldom change, and a look costs processes. */
  readonly #seen = new Map<string, Seen>();

  /**
   * @param folder Such as `/var/run/netns`.
   * @param look Looks into namespaces.
   * @param now A clock that only goes forward, milliseconds.
   */
  constructor(folder: string, look: LookInside, now: () => number) {
    this.#folder = folder;
    this.#look = look;
    this.#now = now;
  }

  /**
   * The only namespace with all of the addresses. What was read there is given out once.
   * @throws {Error} With the reason, when there is none, or more than one.
   */
  async find(addresses: readonly string[]): Promise<FoundNamespace> {
    const wanted = addresses.map(canonical);
    if (wanted.length === 0) throw new Error("the pod has no address by which its network namespace could be found");
    const cached = await this.#among(wanted, this.#present());
    // The folder may have changed since it was listed, and a namespace may have been seen before its addresses came.
    const isSure = cached.length > 0 && cached.every((one) => identityOf(one.netns) === one.identity);
    const [only, ...more] = isSure ? cached : await this.#lookAgain(wanted);
    if (only !== undefined && more.length === 0) return { ...only, answers: this.#taken(only) };
    const which = only === undefined ? "no network namespace" : "more than one network namespace";
    throw new Error(`${which} in ${this.#folder} has the pod's addresses, ${wanted.join(", ")}`);
  }

  /** The answers of a namespace, if they are fresh. They are kept no longer. */
  #taken(place: NetworkNamespace): Answers | undefined {
    const seen = this.#seen.get(keyOf(place));
    if (seen?.facts.answers === undefined) return undefined;
    const { answers, ...facts } = seen.facts;
    this.#seen.set(keyOf(place), { ...seen, facts });
    return this.#now() - seen.at < FRESH_MS ? answers : undefined;
  }

  async #lookAgain(wanted: readonly string[]): Promise<NetworkNamespace[]> {
    this.#seen.clear();
    this.#listed = undefined;
    return await this.#among(wanted, this.#present());
  }

  /** The namespaces in the folder. Pods that are sought one after the other share a list: it costs a call for each. */
  #present(): readonly NetworkNamespace[] {
    const now = this.#now();
    if (this.#listed !== undefined && now - this.#listed.at < LISTED_MS) return this.#listed.places;
    const places = [...Deno.readDirSync(this.#folder)].flatMap(({ name }): NetworkNamespace[] => {
      const netns = `${this.#folder}/${name}`;
      const identity = identityOf(netns);
      return identity === undefined ? [] : [{ netns, identity }];
    });
    this.#listed = { places, at: now };
    return places;
  }

  async #among(wanted: readonly string[], present: readonly NetworkNamespace[]): Promise<NetworkNamespace[]> {
    const known = new Set(present.map(keyOf));
    for (const key of this.#seen.keys()) if (!known.has(key)) this.#seen.delete(key);
    await this.#lookAt(present.filter((one) => !this.#seen.has(keyOf(one))));
    return present.filter((one) => {
      const facts = this.#seen.get(keyOf(one))?.facts;
      return facts !== undefined && !facts.isNode && wanted.every((address) => facts.addresses.has(address));
    });
  }

  /** One look after the other: pods that are sought together share a look. */
  #lookAt(places: readonly NetworkNamespace[]): Promise<void> {
    const looked = this.#looking.then(async () => {
      const unseen = places.filter((one) => !this.#seen.has(keyOf(one)));
      const at = this.#now();
      const found = unseen.length === 0 ? undefined : await this.#look(unseen);
      for (const one of unseen) {
        const facts = found?.get(one.netns);
        if (facts !== undefined) this.#seen.set(keyOf(one), { facts, at });
      }
    });
    this.#looking = looked.catch(() => {});
    return looked;
  }
}

function keyOf({ netns, identity }: NetworkNamespace): string {
  return `${netns} ${identity}`;
}

/** The path of a runtime's namespace as this program sees it: the runtime refuses paths below /proc itself. */
export function pathHere(netns: string): string {
  return netns.startsWith("/proc/") ? `/host${netns}` : netns;
}
