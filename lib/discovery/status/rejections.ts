/**
 * The present rejections of connected proxies, by the object that caused them.
 *
 * @module
 */
import type { RejectInfo } from "../../xds/ads/stream_types.ts";
import type { PushProgress, RejectionListener } from "../../xds/ledger.ts";

/** A rejection of resources that one object has made. */
interface ObjectRejection {
  readonly message: string;
  /** The latest push when it came: later changes were not rejected. */
  readonly push: number;
}

/** The rejections of one proxy for one type. */
interface TypeRejections {
  readonly byObject: Map<string, ObjectRejection>;
  /** A rejection of which nobody knows the cause: it may be about anything in that push and before. */
  unknown: ObjectRejection | undefined;
}

/** Objects that are remembered of one proxy and type: a hostile client names many. */
const MOST_OBJECTS = 1000;

/** Characters of a text that are kept. */
const MOST_TEXT = 500;

/** See the module. The rejections of a client are dropped when it leaves. */
export class PresentRejections implements RejectionListener {
  readonly #byProxy = new Map<PushProgress, Map<string, TypeRejections>>();
  /** Increases whenever anything here has changed. */
  revision = 0;

  rejected(by: PushProgress, { typeUrl, message, resources, causes }: RejectInfo, push: number): void {
    this.revision++;
    let types = this.#byProxy.get(by);
    if (types === undefined) this.#byProxy.set(by, types = new Map());
    let found = types.get(typeUrl);
    if (found === undefined) types.set(typeUrl, found = { byObject: new Map(), unknown: undefined });
    const rejection = { message: message.slice(0, MOST_TEXT), push };
    // A rejection that names resources explains an earlier one without names: the fault was in one of these.
    found.unknown = resources.length === 0 ? rejection : undefined;
    for (const key of causes.slice(0, MOST_OBJECTS)) found.byObject.set(key, rejection);
    for (const oldest of found.byObject.keys()) {
      if (found.byObject.size <= MOST_OBJECTS) break;
      found.byObject.delete(oldest);
    }
  }

  accepted(by: PushProgress, typeUrl: string): void {
    if (this.#byProxy.get(by)?.delete(typeUrl)) this.revision++;
  }

  left(by: PushProgress): void {
    if (this.#byProxy.delete(by)) this.revision++;
  }

  /**
   * The reason for which a proxy rejects resources of an object.
   *
   * @param changedIn The push of the object's last change.
   * @returns undefined: it does not, as far as is known; empty: it rejects something of that push, perhaps this
   */
  reason(by: PushProgress, key: string, changedIn: number): string | undefined {
    let perhaps: string | undefined;
    for (const { byObject, unknown } of this.#byProxy.get(by)?.values() ?? []) {
      const known = byObject.get(key);
      if (known !== undefined && known.push >= changedIn) return known.message;
      if (unknown !== undefined && unknown.push === changedIn) perhaps = "";
    }
    return perhaps;
  }
}
