/**
 * Whether the gRPC library for Node accepts a resource: the library's own checks of received resources.
 *
 * Permissions: env (its switches), read (the package's protobuf files).
 *
 * @module
 */
import type { EncodedResource } from "../../../lib/resource/encoded.ts";

// In this version the check of RBAC filters is off by default.
Deno.env.set("GRPC_XDS_EXPERIMENTAL_RBAC", "true");

interface Verdict {
  readonly error?: string;
}

interface ResourceType {
  decode(context: object, resource: { readonly type_url: string; readonly value: Uint8Array }): Verdict;
}

const { register } = await import("@grpc/grpc-js-xds");
register();
const folder = new URL("build/src/xds-resource-type/", import.meta.resolve("@grpc/grpc-js-xds/package.json"));

async function typeOf(file: string, name: string): Promise<ResourceType> {
  const found: Record<string, { get(): ResourceType }> = await import(new URL(`${file}-resource-type.js`, folder).href);
  return found[`${name}ResourceType`]!.get();
}

const TYPES: ReadonlyMap<string, ResourceType> = new Map([
  ["Cluster", await typeOf("cluster", "Cluster")],
  ["ClusterLoadAssignment", await typeOf("endpoint", "Endpoint")],
  ["Listener", await typeOf("listener", "Listener")],
  ["RouteConfiguration", await typeOf("route-config", "RouteConfiguration")],
]);

const context = { server: {}, bootstrap: { certificateProviders: { default: {} } } };

/** Why the library refuses the resource. Undefined when accepted. */
export function refusal({ typeUrl, value }: EncodedResource): string | undefined {
  return TYPES.get(typeUrl.slice(typeUrl.lastIndexOf(".") + 1))!.decode(context, { type_url: typeUrl, value }).error;
}
