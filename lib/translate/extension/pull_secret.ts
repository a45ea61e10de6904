/**
 * Secrets of registries in extension configurations.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { any, encode, TYPE_URL_PREFIX } from "../../pb/codec.ts";
import { decode } from "../../pb/reflect.ts";
import { type EncodedResource, encodeResource } from "../../resource/encoded.ts";
import { PULL_SECRET } from "./wasm.ts";

type WasmFilter = envoy.extensions.filters.http.wasm.v3.Wasm;

const EXTENSION = "envoy.config.core.v3.TypedExtensionConfig";

/**
 * The configuration of a WasmPlugin with a secret for its agent.
 *
 * @param dockerConfig `.dockerconfigjson` of the secret.
 */
export function withPullSecret(resource: EncodedResource, dockerConfig: Uint8Array): EncodedResource {
  const { name, causes, typeUrl, value } = resource;
  const extension = decode<envoy.config.core.v3.TypedExtensionConfig>(EXTENSION, value);
  const type = extension.typed_config!.type_url!.slice(TYPE_URL_PREFIX.length);
  const filter = decode<WasmFilter>(type, extension.typed_config!.value as Uint8Array);
  const { config } = filter;
  const variables = config?.vm_config?.environment_variables;
  const key_values = { ...variables?.key_values, [PULL_SECRET]: new TextDecoder().decode(dockerConfig) };
  const vm_config = { ...config?.vm_config, environment_variables: { ...variables, key_values } };
  const message = { ...extension, typed_config: any(type, { ...filter, config: { ...config, vm_config } }) };
  return encodeResource(typeUrl, name, encode(EXTENSION, message), { causes });
}
