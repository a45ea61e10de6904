/**
 * Numbers of the DNS wire format, by the names of RFC 1035 and RFC 6891.
 *
 * @module
 */

/** Length of a message's header, bytes. */
export const HEADER = 12;

/** Types of records that are read or written here. All other types are passed through. */
export const TYPE = { A: 1, CNAME: 5, SOA: 6, AAAA: 28, OPT: 41 } as const;

/** The Internet class, the only class with answers from here. */
export const CLASS_IN = 1;

/** Response codes. BADVERS needs the upper bits in an OPT record. */
export const RCODE = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const;

/** Bits of the third byte of a message. */
export const BITS3 = { QR: 0x80, OPCODE: 0x78, AA: 0x04, TC: 0x02, RD: 0x01 } as const;

/** Bits of the fourth byte of a message. */
export const BITS4 = { RA: 0x80, AD: 0x20, CD: 0x10, RCODE: 0x0f } as const;

/** Least size that every client accepts over UDP (RFC 1035, 4.2.1). */
export const MIN_UDP_SIZE = 512;

/**
 * Largest answer over UDP, even to a client that accepts more: the recommended size for receivers (RFC 6891, 6.2.5).
 * The limit also bounds the answer to a question with a forged source.
 */
export const MAX_UDP_SIZE = 4096;

/** Largest message over TCP: the length has two bytes. */
export const MAX_TCP_SIZE = 65535;

/** Bytes of an OPT record without options. */
export const OPT_SIZE = 11;

/** Longest name on the wire, with the root byte (RFC 1035, 2.3.4). */
export const MAX_NAME = 255;

/** Most labels of a name: each label takes at least two bytes, and the root one. */
export const MAX_LABELS = 127;

/** Two bytes, big-endian. */
export function uint16(packet: Uint8Array, at: number): number {
  return ((packet[at] ?? 0) << 8) | (packet[at + 1] ?? 0);
}

/** Writes two bytes, big-endian. */
export function setUint16(packet: Uint8Array, at: number, value: number): void {
  packet[at] = value >>> 8;
  packet[at + 1] = value;
}
