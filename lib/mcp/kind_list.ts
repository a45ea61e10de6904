/**
 * The objects of one kind from another control plane. Each whole list is compared with the last list.
 *
 * @module
 */
import { errorMessage } from "../kernel/text/error_message.ts";
import type { KindWireType } from "./wire_types.ts";
import type { Finding } from "../finding/finding.ts";
import { parseObject } from "../config/object.ts";
import type { StoreChanges } from "../config/store.ts";
import type { ConfigObject } from "../config/types.ts";
import type { Any } from "../pb/codec.ts";
import { readWireObject, wireName, type WireObject } from "./kind_codec.ts";

/** The changes of a kind between two lists. */
export interface ListedKind extends StoreChanges {
  /** Some reasons why parts of the list could not be read as messages. The last version of such an object stays. */
  readonly refused: readonly string[];
}

/** An object as received. */
interface KnownObject {
  readonly bytes: Uint8Array;
  readonly key: string | undefined;
  readonly findings: readonly Finding[];
}

/** Most objects in a step, for a step of about a millisecond. */
const READ_AT_ONCE = 20;

/** Most reasons of a refused list. */
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

  /** Whether the present version of an object is refused, so that its last good version is in force. */
  isStale({ key, meta: { namespace, name }, origin }: ConfigObject): boolean {
    if (origin.from !== "api" || origin.source !== this.#source) return false;
    const known = this.#known.get(`${namespace}/${name}`);
    return known?.key === key && known.findings.some(({ severity }) => severity === "error");
  }

  /** The findings about the objects. */
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
        refused.push(errorMessage(error));
        if (name === "") isNameless = true;
        else if (before !== undefined) now.set(name, before);
      }
    }
    const removed: string[] = [];
    for (const [name, known] of this.#known) {
      if (now.has(name)) continue;
      // The resource without a readable name may be any of the known objects.
      if (isNameless) now.set(name, known);
      else if (known.key !== undefined) removed.push(known.key);
    }
    this.#known = now;
    return { upserted, removed, refused: refused.slice(0, MOST_NAMED) };
  }

  #read({ namespace, name, created, labels, annotations, spec }: WireObject, bytes: Uint8Array, before?: KnownObject) {
    const { apiVersion, istioKind: kind } = this.#type;
    const date = created === undefined ? {} : { creationTimestamp: new Date(created).toISOString() };
    const tree = { apiVersion, kind, metadata: { namespace, name, labels, annotations, ...date }, spec };
    const origin = { from: "api", source: this.#source, uid: "" } as const;
    const { object, findings } = parseObject(tree, origin, { defaultNamespace: "default" });
    // Copied, so that the response's buffer need not live as long as one object. Refused objects keep their last good
    // version.
    const known: KnownObject = { bytes: bytes.slice(), key: object?.key ?? before?.key, findings };
    return { object, known };
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
