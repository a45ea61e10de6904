/**
 * The stream of a relay to the discovery server.
 *
 * Permissions: net (the server), read (tokens and certificates).
 *
 * @module
 */
import { ServerStream, type ServerStreamListener, type ServerStreamOptions } from "../../grpc/client/server_stream.ts";
import type { RelayVariant } from "./messages.ts";

/** A stream, open or about to be. */
export type Upstream = Pick<ServerStream, "send" | "close">;

/** Opens a stream of a variant. */
export type OpenUpstream = (variant: RelayVariant, listener: ServerStreamListener) => Upstream;

const METHODS: Readonly<Record<RelayVariant, string>> = {
  sotw: "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources",
  delta: "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
};

/** Opens streams to the server, each on a connection of its own. */
export function upstreamOpener(options: ServerStreamOptions): OpenUpstream {
  return (variant, listener) => new ServerStream(METHODS[variant], listener, options);
}
