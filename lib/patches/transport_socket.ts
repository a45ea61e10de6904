/**
 * Transport sockets in patches: for a socket of the same name, the configurations are merged, and the rest of the patch
 * has no effect.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { mergedAny } from "../pb/merge.ts";
import type { Any } from "../pb/codec.ts";

export type TransportSocket = envoy.config.core.v3.TransportSocket;

/** A transport socket, with the configuration of a socket of the same name merged in. */
export function mergedSocket(into: TransportSocket, from: TransportSocket): TransportSocket {
  const { typed_config: own } = into;
  const { typed_config: other } = from;
  return own && other ? { ...into, typed_config: mergedAny(own as Any, other as Any) } : into;
}
