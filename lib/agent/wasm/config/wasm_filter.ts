/**
 * Extension configurations (`envoy.config.core.v3.TypedExtensionConfig`) with a remote Wasm module: the module's
 * address, and the same configuration with a local file.
 *
 * Field numbers: envoy/extensions/wasm/v3/wasm.proto, envoy/config/core/v3/base.proto, http_uri.proto.
 *
 * @module
 */
import { MessageWriter } from "../../../grpc/message_writer.ts";
import { WireError } from "../../../resource/protowire.ts";
import type { ConfigMessage } from "./config_message.ts";
import { StructMessage } from "./struct_message.ts";
import { lastText, mergedField, setField } from "./wire_fields.ts";
import { WireMessage } from "./wire_message.ts";

/** Whether a cached module is fetched again. */
export type PullPolicy = "Always" | "IfNotPresent" | "UNSPECIFIED_POLICY";

/** A filter with a remote module. */
export interface RemoteWasmFilter {
  /** Name of the resource. */
  readonly name: string;
  readonly level: "http" | "network";
  /** Without the module, requests pass; false: requests are denied. */
  readonly failOpen: boolean;
  /** The address of the module; empty: the configuration names no address. */
  readonly url: string;
  /** SHA-256 digest in lower-case hex; empty: any module is accepted. */
  readonly sha256: string;
  /** Milliseconds for all attempts; undefined: the configuration sets no timeout. */
  readonly timeout: number | undefined;
  readonly pullPolicy: PullPolicy;
  /** Credentials for the registry, a Docker configuration as JSON; undefined: none. */
  readonly pullSecret: string | undefined;
  /** Version of the object behind the configuration. */
  readonly resourceVersion: string;
  /** The resource with a local file in place of the remote module, and without the agent's variables. */
  withFile(path: string): Uint8Array;
}

/** Types of the filters, each with its level. */
const WASM_FILTERS: Readonly<Record<string, "http" | "network">> = {
  "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm": "http",
  "type.googleapis.com/envoy.extensions.filters.network.wasm.v3.Wasm": "network",
};

const TYPED_STRUCTS = ["udpa.type.v1.TypedStruct", "xds.type.v3.TypedStruct"].map((name) =>
  `type.googleapis.com/${name}`
);

const FIELD = {
  config: { name: "config", number: 1 },
  vm: { name: "vm_config", number: 3 },
  failOpen: { name: "fail_open", number: 5 },
  failurePolicy: { name: "failure_policy", number: 7 },
  code: { name: "code", number: 3 },
  variables: { name: "environment_variables", number: 7 },
  values: { name: "key_values", number: 2 },
  local: { name: "local", number: 1 },
  remote: { name: "remote", number: 2 },
  filename: { name: "filename", number: 1 },
  httpUri: { name: "http_uri", number: 1 },
  sha256: { name: "sha256", number: 2 },
  uri: { name: "uri", number: 1 },
  timeout: { name: "timeout", number: 3 },
} as const;

/** The names of `FailurePolicy`, in the order of their numbers. */
const FAILURE_POLICIES = ["UNSPECIFIED", "FAIL_RELOAD", "FAIL_CLOSED", "FAIL_OPEN"];

/** Names of variables for agents. Modules do not get these variables. */
const FOR_AGENTS = /^(?:ISTIO|MESH)_META_/;

/**
 * Reads a resource.
 *
 * @returns undefined when the resource has no remote module
 * @throws {WireError} when the bytes are not an extension configuration
 */
export function remoteWasmFilter(resource: Uint8Array): RemoteWasmFilter | undefined {
  const any = mergedField(resource, 2);
  if (any === undefined) throw new WireError("an extension configuration without typed_config");
  const name = lastText(resource, 1);
  const type = lastText(any, 1);
  const value = mergedField(any, 2) ?? new Uint8Array(0);
  const rebuilt = (content: Uint8Array) => setField(resource, 2, setField(any, 2, content));
  if (TYPED_STRUCTS.includes(type)) {
    const level = WASM_FILTERS[lastText(value, 1)];
    const structure = mergedField(value, 2);
    if (level === undefined || structure === undefined) return undefined;
    return remoteFilter(
      { name, level },
      new StructMessage(structure),
      ({ bytes }) => rebuilt(setField(value, 2, bytes)),
    );
  }
  const level = WASM_FILTERS[type];
  if (level === undefined) return undefined;
  return remoteFilter({ name, level }, new WireMessage(value), ({ bytes }) => rebuilt(bytes));
}

