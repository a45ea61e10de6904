/**
 * Whether gRPC's library for Node takes a resource: the checks by which it refuses what a server sends.
 *
 * Permissions: env (its switches), read (the package's protobuf files).
 *
 * @module
 */
import type { EncodedResource } from "../../../lib/resource/encoded.ts";

// The check of RBAC filters is off by default in this version.
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

/** Why it is refused; undefined: it is taken. */
export function refusal({ typeUrl, value }: EncodedResource): string | undefined {
  return TYPES.get(typeUrl.slice(typeUrl.lastIndexOf(".") + 1))!.decode(context, { type_url: typeUrl, value }).error;
}
