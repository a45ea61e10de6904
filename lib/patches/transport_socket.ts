/**
 * Transport sockets in patches: one of the same name has its configuration merged, nothing else of the patch counts then.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { mergedAny } from "../pb/merge.ts";
import type { Any } from "../pb/codec.ts";

export type TransportSocket = envoy.config.core.v3.TransportSocket;

/** A transport socket with the configuration of another of its name merged into its own. */
export function mergedSocket(into: TransportSocket, from: TransportSocket): TransportSocket {
  const { typed_config: own } = into;
  const { typed_config: other } = from;
  return own && other ? { ...into, typed_config: mergedAny(own as Any, other as Any) } : into;
}
