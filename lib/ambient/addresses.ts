/**
 * Addresses in the form of node tunnels: the bytes of an IP address, with the network of the address.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import type { istio } from "../../proto/gen/types.ts";
import { isIp, virtualAddress } from "../registry/address.ts";

type NetworkAddress = istio.workload.NetworkAddress;

/** An address for tunnels: a workload or a service. */
export interface AddressResource {
  readonly name: string;
  /** `NETWORK/IP` for each address by which tunnels ask. */
  readonly aliases: readonly string[];
  readonly message: istio.workload.Address;
  /** Keys of the objects of configuration behind the resource. Default: none. */
  readonly causes?: readonly string[];
  /** Of a service: whether other networks reach the service. Default false. */
  readonly isGlobal?: boolean;
}

/** The 4 or 16 bytes of an IP address. */
export function addressBytes(ip: string): Uint8Array {
  return Uint8Array.from(ipaddr.parse(ip).toByteArray());
}

/** The addresses among texts, in one spelling, each once. */
export function ipsOf(texts: readonly string[]): string[] {
  return [...new Set(texts.filter(isIp).map((text) => virtualAddress(text)!))];
}

/** An IP address in a network. @param network Empty: the default network. */
export function networkAddress(ip: string, network: string): NetworkAddress {
  return { ...network === "" ? {} : { network }, address: addressBytes(ip) };
}

/** An address of a service: an IP address, or a range (`10.0.0.0/8`). Undefined: neither. */
export function serviceAddress(text: string, network: string): NetworkAddress | undefined {
  const address = virtualAddress(text);
  if (address === undefined) return undefined;
  const [ip = "", bits] = address.split("/");
  return { ...networkAddress(ip, network), ...bits === undefined ? {} : { length: Number(bits) } };
}

/** The name by which tunnels ask for an address. @param network Empty: the default network. */
export function addressAlias(network: string, bytes: Uint8Array): string {
  return `${network}/${ipaddr.fromByteArray([...bytes]).toString()}`;
}

/** Begin of the names of the workloads that stand for gateways into other networks. */
export const GATEWAY_NAME = "NetworkGateway/";
