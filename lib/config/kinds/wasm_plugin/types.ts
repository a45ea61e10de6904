/**
 * WasmPlugin: code that runs inside the proxy.
 *
 * @module
 */
import type { JsonObject, PolicyTargetReference, PortSelector, WorkloadSelector } from "../common/types.ts";

/** Spec of a WasmPlugin. */
export interface WasmPluginSpec {
  readonly selector?: WorkloadSelector;
  /** Deprecated single form of `targetRefs`. */
  readonly targetRef?: PolicyTargetReference;
  readonly targetRefs?: readonly PolicyTargetReference[];
  /** `oci://` (when no scheme is written), `http(s)://` or `file://`. */
  readonly url: string;
  /** Hex digest of module or image. */
  readonly sha256?: string;
  /** Default UNSPECIFIED_POLICY: IfNotPresent, Always for `latest` and untagged images. */
  readonly imagePullPolicy: "UNSPECIFIED_POLICY" | "IfNotPresent" | "Always";
  readonly imagePullSecret?: string;
  /** Accepted, unused. */
  readonly verificationKey?: string;
  readonly pluginConfig?: JsonObject;
  readonly pluginName?: string;
  /** Default UNSPECIFIED_PHASE: at the end of the chain, before the router. */
  readonly phase: "UNSPECIFIED_PHASE" | "AUTHN" | "AUTHZ" | "STATS";
  /** Higher runs first within a phase; presence kept; absent: 0. */
  readonly priority?: number;
  /** Default FAIL_CLOSE. */
  readonly failStrategy: "FAIL_CLOSE" | "FAIL_OPEN" | "FAIL_RELOAD";
  readonly vmConfig?: { readonly env?: readonly WasmEnvVar[] };
  readonly match?: readonly WasmTrafficSelector[];
  /** Default UNSPECIFIED_PLUGIN_TYPE: HTTP. */
  readonly type: "UNSPECIFIED_PLUGIN_TYPE" | "HTTP" | "NETWORK";
}

/** Environment variable of the plugin. */
export interface WasmEnvVar {
  readonly name: string;
  /** Default INLINE; HOST reads the proxy's own environment. */
  readonly valueFrom: "INLINE" | "HOST";
  readonly value?: string;
}

/** Traffic that passes the plugin. */
export interface WasmTrafficSelector {
  /** Default UNDEFINED: as CLIENT_AND_SERVER. */
  readonly mode: "UNDEFINED" | "CLIENT" | "SERVER" | "CLIENT_AND_SERVER";
  readonly ports?: readonly PortSelector[];
}
