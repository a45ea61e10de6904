/**
 * The resources that a client has rejected, read from the text of the rejection, and their versions.
 *
 * A client gives the reasons in free text, and quotes resource names there. The text is walked once, independent of the
 * number of resources: at each beginning of a word a hash grows letter by letter, and at each end of a word the hash is
 * looked up among the hashes of the names.
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { NameSet } from "../../resource/name_set.ts";
import { findInStack, mapStack, type SetStack } from "./set_stack.ts";

/** Names consist of these characters. In front of a quoted name stands another character. */
const BEFORE = characters("_.|-");
/** Behind a quoted name stands none of these characters. A full stop may stand there: the stop ends the sentence. */
const AFTER = characters("_|-");

function characters(signs: string): Uint8Array {
  const set = new Uint8Array(0x10000);
  for (const sign of `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${signs}`) {
    set[sign.charCodeAt(0)] = 1;
  }
  return set;
}

/** FNV-1a, 32 bit. `grow` makes the hash of a text from the hash of the text without its last UTF-16 unit. */
const SEED = 0x811c9dc5;
const grow = (hash: number, unit: number): number => Math.imul(hash ^ unit, 0x01000193);

/** The resources of a response that a rejection names. The only resource of a response needs no naming. */
export function rejectedResources(text: string, resources: readonly EncodedResource[]): readonly EncodedResource[] {
  return resources.length === 1 ? resources : namedIn(text, resources);
}

/** The resources whose names stand in a text as whole words. */
function namedIn(text: string, resources: readonly EncodedResource[]): EncodedResource[] {
  const byHash = new Map<number, EncodedResource[]>();
  const firsts = new Uint8Array(0x10000);
  // Most words end at a length that no name has, and cost no look-up.
  const lengths = new Uint8Array(text.length + 1);
  let longest = 0;
  for (const resource of resources) {
    const { name } = resource;
    if (name === "" || name.length > text.length) continue;
    let hash = SEED;
    for (let i = 0; i < name.length; i++) hash = grow(hash, name.charCodeAt(i));
    const same = byHash.get(hash);
    if (same === undefined) byHash.set(hash, [resource]);
    else same.push(resource);
    firsts[name.charCodeAt(0)] = 1;
    lengths[name.length] = 1;
    longest = Math.max(longest, name.length);
  }
  if (byHash.size === 0) return [];
  const found = new Set<EncodedResource>();
  const units = Uint16Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
  for (let start = 0; start < units.length; start++) {
    if (firsts[units[start]!] === 0 || (start > 0 && BEFORE[units[start - 1]!] === 1)) continue;
    const end = Math.min(units.length, start + longest);
    let hash = SEED;
    for (let at = start; at < end; at++) {
      hash = grow(hash, units[at]!);
      if (lengths[at - start + 1] === 0 || (at + 1 < units.length && AFTER[units[at + 1]!] === 1)) continue;
      for (const resource of byHash.get(hash) ?? []) if (text.startsWith(resource.name, start)) found.add(resource);
    }
  }
  return [...found];
}

/** Most resources of a type that are left out one by one after rejections. */
const MAX_REJECTED = 1000;

/** A version that a client has rejected. */
interface RejectedVersion {
  readonly resource: EncodedResource;
  /** The version that the client had taken before, if any. */
  readonly taken: EncodedResource | undefined;
  readonly message: string;
}

/**
 * Versions of resources that a client has rejected. A version is not sent again before the resource changes. The client
 * keeps the version that it had taken before, and gets that version where it asks for the resource again.
 */
export class RejectedVersions {
  readonly #versions = new Map<string, RejectedVersion>();
  /** Increases whenever a version is added. */
  revision = 0;

  /** Number of resources. */
  get size(): number {
    return this.#versions.size;
  }

  /**
   * Adds resources, unless the number of rejected resources would exceed {@linkcode MAX_REJECTED}.
   *
   * @param message The client's words.
   * @param sent The client's resources.
   */
  add(resources: readonly EncodedResource[], message: string, sent: SetStack): void {
    if (this.#versions.size + resources.length > MAX_REJECTED) return;
    for (const resource of resources) {
      const { name } = resource;
      const taken = findInStack(sent, name) ?? this.#versions.get(name)?.taken;
      this.#versions.set(name, { resource, taken, message });
    }
    this.revision++;
  }

  /** The client asks again for these resources: resources that the client has in no version are offered again. */
  askedAgain(names: NameSet): void {
    for (const [name, { resource: { aliases }, taken }] of this.#versions) {
      if (taken !== undefined || !(names.has(name) || aliases.some((alias) => names.has(alias)))) continue;
      this.#versions.delete(name);
      this.revision++;
    }
  }

  /** Forgets all versions, so that the resources are offered again. @returns whether there were any */
  clear(): boolean {
    if (this.#versions.size === 0) return false;
    this.#versions.clear();
    this.revision++;
    return true;
  }

  /** The client's words about a rejected resource; undefined: the client has not rejected the resource. */
  words(name: string): string | undefined {
    return this.#versions.get(name)?.message;
  }

  /**
   * The resources that a client should have, with the versions that the client had taken of the rejected resources.
   * Forgets versions that are no longer wanted.
   */
  leaveOut(want: SetStack): SetStack {
    for (const [name, { resource }] of this.#versions) {
      if (findInStack(want, name)?.version !== resource.version) this.#versions.delete(name);
    }
    if (this.#versions.size === 0) return want;
    return mapStack(want, (set) => {
      const names = [...this.#versions.keys()].filter((name) => set.has(name));
      if (names.length === 0) return set;
      const taken = names.map((name) => this.#versions.get(name)?.taken).filter((found) => found !== undefined);
      return set.with(taken, names);
    });
  }
}
