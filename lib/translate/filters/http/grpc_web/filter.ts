/**
 * Turns gRPC-Web requests of browsers into gRPC.
 *
 * @module
 */
import type { envoy } from "../../../../../proto/gen/types.ts";
import { any } from "../../../../pb/codec.ts";

/** `envoy.filters.http.grpc_web`. */
export function grpcWebFilter(): envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter {
  return {
    name: "envoy.filters.http.grpc_web",
    typed_config: any("envoy.extensions.filters.http.grpc_web.v3.GrpcWeb"),
  };
}
