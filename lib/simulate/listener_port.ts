/**
 * The ports of a listener, read without decoding it.
 *
 * @module
 */
import protobuf from "protobufjs/minimal.js";
import type { envoy } from "../../proto/gen/types.ts";
import { decode } from "../pb/reflect.ts";

type Address = envoy.config.core.v3.Address;
type AdditionalAddress = envoy.config.listener.v3.AdditionalAddress;

/** Fields of `Listener`. */
const FIELD = { name: 1, address: 2, useOriginalDst: 4, internalListener: 27, additionalAddresses: 33 } as const;

/** Names of the listeners that connections are redirected to. */
const VIRTUAL = /^virtual(?:In|Out)bound$/;

/**
 * Whether a listener may take connections to a port: one of its addresses has it, or connections are redirected to it, or
 * handed to it by another listener.
 */
export function mayListen(bytes: Uint8Array, port: number): boolean {
  const reader = protobuf.Reader.create(bytes);
  const isOf = (address: Address | undefined) => (address?.socket_address?.port_value ?? 0) === port;
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    switch (tag >>> 3) {
      case FIELD.name:
        if (VIRTUAL.test(reader.string())) return true;
        break;
      case FIELD.address:
        if (isOf(decode<Address>("envoy.config.core.v3.Address", reader.bytes()))) return true;
        break;
      case FIELD.useOriginalDst:
      case FIELD.internalListener:
        return true;
      case FIELD.additionalAddresses: {
        const more = decode<AdditionalAddress>("envoy.config.listener.v3.AdditionalAddress", reader.bytes());
        if (isOf(more.address)) return true;
        break;
      }
      default:
        reader.skipType(tag & 7);
    }
  }
  return false;
}
