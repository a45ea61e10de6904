/**
 * WasmPlugin: code that runs inside the proxy.
 *
 * @module
 */
import type { JsonObject, PolicyTargetReference, PortSelector, WorkloadSelector } from "../common/types.ts";

/** Spec of a WasmPlugin. */
export interface WasmPluginSpec {
  /** Workloads of the namespace that it is for, of all namespaces in the root namespace; absent: all of them. */
  readonly selector?: WorkloadSelector;
  /** Deprecated single form of `targetRefs`. */
  readonly targetRef?: PolicyTargetReference;
  /** Objects of the namespace that stand for the workloads instead of a selector. */
  readonly targetRefs?: readonly PolicyTargetReference[];
  /** `oci://` (when no scheme is written), `http(s)://` or `file://`. */
  readonly url: string;
  /** Hex digest of module or image; that of a file is not checked. */
  readonly sha256?: string;
  /** Default UNSPECIFIED_POLICY: IfNotPresent, Always for `latest` and untagged images. */
  readonly imagePullPolicy: "UNSPECIFIED_POLICY" | "IfNotPresent" | "Always";
  /** Name of a secret of the namespace with the registry's credentials. */
  readonly imagePullSecret?: string;
  /** Without effect: signatures are not checked. */
  readonly verificationKey?: string;
  /** Configuration that the plugin gets. */
  readonly pluginConfig?: JsonObject;
  /** Name of the plugin in its module. */
  readonly pluginName?: string;
  /** Default UNSPECIFIED_PHASE: at the end of the chain, before the router. */
  readonly phase: "UNSPECIFIED_PHASE" | "AUTHN" | "AUTHZ" | "STATS";
  /** Higher runs first within a phase; absent: 0. */
  readonly priority?: number;
  /** Default FAIL_CLOSE. */
  readonly failStrategy: "FAIL_CLOSE" | "FAIL_OPEN" | "FAIL_RELOAD";
  /** Settings of the virtual machine that runs it. */
  readonly vmConfig?: {
    /** Variables of the virtual machine. */
    readonly env?: readonly WasmEnvVar[];
  };
  /** Traffic that it sees; absent: all. */
  readonly match?: readonly WasmTrafficSelector[];
  /** Default UNSPECIFIED_PLUGIN_TYPE: HTTP. */
  readonly type: "UNSPECIFIED_PLUGIN_TYPE" | "HTTP" | "NETWORK";
}

/** Environment variable of the plugin. */
export interface WasmEnvVar {
  /** Name of the variable. */
  readonly name: string;
  /** Default INLINE; HOST reads the proxy's own environment. */
  readonly valueFrom: "INLINE" | "HOST";
  /** Its value. */
  readonly value?: string;
}

/** Traffic that passes the plugin. */
export interface WasmTrafficSelector {
  /** Default UNDEFINED: as CLIENT_AND_SERVER. */
  readonly mode: "UNDEFINED" | "CLIENT" | "SERVER" | "CLIENT_AND_SERVER";
  /** Ports of the traffic; absent: all. */
  readonly ports?: readonly PortSelector[];
}
