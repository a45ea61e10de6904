/**
 * The inputs of status: the objects of an API, and their state.
 *
 * @module
 */
import type { Finding } from "../../finding/finding.ts";
import type { ConfigStore } from "../../config/store.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { ObjectPlace } from "../../orch/resources/objects.ts";
import type { PushLedger } from "../../xds/ledger.ts";
import type { RefusedKind } from "../sources/kind_feeds.ts";
import type { CountedProxy } from "./progress_rows.ts";

export interface StatusWorld {
  readonly store: ConfigStore;
  /** The place of an object in the API; undefined: the object is not in the API. */
  placeOf(object: ConfigObject): ObjectPlace | undefined;
  /** The objects of the API whose newest version is refused. */
  refused(): Iterable<RefusedKind>;
  /** The push in which an object last changed, by the object's key; undefined: no such object. */
  changedIn(key: string): number | undefined;
  /** Whether a version of an object has not been pushed yet. */
  isWaiting(object: ConfigObject): boolean;
  /** The connected proxies. */
  proxies(): Iterable<CountedProxy>;
  readonly ledger: PushLedger;
  /** The findings of the analysis and of translation. */
  findings(): Iterable<Finding>;
  /** Whether the findings are older than the last push. */
  readonly isBehind: boolean;
}

/** An object in the API that is in force. */
export interface ApiObject {
  readonly object: ConfigObject;
  readonly place: ObjectPlace;
  readonly uid: string;
}
