/**
 * The objects of one kind as another control plane has them: each whole list becomes its differences from the last one.
 *
 * @module
 */
import type { KindWireType } from "./wire_types.ts";
import type { Finding } from "../finding/finding.ts";
import { parseObject } from "../config/object.ts";
import type { StoreChanges } from "../config/store.ts";
import type { ConfigObject } from "../config/types.ts";
import type { Any } from "../pb/codec.ts";
import { readWireObject, wireName, type WireObject } from "./kind_codec.ts";

/** The changes that a list makes to a kind. */
export interface ListedKind extends StoreChanges {
  /** Why parts of the list could not be read as messages, at most some of them; the last version of such an object stays. */
  readonly refused: readonly string[];
}

/** An object as it came. */
interface KnownObject {
  readonly bytes: Uint8Array;
  readonly key: string | undefined;
  readonly findings: readonly Finding[];
}

/** Objects in one step: a millisecond or so. */
const READ_AT_ONCE = 20;

/** Refusals of one list that are named. */
const MOST_NAMED = 10;

export class KindList {
  readonly #type: KindWireType;
  readonly #source: string;
  /** By `namespace/name`. */
  #known = new Map<string, KnownObject>();

  /** @param source Name of the source in origins. */
  constructor(type: KindWireType, source: string) {
    this.#type = type;
    this.#source = source;
  }

  /** Whether an object is in force in its last good version only. */
  isStale({ key, meta: { namespace, name }, origin }: ConfigObject): boolean {
    if (origin.from !== "api" || origin.source !== this.#source) return false;
    const known = this.#known.get(`${namespace}/${name}`);
    return known?.key === key && known.findings.some(({ severity }) => severity === "error");
  }

  /** The findings about its objects. */
  *findings(): Generator<Finding> {
    for (const { findings } of this.#known.values()) yield* findings;
  }

  /** Takes a whole list, in steps between which the event loop may turn. */
  *take(list: readonly Partial<Any>[]): Generator<void, ListedKind> {
    const now = new Map<string, KnownObject>();
    const upserted: ConfigObject[] = [];
    const refused: string[] = [];
    let isNameless = false;
    let count = 0;
    for (const packed of list) {
      if (++count % READ_AT_ONCE === 0) yield;
      const name = wireName(packed);
      const before = this.#known.get(name);
      const bytes = packed.value ?? new Uint8Array();
      if (before !== undefined && isSame(before.bytes, bytes)) {
        now.set(name, before);
        continue;
      }
      try {
        const { object, known } = this.#read(readWireObject(this.#type, packed), bytes, before);
        now.set(name, known);
        if (object !== undefined) upserted.push(object);
      } catch (error) {
        refused.push(error instanceof Error ? error.message : String(error));
        if (name === "") isNameless = true;
        else if (before !== undefined) now.set(name, before);
      }
    }
    const removed: string[] = [];
    for (const [name, known] of this.#known) {
      if (now.has(name)) continue;
      // The nameless one may be any of those that were there.
      if (isNameless) now.set(name, known);
      else if (known.key !== undefined) removed.push(known.key);
    }
    this.#known = now;
    return { upserted, removed, refused: refused.slice(0, MOST_NAMED) };
  }

  #read({ namespace, name, created, labels, annotations, spec }: WireObject, bytes: Uint8Array, before?: KnownObject) {
    const { apiVersion, peersKind: kind } = this.#type;
    const date = created === undefined ? {} : { creationTimestamp: new Date(created).toISOString() };
    const tree = { apiVersion, kind, metadata: { namespace, name, labels, annotations, ...date }, spec };
    const origin = { from: "api", source: this.#source, uid: "" } as const;
    const { object, findings } = parseObject(tree, origin, { defaultNamespace: "default" });
    // The answer's buffer is not to live as long as one object of it. Refused objects keep their last good version.
    const known: KnownObject = { bytes: bytes.slice(), key: object?.key ?? before?.key, findings };
    return { object, known };
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
