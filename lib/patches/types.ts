/**
 * A patch of a ProxyFilter, ready to be applied.
 *
 * @module
 */
import type { RE2JS } from "re2js";
import type { StringMap } from "../config/schema/json.ts";
import type {
  ApplyTo,
  ClusterMatch,
  ConfigObjectMatch,
  ListenerMatch,
  PatchOperation,
  RouteConfigurationMatch,
} from "../config/kinds/proxy_filter/schema.ts";
import type { ApiMessage } from "../pb/envoy_api.ts";

/** The side of a proxy to which a part of its configuration belongs. */
export type PatchContext = Exclude<ConfigObjectMatch["context"], "ANY">;

/** The targets of patches. `BOOTSTRAP` is not a target, because a proxy has its bootstrap before it connects. */
export type PatchTarget = Exclude<ApplyTo, "INVALID" | "BOOTSTRAP">;

export interface CompiledPatch {
  /** Key of the ProxyFilter: `ProxyFilter/namespace/name`. */
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
  /** Must be found in the proxy's version. Absent: any version. */
  readonly version?: RE2JS;
  /** Must all be in the proxy's node metadata. */
  readonly metadata?: StringMap;
  /** Empty for REMOVE. */
  readonly value: ApiMessage;
  /** The value has a field that only `encodeApi` can write, because the builders' encoders lack the field. */
  readonly needsApi: boolean;
  /**
   * Set if the patch may refuse requests and cannot be used as written. The value is a message that every Envoy
   * rejects, with this text inside.
   */
  readonly unusable?: string;
  /**
   * Hosts that the ProxyFilter declares as referenced. Gateways with a limited set of clusters get their clusters, too.
   */
  readonly services: readonly string[];
}

/** Outcome of a patch at one place. */
export interface PatchOutcome {
  readonly patch: CompiledPatch;
  /** Absent: the patch was applied. */
  readonly error?: string;
  /** The patch failed and may refuse requests, so its target is now a message that every Envoy rejects. */
  readonly closes?: true;
  /** Keys of other objects concerned by the error. Absent: none. */
  readonly beside?: readonly string[];
  /** The sort of error; absent: the patch could not be applied. */
  readonly sort?: "listener-without-chains";
}

/** Receives each place where a patch was applied, or failed. */
export type ReportPatch = (outcome: PatchOutcome) => void;

/** Whether a patch applies to a side of a proxy. */
export function isFor(patch: CompiledPatch, context: PatchContext): boolean {
  return patch.context === "ANY" || patch.context === context;
}
