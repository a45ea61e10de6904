/**
 * Typed parts of resources: packed configuration and metadata.
 *
 * @module
 */
import type { envoy, google } from "../../proto/gen/types.ts";
import { decode, knowsMessage } from "../pb/reflect.ts";
import { fromStruct } from "../pb/wellknown.ts";
import type { ProxyResources } from "./types.ts";

/** Full name of the message in an `Any`; empty when there is none. */
export function packedName(any: google.protobuf.Any | undefined): string {
  const url = any?.type_url ?? "";
  return url.slice(url.lastIndexOf("/") + 1);
}

/** The message in an `Any`; undefined for a message of another name, and for a name unknown to the descriptor. */
export function unpack<T>(any: google.protobuf.Any | undefined, name: string): T | undefined {
  if (packedName(any) !== name || !knowsMessage(name)) return undefined;
  return decode<T>(name, any?.value ?? new Uint8Array());
}

/** A filter with its configuration, inline or from an extension configuration by name. */
export interface ConfiguredFilter {
  readonly name?: string;
  readonly typed_config?: google.protobuf.Any;
  readonly config_discovery?: envoy.config.core.v3.ExtensionConfigSource;
}

/**
 * Filters with their extension configurations filled in. A filter without its extension configuration stays without a
 * configuration.
 */
export function configured(
  { extensions }: ProxyResources,
  filters: readonly ConfiguredFilter[],
): ConfiguredFilter[] {
  return filters.map((filter) => {
    const found = filter.config_discovery === undefined ? undefined : extensions.get(filter.name ?? "")?.typed_config;
    return found === undefined ? filter : { ...filter, typed_config: found };
  });
}

const STATE = "envoy.extensions.filters.network.set_filter_state.v3.Config";

/**
 * The text that a filter stores in the filter state under a key. For the TCP proxy this is the cluster, or the server
 * to resolve.
 */
export function stateOf(
  { typed_config }: ConfiguredFilter,
  key: "envoy.tcp_proxy.cluster" | "envoy.upstream.dynamic_host",
): string | undefined {
  const state = unpack<envoy.extensions.filters.network.set_filter_state.v3.Config>(typed_config, STATE);
  const named = state?.on_new_connection?.find(({ object_key }) => object_key === key);
  return named?.format_string?.text_format_source?.inline_string?.replaceAll("%%", "%");
}

/** The configuration objects behind a resource, if the server recorded them. Spread the result into a step. */
export function causesOf(
  resources: ProxyResources,
  kind: Parameters<NonNullable<ProxyResources["causesOf"]>>[0],
  name: string,
): { readonly causes?: readonly string[] } {
  const causes = resources.causesOf?.(kind, name) ?? [];
  return causes.length > 0 ? { causes } : {};
}

/** The object in the metadata of a resource, with a part of the object. */
export interface NamedCause {
  /** The object in the metadata (`filter_metadata.istio.config`). */
  readonly cause?: string;
  /** The rule of the object, positions from 0: `rule 2 match 0`. Absent: the metadata names no rule. */
  readonly part?: string;
}

/** The configuration object in the metadata of a resource. Spread the result into a step. */
export function causeOf(metadata: envoy.config.core.v3.Metadata | undefined): NamedCause {
  const { config, rule, match } = fromStruct(metadata?.filter_metadata?.istio);
  if (typeof config !== "string") return {};
  if (typeof rule !== "number") return { cause: config };
  return { cause: config, part: `rule ${rule}${typeof match === "number" ? ` match ${match}` : ""}` };
}

/** Whether a wrapped flag is present and false; encoders omit the `false` inside the wrapper. */
export function isFalse(flag: google.protobuf.BoolValue | undefined): boolean {
  return flag !== undefined && !flag.value;
}
