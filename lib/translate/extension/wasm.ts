/**
 * The extension configuration of a WasmPlugin, in the form of Istio's servers: agents that fetch modules read and
 * remove the `ISTIO_META_WASM_*` variables.
 *
 * A proxy that cannot run the module gets the filter that agents use while a module is missing. The filter denies or
 * admits everything, by the plugin's failure strategy. So no listener waits forever.
 *
 * Fields: envoy/extensions/wasm/v3/wasm.proto.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { WasmPluginSpec } from "../../config/kinds/wasm_plugin/schema.ts";
import { pluginResource, type WasmPlugin } from "../../mesh/wasm_plugins.ts";
import { type Any, any } from "../../pb/codec.ts";
import { duration } from "../../pb/wellknown.ts";
import { hasExtension } from "../filters/extension.ts";
import { WASM_FILTER } from "../filters/wasm.ts";
import type { Built } from "../message/built.ts";
import type { Reader } from "../reader/reader.ts";

/** An extension configuration. */
export interface BuiltExtension extends Built<envoy.config.core.v3.TypedExtensionConfig> {
  /**
   * `kubernetes://NAMESPACE/NAME`: the secret that the agent needs to fetch the module. In the message the secret is
   * empty.
   */
  readonly pullSecret?: string;
}

/** Variables of the Wasm machine for agents. */
export const PULL_SECRET = "ISTIO_META_WASM_IMAGE_PULL_SECRET";
const PULL_POLICY = "ISTIO_META_WASM_IMAGE_PULL_POLICY";
const RESOURCE_VERSION = "ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION";

const RUNTIME = "envoy.wasm.runtime.v8";
const FILE = "file://";
/** Time limit for all attempts of the agent, ms. */
const FETCH_TIMEOUT_MS = 30_000;

/** `envoy.extensions.wasm.v3.FailurePolicy`. */
const FAILURE_POLICY = { FAIL_RELOAD: 1, FAIL_CLOSE: 2, FAIL_OPEN: 3 } as const;

/** The configuration for a proxy. */
export function wasmExtension(read: Reader, plugin: WasmPlugin): BuiltExtension {
  const { spec, key } = plugin;
  const level = spec.type === "NETWORK" ? "network" : "http";
  const name = pluginResource(plugin);
  const why = whyNotRun(read, spec, level);
  if (why !== undefined) {
    const effect = spec.failStrategy === "FAIL_OPEN" ? "everything passes without the module" : "everything is denied";
    const typed_config = standIn(spec, level);
    return { message: { name, typed_config }, causes: [key], warnings: [{ cause: key, text: `${why}: ${effect}` }] };
  }
  const config = { config: pluginConfig(plugin) };
  const pullSecret = isFile(spec.url) ? undefined : pullSecretOf(plugin);
  return {
    message: { name, typed_config: any(`envoy.extensions.filters.${level}.wasm.v3.Wasm`, config) },
    causes: [key],
    ...(pullSecret === undefined ? {} : { pullSecret }),
  };
}

function whyNotRun(read: Reader, { url }: WasmPluginSpec, level: "http" | "network"): string | undefined {
  const lacking = [WASM_FILTER[level], RUNTIME].find((name) => !hasExtension(read, name));
  if (lacking !== undefined) return `the proxy's build lacks ${lacking}`;
  if (!isFile(url) && !read.property("fetchesModules")) return "the proxy has no agent that fetches the module";
}

/** RBAC rules without a policy deny everything. Without rules everything passes. */
function standIn({ failStrategy }: WasmPluginSpec, level: "http" | "network"): Any {
  return any(`envoy.extensions.filters.${level}.rbac.v3.RBAC`, {
    ...(failStrategy === "FAIL_OPEN" ? {} : { rules: {} }),
    ...(level === "network" ? { stat_prefix: "wasm" } : {}),
  });
}

function pluginConfig(plugin: WasmPlugin): object {
  const { spec, meta } = plugin;
  return {
    name: `${meta.namespace}.${meta.name}`,
    root_id: spec.pluginName ?? "",
    vm_config: {
      runtime: RUNTIME,
      code: moduleCode(spec),
      environment_variables: variables(plugin),
    },
    ...(Object.keys(spec.pluginConfig ?? {}).length > 0
      ? { configuration: any("google.protobuf.StringValue", { value: JSON.stringify(spec.pluginConfig) }) }
      : {}),
    failure_policy: FAILURE_POLICY[spec.failStrategy],
  };
}

/** Envoy never fetches the module: the agent substitutes a file, so the cluster need not exist. */
function moduleCode({ url, sha256 = "" }: WasmPluginSpec): envoy.config.core.v3.AsyncDataSource {
  if (isFile(url)) return { local: { filename: url.slice(FILE.length) } };
  const [scheme = "oci://"] = /^[a-z0-9+.-]+:\/\//i.exec(url) ?? [];
  const uri = `${scheme.toLowerCase()}${url.slice(url.startsWith(scheme) ? scheme.length : 0)}`;
  return { remote: { http_uri: { uri, timeout: duration(FETCH_TIMEOUT_MS), cluster: "_" }, sha256 } };
}

/** The plugin's own variables cannot override the variables for agents. */
function variables(plugin: WasmPlugin): envoy.extensions.wasm.v3.EnvironmentVariables {
  const { spec: { vmConfig, url, imagePullPolicy, imagePullSecret }, hash } = plugin;
  const env = vmConfig?.env ?? [];
  const own = env.filter(({ valueFrom }) => valueFrom === "INLINE").map(({ name, value = "" }) => [name, value]);
  const forAgent = isFile(url) ? {} : {
    ...(imagePullSecret ? { [PULL_SECRET]: "" } : {}),
    ...(imagePullPolicy === "UNSPECIFIED_POLICY" ? {} : { [PULL_POLICY]: imagePullPolicy }),
    [RESOURCE_VERSION]: hash,
  };
  return {
    host_env_keys: env.filter(({ valueFrom }) => valueFrom === "HOST").map(({ name }) => name),
    key_values: { ...Object.fromEntries(own), ...forAgent },
  };
}

/** A secret in the plugin's own namespace, even if the plugin writes another namespace before the name. */
function pullSecretOf({ spec: { imagePullSecret = "" }, meta }: WasmPlugin): string | undefined {
  const name = imagePullSecret.slice(imagePullSecret.lastIndexOf("/") + 1);
  return name === "" ? undefined : `kubernetes://${meta.namespace}/${name}`;
}

function isFile(url: string): boolean {
  return url.slice(0, FILE.length).toLowerCase() === FILE;
}
