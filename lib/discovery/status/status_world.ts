/**
 * The inputs of status: the objects of an API, and the facts about them.
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

/** The world whose objects get a status. */
export interface StatusWorld {
  readonly store: ConfigStore;
  /** Where an object is in the API; undefined: it is not there. */
  placeOf(object: ConfigObject): ObjectPlace | undefined;
  refused(): Iterable<RefusedKind>;
  changedIn(key: string): number | undefined;
  /** This version of an object has not been pushed yet. */
  isWaiting(object: ConfigObject): boolean;
  /** The connected proxies. */
  proxies(): Iterable<CountedProxy>;
  readonly ledger: PushLedger;
  /** The findings of the analysis and of translation. */
  findings(): Iterable<Finding>;
  /** The findings are not those of the last push yet. */
  readonly isBehind: boolean;
}

/** An object of the API that is in force. */
export interface ApiObject {
  readonly object: ConfigObject;
  readonly place: ObjectPlace;
  readonly uid: string;
}
