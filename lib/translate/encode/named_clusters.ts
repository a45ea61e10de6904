/**
 * The clusters of hosts that encoded resources name.
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";
import { TYPE } from "./encode.ts";
import { askedPlaces, type ByteRange } from "./asked_places.ts";

/** The names of clusters of hosts begin with it. */
const BEGIN = "outbound|";
const PREFIX = new TextEncoder().encode(BEGIN);

const ofResources = new WeakMap<EncodedResource, readonly string[]>();
const ofSets = new WeakMap<ResourceSet, ReadonlySet<string>>();

/** Whether a name is of the form of clusters of hosts. */
export function isHostCluster(name: string): boolean {
  return name.startsWith(BEGIN);
}

/** The clusters that the resources of a set name. Found once for a set, and once for a resource. */
export function clustersNamedIn(set: ResourceSet): ReadonlySet<string> {
  return ofSets.getOrInsertComputed(set, () => new Set([...set].flatMap(clustersNamedBy)));
}

/**
 * The clusters that a resource names anywhere, also in a message within a message. A text of a protobuf message stands
 * behind its length, so the names are found whole without descriptions of the messages. Scripts and the configuration of
 * modules name clusters within a text, where a name ends at the first character that names of clusters lack. Other texts
 * that equal the name of a cluster, such as prefixes of statistics, count as well: the cluster is then sent although
 * nothing needs it. Clusters for which a TCP proxy asks do not count.
 */
export function clustersNamedBy(resource: EncodedResource): readonly string[] {
  return ofResources.getOrInsertComputed(resource, ({ typeUrl, value }) => {
    return [...namesIn(value, typeUrl === TYPE.listener ? askedPlaces(value) : [])];
  });
}

/** @param passed Ranges without names, in the order of the bytes. A listener may have thousands. */
function namesIn(bytes: Uint8Array, passed: readonly ByteRange[]): Set<string> {
  const names = new Set<string>();
  const text = new TextDecoder();
  let range = 0;
  for (let at = nextPrefix(bytes, 0); at >= 0; at = nextPrefix(bytes, at + PREFIX.length)) {
    while (range < passed.length && passed[range]!.to <= at) range++;
    if (range < passed.length && passed[range]!.from <= at) continue;
    for (const length of [...lengthsBefore(bytes, at), lengthWithin(bytes, at)]) {
      if (length >= PREFIX.length && at + length <= bytes.length) {
        names.add(text.decode(bytes.subarray(at, at + length)));
      }
    }
  }
  return names;
}

function nextPrefix(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(PREFIX[0]!, from); at >= 0; at = bytes.indexOf(PREFIX[0]!, at + 1)) {
    if (PREFIX.every((byte, i) => bytes[at + i] === byte)) return at;
  }
  return -1;
}

/**
 * The lengths that the bytes before a text may say: one byte below 128, or two bytes of which the first is 128 or more.
 * The byte before a length of one byte is a tag, which may be 128 or more as well.
 */
function lengthsBefore(bytes: Uint8Array, at: number): number[] {
  const [first = 0, last = 0] = [bytes[at - 2], bytes[at - 1]];
  return first >= 128 ? [last, (first & 127) | last << 7] : [last];
}

/** Longest name of a cluster within a text. */
const MAX_LENGTH = 512;

/** Characters of the names of clusters: of hosts, subsets and ports. */
const CHARACTERS: ReadonlySet<number> = new Set(
  new TextEncoder().encode("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._|*"),
);

/** The length of a name within a text: up to the first other character. */
function lengthWithin(bytes: Uint8Array, at: number): number {
  let to = at + PREFIX.length;
  while (to < bytes.length && to - at < MAX_LENGTH && CHARACTERS.has(bytes[to]!)) to++;
  return to - at;
}
