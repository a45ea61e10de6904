/**
 * The simulated proxies' knowledge of resources: read once per content, independent of the number of proxies.
 *
 * A resource of an incremental response has a version that is the hash of its content. So a known version needs no
 * second look, not even at its name.
 *
 * @module
 */
import { sameItems } from "../../../../lib/incremental/same_items.ts";
import { fieldSize, putField, putFieldHead, utf8Bytes, WireCursor } from "../../../../lib/resource/protowire.ts";
import { CLUSTER, LISTENER, ROUTE } from "../../../../lib/xds/protocol/types.ts";
import { anyValue, assignmentOf, routesOf, usesVhds } from "./response.ts";

/** A resource, or a requested name. */
export interface Known {
  readonly name: string;
  /** Names of referenced resources: the load assignment of a cluster, the route configurations of a listener. */
  readonly refers: readonly string[];
  /** A route configuration with VHDS. */
  readonly vhds: boolean;
  /** Further names of the resource: the questions that a virtual host answers. */
  readonly aliases: readonly string[];
  /** The entry of `initial_resource_versions` (field 5 of a `DeltaDiscoveryRequest`), for a reconnect. */
  readonly held: Uint8Array;
}

export class Knowledge {
  readonly #byVersion = new Map<number, Known[]>();
  readonly #subscriptions = new Map<string, Uint8Array>();

  /** A `Resource` of an incremental response. */
  read(typeUrl: string, resource: Uint8Array): Known {
    let name: Uint8Array | undefined;
    let version: Uint8Array | undefined;
    let any: Uint8Array | undefined;
    const aliases: Uint8Array[] = [];
    const cursor = new WireCursor(resource);
    while (cursor.next()) {
      if (cursor.field === 3) name = cursor.bytes();
      else if (cursor.field === 1) version = cursor.bytes();
      else if (cursor.field === 2) any = cursor.bytes();
      else if (cursor.field === 4) aliases.push(cursor.bytes());
      else cursor.skip();
    }
    if (!name || !version) throw new Error(`a resource of ${typeUrl} has no name or no version`);
    const key = hash(version);
    const names = aliases.map(latin1);
    const same = this.#byVersion.get(key)?.find((known) =>
      endsWith(known.held, version) && sameItems(known.aliases, names)
    );
    if (same) return same;
    const made = {
      ...{ name: latin1(name), aliases: names, held: heldEntry(name, version) },
      ...look(typeUrl, any && anyValue(any)),
    };
    const others = this.#byVersion.get(key);
    if (others) others.push(made);
    else this.#byVersion.set(key, [made]);
    return made;
  }

  /** A subscription to a name: field 3 of either request. */
  subscription(name: string): Uint8Array {
    let bytes = this.#subscriptions.get(name);
    if (!bytes) {
      const text = utf8Bytes(name);
      bytes = new Uint8Array(fieldSize(text.length));
      putField(bytes, 0, 3, text);
      this.#subscriptions.set(name, bytes);
    }
    return bytes;
  }
}

/** The references of a resource. */
export function look(typeUrl: string, value: Uint8Array | undefined): Pick<Known, "refers" | "vhds"> {
  if (!value) return { refers: [], vhds: false };
  if (typeUrl === CLUSTER) return { refers: [assignmentOf(value)].filter((n) => n !== undefined), vhds: false };
  if (typeUrl === LISTENER) return { refers: [...routesOf(value)], vhds: false };
  return { refers: [], vhds: typeUrl === ROUTE && usesVhds(value) };
}

/** Decodes ASCII bytes. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

function hash(bytes: Uint8Array): number {
  let h = 2166136261;
  for (let i = 0; i < bytes.length; i++) h = Math.imul(h ^ bytes[i]!, 16777619);
  return h;
}

function endsWith(bytes: Uint8Array, end: Uint8Array): boolean {
  const from = bytes.length - end.length;
  for (let i = 0; i < end.length; i++) if (bytes[from + i] !== end[i]) return false;
  return true;
}

/** Map entry: key = 1, value = 2. The version comes last. */
function heldEntry(name: Uint8Array, version: Uint8Array): Uint8Array {
  const entry = fieldSize(name.length) + fieldSize(version.length);
  const bytes = new Uint8Array(fieldSize(entry));
  let at = putFieldHead(bytes, 0, 5, entry);
  at = putField(bytes, at, 1, name);
  putField(bytes, at, 2, version);
  return bytes;
}
