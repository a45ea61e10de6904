/**
 * The types of one stream, in the order of sending.
 *
 * @module
 */
import type { InternedNames } from "../../resource/names.ts";
import { Code } from "../../grpc/codes.ts";
import { RpcError } from "../../grpc/status.ts";
import { isKnownType, MAX_UNKNOWN_TYPES, typeRules } from "../protocol/types.ts";
import { Watch } from "./watch.ts";

/** Memory for the names of one stream's subscriptions, in bytes: 140,000 names of the usual length. */
const MAX_NAME_BYTES = 16 * 1024 * 1024;

/** Watches by type URL. */
export class Watches {
  readonly #byType = new Map<string, Watch>();
  /** In the order of sending. */
  readonly order: Watch[] = [];
  #unknown = 0;

  /** Number of types. */
  get size(): number {
    return this.#byType.size;
  }

  /** The watch of a type. */
  get(typeUrl: string): Watch | undefined {
    return this.#byType.get(typeUrl);
  }

  /** All watches, in the order of the client's first requests. */
  values(): Iterable<Watch> {
    return this.#byType.values();
  }

  /** Something of some type may have to be sent. */
  get dirty(): boolean {
    // Loops without a function: every stream asks this in each push.
    for (const watch of this.order) if (watch.dirty) return true;
    return false;
  }

  /** The client has acknowledged all resources of every type. */
  get clean(): boolean {
    for (const watch of this.order) if (!watch.clean) return false;
    return true;
  }

  /**
   * Watches one more type. Undefined: the client asks for too many types.
   *
   * @param byName see `ProxyView.byName`
   * @param isChosen see `ProxyView.choosesItself`
   */
  add(
    typeUrl: string,
    delta: boolean,
    names: InternedNames,
    byName = false,
    isChosen?: () => boolean,
  ): Watch | undefined {
    if (!isKnownType(typeUrl) && ++this.#unknown > MAX_UNKNOWN_TYPES) return undefined;
    const watch = new Watch(typeUrl, typeRules(typeUrl), delta, names, byName, isChosen);
    this.#byType.set(typeUrl, watch);
    const at = this.order.findLastIndex((other) => other.rules.rank <= watch.rules.rank);
    this.order.splice(at + 1, 0, watch);
    return watch;
  }

  /** @throws RpcError RESOURCE_EXHAUSTED when the client subscribes to too much */
  checkSize(): void {
    let bytes = 0;
    for (const watch of this.order) bytes += watch.nameBytes;
    if (bytes <= MAX_NAME_BYTES) return;
    throw new RpcError(
      Code.RESOURCE_EXHAUSTED,
      `the names that this stream subscribes to take more than ${MAX_NAME_BYTES >> 20} MiB`,
    );
  }
}