function remoteFilter(
  known: Pick<RemoteWasmFilter, "name" | "level">,
  filter: ConfigMessage,
  rebuilt: (filter: ConfigMessage) => Uint8Array,
): RemoteWasmFilter | undefined {
  const plugin = filter.child(FIELD.config);
  const vm = plugin?.child(FIELD.vm);
  const code = vm?.child(FIELD.code);
  if (plugin === undefined || vm === undefined || code?.oneOf([FIELD.local, FIELD.remote]) !== FIELD.remote) {
    return undefined;
  }
  const remote = code.child(FIELD.remote);
  const uri = remote?.child(FIELD.httpUri);
  const variables = vm.child(FIELD.variables)?.texts(FIELD.values) ?? new Map<string, string>();
  const variable = (name: string) =>
    variables.get(`ISTIO_META_WASM_${name}`) ?? variables.get(`MESH_META_WASM_${name}`);
  const sha256 = remote?.text(FIELD.sha256).toLowerCase() ?? "";
  return {
    ...known,
    failOpen: isFailOpen(plugin),
    url: uri?.text(FIELD.uri) ?? "",
    // Envoy requires a digest. Servers write "nil" if the user has given no digest.
    sha256: sha256 === "nil" ? "" : sha256,
    timeout: uri?.duration(FIELD.timeout),
    pullPolicy: pullPolicy(variable("IMAGE_PULL_POLICY")),
    pullSecret: variable("IMAGE_PULL_SECRET"),
    resourceVersion: variable("PLUGIN_RESOURCE_VERSION") ?? "",
    withFile: (path) => rebuilt(filter.with(FIELD.config, plugin.with(FIELD.vm, localVm(vm, path)))),
  };
}

function isFailOpen(plugin: ConfigMessage): boolean {
  const policy = FAILURE_POLICIES[plugin.choice(FIELD.failurePolicy, FAILURE_POLICIES)] ?? "UNSPECIFIED";
  return policy === "UNSPECIFIED" ? plugin.flag(FIELD.failOpen) : policy === "FAIL_OPEN";
}

function localVm(vm: ConfigMessage, path: string): ConfigMessage {
  const local = vm.with(FIELD.code, vm.ofChild(FIELD.local, vm.ofText(FIELD.filename, path)));
  const variables = vm.child(FIELD.variables);
  if (variables === undefined) return local;
  return local.with(FIELD.variables, variables.filterTexts(FIELD.values, (key) => !FOR_AGENTS.test(key)));
}

function pullPolicy(value: string | undefined): PullPolicy {
  return value === "Always" || value === "IfNotPresent" ? value : "UNSPECIFIED_POLICY";
}

/**
 * Types of the filters that replace a filter without its module, and the number of the field with the prefix of
 * statistics.
 */
const STAND_INS = {
  http: { type: "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC", prefix: 6 },
  network: { type: "type.googleapis.com/envoy.extensions.filters.network.rbac.v3.RBAC", prefix: 3 },
} as const;

/**
 * The filter that replaces a filter without its module. It allows everything or denies everything, by the filter's
 * `failOpen`.
 */
export function standInOf({ name, level, failOpen }: RemoteWasmFilter): Uint8Array {
  const { type, prefix } = STAND_INS[level];
  // RBAC without rules (field 1) allows everything; rules without a policy deny everything.
  const rules = failOpen ? undefined : new Uint8Array(0);
  const rbac = new MessageWriter().bytes(1, rules).string(
    prefix,
    failOpen ? "wasm-default-allow" : "wasm-default-deny",
  );
  const any = new MessageWriter().string(1, type).bytes(2, rbac.finish()).finish();
  return new MessageWriter().string(1, name).bytes(2, any).finish();
}
