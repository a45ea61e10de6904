/**
 * Reads the question of a client without allocation: a single {@link Question} is filled again and again.
 *
 * A client that is worth an answer sends a query with exactly one question. Every other packet gets an error of twelve
 * bytes, or nothing; responses get nothing at all, so that two servers can never talk to each other without end.
 *
 * @module
 */
import { lower } from "./name.ts";
import { BITS3, HEADER, MAX_LABELS, MAX_NAME, TYPE, uint16 } from "./wire.ts";

/** The treatment of a packet. */
export const READ = {
  /** A readable question. */
  OK: 0,
  /** No answer: too short for a header, or a response. */
  DROP: 1,
  /** Not to be understood: FORMERR. */
  BAD: 2,
  /** Another operation than a query: NOTIMP. */
  NOT_A_QUERY: 3,
  /** An unknown version of EDNS: BADVERS. */
  BAD_VERSION: 4,
} as const;

export type ReadResult = typeof READ[keyof typeof READ];

/** The question of a packet, as offsets into the packet. The name starts after the header. */
export class Question {
  /** End of the name, after the root byte. */
  nameEnd = 0;
  /** End of the question section. */
  end = 0;
  type = 0;
  class = 0;
  /** Labels of the name, without the root. */
  labels = 0;
  /** The start of label i, and a hash of the name from there on (see {@link hashStep}). */
  readonly labelStart = new Uint16Array(MAX_LABELS + 1);
  readonly labelHash = new Int32Array(MAX_LABELS + 1);
  /** Whether the client speaks EDNS. */
  edns = false;
  /** The largest UDP answer for the client, from its EDNS record. 0 without such a record. */
  udpSize = 0;
  /** Whether the client wants signatures. */
  dnssecOk = false;
}

/**
 * Adds a byte in front of a hashed suffix. Suffixes are hashed from their end, so that one pass gives the hash of the
 * whole name and of every suffix for wildcards. (The step of FNV-1a; the offset basis is {@link HASH_START}.)
 */
export function hashStep(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193);
}

/** Hash of the root. */
export const HASH_START = 0x811c9dc5 | 0;

/** Reads a packet's first `length` bytes into `question`. The question is complete only with the result `READ.OK`. */
export function readQuestion(packet: Uint8Array, length: number, question: Question): ReadResult {
  question.edns = false;
  question.udpSize = 0;
  question.dnssecOk = false;
  if (length < HEADER || (packet[2]! & BITS3.QR) !== 0) return READ.DROP;
  if ((packet[2]! & BITS3.OPCODE) !== 0) return READ.NOT_A_QUERY;
  // A query has a single question, no answers, no authority. OPT and a signature may follow.
  if (uint16(packet, 4) !== 1 || uint16(packet, 6) !== 0 || uint16(packet, 8) !== 0) return READ.BAD;
  const additional = uint16(packet, 10);
  if (additional > 2 || !readName(packet, length, question)) return READ.BAD;
  question.end = question.nameEnd + 4;
  if (question.end > length) return READ.BAD;
  question.type = uint16(packet, question.nameEnd);
  question.class = uint16(packet, question.nameEnd + 2);
  return additional === 0 ? READ.OK : readAdditional(packet, length, additional, question);
}

/** Finds the labels of the name after the header, and hashes the name's suffixes. False when there is no valid name. */
function readName(packet: Uint8Array, length: number, question: Question): boolean {
  let at = HEADER;
  let labels = 0;
  for (;;) {
    if (at >= length) return false;
    const size = packet[at]!;
    if (size === 0) break;
    // The two upper bits mark a pointer. The first name of a packet has nothing to point to.
    if (size > 63 || labels === MAX_LABELS) return false;
    question.labelStart[labels++] = at;
    at += size + 1;
  }
  if (at + 1 - HEADER > MAX_NAME) return false;
  question.nameEnd = at + 1;
  question.labels = labels;
  let hash = HASH_START;
  for (let label = labels - 1; label >= 0; label--) {
    const start = question.labelStart[label]!;
    for (at--; at >= start; at--) hash = hashStep(hash, lower(packet[at]!));
    at = start;
    question.labelHash[label] = hash;
  }
  return true;
}

/** Looks for OPT (RFC 6891) behind the question; a signature is stepped over. */
function readAdditional(packet: Uint8Array, length: number, count: number, question: Question): ReadResult {
  let at = question.end;
  for (; count > 0; count--) {
    const owner = at;
    at = skipName(packet, length, at);
    if (at < 0 || at + 10 > length) return READ.BAD;
    const body = at + 10;
    const next = body + uint16(packet, at + 8);
    if (next > length) return READ.BAD;
    if (uint16(packet, at) === TYPE.OPT) {
      if (question.edns || packet[owner] !== 0) return READ.BAD;
      question.edns = true;
      question.udpSize = uint16(packet, at + 2);
      question.dnssecOk = (packet[at + 6]! & 0x80) !== 0;
      if (packet[at + 5] !== 0) return READ.BAD_VERSION;
    }
    at = next;
  }
  return READ.OK;
}

/** The offset after a name, which may end in a pointer. -1 when the name exceeds the packet. */
export function skipName(packet: Uint8Array, length: number, at: number): number {
  while (at < length) {
    const size = packet[at]!;
    if (size === 0) return at + 1;
    if (size >= 0xc0) return at + 2 <= length ? at + 2 : -1;
    if (size > 63) return -1;
    at += size + 1;
  }
  return -1;
}
