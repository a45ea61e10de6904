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

/** The message in an `Any` of that name; undefined when it is another, or unknown. */
export function unpack<T>(any: google.protobuf.Any | undefined, name: string): T | undefined {
  if (packedName(any) !== name || !knowsMessage(name)) return undefined;
  return decode<T>(name, any?.value ?? new Uint8Array());
}

/** The objects that made a resource, as the server knows; an object to spread into a step. */
export function causesOf(
  resources: ProxyResources,
  kind: Parameters<NonNullable<ProxyResources["causesOf"]>>[0],
  name: string,
): { readonly causes?: readonly string[] } {
  const causes = resources.causesOf?.(kind, name) ?? [];
  return causes.length > 0 ? { causes } : {};
}

/** The configuration object that caused a resource, as its metadata tells; an object to spread into a step. */
export function causeOf(metadata: envoy.config.core.v3.Metadata | undefined): { readonly cause?: string } {
  const config = fromStruct(metadata?.filter_metadata?.istio).config;
  return typeof config === "string" ? { cause: config } : {};
}

/** Whether a wrapped flag is told to be false; encoders leave the false inside out. */
export function isFalse(flag: google.protobuf.BoolValue | undefined): boolean {
  return flag !== undefined && !flag.value;
}
