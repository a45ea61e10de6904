/**
 * A patch of a ProxyFilter, ready to be applied.
 *
 * @module
 */
import type { RE2JS } from "re2js";
import type { StringMap } from "../config/kinds/common/types.ts";
import type {
  ApplyTo,
  ClusterMatch,
  ConfigObjectMatch,
  ListenerMatch,
  PatchOperation,
  RouteConfigurationMatch,
} from "../config/kinds/proxy_filter/types.ts";
import type { ApiMessage } from "../pb/envoy_api.ts";

/** The side of a proxy that a part of its configuration belongs to. */
export type PatchContext = Exclude<ConfigObjectMatch["context"], "ANY">;

/** The targets of patches; `BOOTSTRAP` is none, since a proxy has it before it asks. */
export type PatchTarget = Exclude<ApplyTo, "INVALID" | "BOOTSTRAP">;

export interface CompiledPatch {
  /** Key of its ProxyFilter: `ProxyFilter/namespace/name`. */
  readonly filter: string;
  /** Position in `spec.configPatches`. */
  readonly index: number;
  readonly applyTo: PatchTarget;
  /** INSERT_* for a target without an order is ADD. */
  readonly operation: Exclude<PatchOperation, "INVALID">;
  readonly context: ConfigObjectMatch["context"];
  readonly listener?: ListenerMatch;
  readonly routeConfiguration?: RouteConfigurationMatch;
  readonly cluster?: ClusterMatch;
  /** Found in the proxy's version; absent: any. */
  readonly version?: RE2JS;
  /** Of the proxy's node, all of it. */
  readonly metadata?: StringMap;
  /** Empty for REMOVE. */
  readonly value: ApiMessage;
  /** Some field of the value is one that `encodeApi` alone writes: the encoders of builders lack it. */
  readonly needsApi: boolean;
  /**
   * Present: the patch may refuse requests and cannot be used as written. The value is one that every Envoy rejects, and
   * these are the words in it.
   */
  readonly unusable?: string;
  /** Hosts that its ProxyFilter says it refers to: gateways that get only the clusters that they need get those, too. */
  readonly services: readonly string[];
}

/** Outcome of a patch at one place. */
export interface PatchOutcome {
  readonly patch: CompiledPatch;
  /** Absent: it was applied. */
  readonly error?: string;
  /** The patch failed, may refuse requests, and what it matched is now something that every Envoy rejects. */
  readonly closes?: true;
  /** Keys of other objects that the error is about; absent: none. */
  readonly beside?: readonly string[];
  /** The sort of error; absent: the patch could not be applied. */
  readonly sort?: "listener-without-chains";
}

/** Hears of each place where a patch was applied, or failed. */
export type ReportPatch = (outcome: PatchOutcome) => void;

/** Whether a patch is for that side of a proxy. */
export function isFor(patch: CompiledPatch, context: PatchContext): boolean {
  return patch.context === "ANY" || patch.context === context;
}
