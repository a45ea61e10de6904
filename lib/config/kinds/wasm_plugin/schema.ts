/**
 * WasmPlugin: code inside the proxy.
 *
 * @module
 */
import { list, struct } from "../../schema/containers.ts";
import { keepZero, required, withDefault } from "../../schema/field.ts";
import { message, type Of } from "../../schema/message.ts";
import { enumOf, int32, string } from "../../schema/scalars.ts";
import { portSelector, targetReference, workloadSelector } from "../common/schema.ts";

const wasmEnvVar = message({
  /** Name of the variable. */
  name: required(string(), "the name of the variable"),
  /** Default INLINE; HOST reads the proxy's own environment. */
  valueFrom: withDefault(enumOf("INLINE", "HOST"), "INLINE"),
  /** Value of the variable. */
  value: string(),
});

/** Environment variable of the plugin. */
export interface WasmEnvVar extends Of<typeof wasmEnvVar> {}

const wasmTrafficSelector = message({
  /** Default UNDEFINED: as CLIENT_AND_SERVER. */
  mode: withDefault(enumOf("UNDEFINED", "CLIENT", "SERVER", "CLIENT_AND_SERVER"), "UNDEFINED"),
  /** Ports of the traffic; absent: all. */
  ports: list(portSelector),
});

/** The plugin's traffic. */
export interface WasmTrafficSelector extends Of<typeof wasmTrafficSelector> {}

export const wasmPlugin = message({
  /**
   * Workloads of the plugin: of its namespace, or of all namespaces if in the root namespace; absent: all workloads.
   */
  selector: workloadSelector,
  /** Deprecated single form of `targetRefs`. */
  targetRef: targetReference,
  /** Objects of the namespace that stand for the workloads instead of a selector. */
  targetRefs: list(targetReference),
  /** `oci://` (when no scheme is written), `http(s)://` or `file://`. */
  url: required(string(), "the URL of the module"),
  /** Hex digest of module or image; the digest of a file is not checked. */
  sha256: string(),
  /** Default UNSPECIFIED_POLICY: IfNotPresent, Always for `latest` and untagged images. */
  imagePullPolicy: withDefault(enumOf("UNSPECIFIED_POLICY", "IfNotPresent", "Always"), "UNSPECIFIED_POLICY"),
  /** Name of a secret of the namespace with the registry's credentials. */
  imagePullSecret: string(),
  /** Without effect: signatures are not checked. */
  verificationKey: string(),
  /** Configuration for the plugin. */
  pluginConfig: struct(),
  /** Name of the plugin in its module. */
  pluginName: string(),
  /** Default UNSPECIFIED_PHASE: at the end of the chain, before the router. */
  phase: withDefault(enumOf("UNSPECIFIED_PHASE", "AUTHN", "AUTHZ", "STATS"), "UNSPECIFIED_PHASE"),
  /** Higher runs first within a phase; absent: 0. */
  priority: keepZero(int32()),
  /** Default FAIL_CLOSE. */
  failStrategy: withDefault(enumOf("FAIL_CLOSE", "FAIL_OPEN", "FAIL_RELOAD"), "FAIL_CLOSE"),
  /** Settings of the plugin's virtual machine. */
  vmConfig: message({
    /** Variables of the virtual machine. */
    env: list(wasmEnvVar),
  }),
  /** The plugin's traffic; absent: all traffic. */
  match: list(wasmTrafficSelector),
  /** Default UNSPECIFIED_PLUGIN_TYPE: HTTP. */
  type: withDefault(enumOf("UNSPECIFIED_PLUGIN_TYPE", "HTTP", "NETWORK"), "UNSPECIFIED_PLUGIN_TYPE"),
});

/** Spec of a WasmPlugin. */
export interface WasmPluginSpec extends Of<typeof wasmPlugin> {}
