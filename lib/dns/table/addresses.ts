/**
 * Addresses of a host as bytes of DNS records.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import { CLASS_IN, setUint16, TYPE } from "../packet/wire.ts";

/**
 * Time to live of answers from the table, seconds: low, so that clients with a cache soon get a change. (Istio's
 * value.)
 */
export const TTL_SECONDS = 30;

/** Records of a host in a single family, ready to be copied into an answer. */
export interface Records {
  /** Bytes of a record: 16 with an IPv4 address, 28 with an IPv6 address. */
  readonly size: number;
  readonly count: number;
  /**
   * The records without gaps. The owner of each record is a pointer (two bytes) to the name of the question. In every
   * packet the name has the same offset. After a CNAME the pointer is set anew.
   */
  readonly bytes: Uint8Array;
  /** The last order of sending. Every answer shuffles the order further. */
  readonly order: Uint16Array;
}

/** Records of a host; a family without addresses has none. */
export interface HostRecords {
  readonly v4: Records | undefined;
  readonly v6: Records | undefined;
}

/** Most addresses that fit into the largest message. More addresses are left out. */
const MAX_ADDRESSES = 4000;

/**
 * Builds the records of a host from its addresses, each once. IPv4 addresses in IPv6 spelling (`::ffff:10.0.0.1`) are
 * IPv4 addresses.
 * @returns The records, and the texts that are not addresses.
 */
export function hostRecords(ips: readonly string[]): { records: HostRecords; refused: string[] } {
  const v4: number[][] = [];
  const v6: number[][] = [];
  const refused: string[] = [];
  for (const ip of ips.length < 2 ? ips : new Set(ips)) {
    const bytes = addressBytes(ip);
    if (bytes === undefined) refused.push(ip);
    else (bytes.length === 4 ? v4 : v6).push(bytes);
  }
  return { records: { v4: records(TYPE.A, v4), v6: records(TYPE.AAAA, v6) }, refused };
}

/**
 * The bytes of an address. Undefined for another text, and for an address with a zone: a zone has a meaning on a single
 * machine only.
 */
function addressBytes(text: string): number[] | undefined {
  const v4 = ipv4Bytes(text);
  if (v4 !== undefined) return v4;
  if (!text.includes(":") || text.includes("%") || !ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? address.toIPv4Address().toByteArray() : address.toByteArray();
}

/** Bytes of an IPv4 address; by hand, because tables have thousands and the general parser takes 15 times as long. */
function ipv4Bytes(text: string): number[] | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (match === null) return undefined;
  const bytes = [Number(match[1]), Number(match[2]), Number(match[3]), Number(match[4])];
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

function records(type: number, addresses: readonly number[][]): Records | undefined {
  const first = addresses[0];
  if (first === undefined) return undefined;
  const count = Math.min(addresses.length, MAX_ADDRESSES);
  const size = 12 + first.length;
  const bytes = new Uint8Array(count * size);
  for (let i = 0; i < count; i++) {
    const at = i * size;
    setUint16(bytes, at, 0xc00c);
    setUint16(bytes, at + 2, type);
    setUint16(bytes, at + 4, CLASS_IN);
    setUint16(bytes, at + 8, TTL_SECONDS);
    setUint16(bytes, at + 10, first.length);
    bytes.set(addresses[i]!, at + 12);
  }
  return { size, count, bytes, order: Uint16Array.from({ length: count }, (_, i) => i) };
}
