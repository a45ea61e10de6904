/**
 * Schema of WasmPlugin.
 *
 * @module
 */
import { list, struct } from "../../schema/containers.ts";
import { type Field, keepZero, required, withDefault } from "../../schema/field.ts";
import { message, shape } from "../../schema/message.ts";
import { enumOf, int32, string } from "../../schema/scalars.ts";
import { portSelector, targetReference, workloadSelector } from "../common/schema.ts";
import type * as types from "./types.ts";

/** Schema of {@link types.WasmPluginSpec}. */
export const wasmPlugin: Field<types.WasmPluginSpec> = message<types.WasmPluginSpec>({
  selector: workloadSelector,
  targetRef: targetReference,
  targetRefs: list(targetReference),
  url: required(string(), "the URL of the module"),
  sha256: string(),
  imagePullPolicy: withDefault(enumOf("UNSPECIFIED_POLICY", "IfNotPresent", "Always"), "UNSPECIFIED_POLICY"),
  imagePullSecret: string(),
  verificationKey: string(),
  pluginConfig: struct(),
  pluginName: string(),
  phase: withDefault(enumOf("UNSPECIFIED_PHASE", "AUTHN", "AUTHZ", "STATS"), "UNSPECIFIED_PHASE"),
  priority: keepZero(int32()),
  failStrategy: withDefault(enumOf("FAIL_CLOSE", "FAIL_OPEN", "FAIL_RELOAD"), "FAIL_CLOSE"),
  vmConfig: shape({
    env: list(message<types.WasmEnvVar>({
      name: required(string(), "the name of the variable"),
      valueFrom: withDefault(enumOf("INLINE", "HOST"), "INLINE"),
      value: string(),
    })),
  }),
  match: list(message<types.WasmTrafficSelector>({
    mode: withDefault(enumOf("UNDEFINED", "CLIENT", "SERVER", "CLIENT_AND_SERVER"), "UNDEFINED"),
    ports: list(portSelector),
  })),
  type: withDefault(enumOf("UNSPECIFIED_PLUGIN_TYPE", "HTTP", "NETWORK"), "UNSPECIFIED_PLUGIN_TYPE"),
});
