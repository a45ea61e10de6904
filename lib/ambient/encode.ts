/**
 * Addresses of tunnels on the wire.
 *
 * @module
 */
import { encode, TYPE_URL_PREFIX } from "../pb/codec.ts";
import { type EncodedResource, encodeResource } from "../resource/encoded.ts";
import type { AddressResource } from "./addresses.ts";

const ADDRESS = "istio.workload.Address";

/** Type URL of addresses. */
export const ADDRESS_TYPE_URL = TYPE_URL_PREFIX + ADDRESS;

/** Type URL of bare workloads. */
export const WORKLOAD_TYPE_URL = `${TYPE_URL_PREFIX}istio.workload.Workload`;

/** Tag of `Address.workload`. */
const WORKLOAD_TAG = 0x0a;

/** The workload of an encoded address, as a resource of its own. Undefined: the address is a service. */
export function bareWorkload({ name, aliases, causes, value }: EncodedResource): EncodedResource | undefined {
  if (value[0] !== WORKLOAD_TAG) return undefined;
  // The field is the only one: behind the tag and the length are the bytes of the workload.
  let at = 1;
  while (value[at++]! >= 0x80);
  return encodeResource(WORKLOAD_TYPE_URL, name, value.subarray(at), { aliases, causes });
}

/** Encodes an address. Equal messages have equal bytes. */
export function encodeAddress({ name, aliases, message, causes = [] }: AddressResource): EncodedResource {
  const { workload, service } = message;
  const plain = workload === undefined ? { service: shortened(service!) } : { workload: shortened(workload) };
  return encodeResource(ADDRESS_TYPE_URL, name, encode(ADDRESS, plain), {
    ...aliases.length === 0 ? {} : { aliases },
    ...causes.length === 0 ? {} : { causes },
  });
}

/** A message without the fields that have their default: the encoder would write them. */
function shortened<T extends object>(message: T): T {
  // A loop: lists of entries took a third of the time for a workload.
  const kept: Partial<T> = {};
  for (const key in message) if (!isDefault(message[key])) kept[key] = message[key];
  return kept as T;
}

function isDefault(value: unknown): boolean {
  return value === "" || value === 0 || value === false || Array.isArray(value) && value.length === 0;
}
