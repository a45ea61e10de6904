/**
 * Listeners of gRPC servers. The requirements of a port are encoded once and reused for each listener name and address.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { encode } from "../../pb/codec.ts";
import { type EncodedResource, encodeResource } from "../../resource/encoded.ts";
import type { Built } from "../message/built.ts";
import { TYPE } from "./encode.ts";

const LISTENER = "envoy.config.listener.v3.Listener";

/** The requirements of one port, encoded. */
export interface EncodedPort {
  readonly port: number;
  /** A listener with nothing but the chain. */
  readonly chain: Uint8Array;
  readonly causes: readonly string[];
}

/** Encodes the filter chain of a port. */
export function encodePort(
  { port, message, causes }: Built<envoy.config.listener.v3.FilterChain> & { readonly port: number },
): EncodedPort {
  return { port, chain: encode(LISTENER, { filter_chains: [message] }), causes };
}

/** The listener of a port at an address: encoded messages concatenate. */
export function encodeServerListener(
  name: string,
  address: string,
  { port, chain, causes }: EncodedPort,
): EncodedResource {
  const head = encode(LISTENER, { name, address: { socket_address: { address, port_value: port } } });
  const value = new Uint8Array(head.length + chain.length);
  value.set(head);
  value.set(chain, head.length);
  return encodeResource(TYPE.listener, name, value, { causes });
}
