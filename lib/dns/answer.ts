/**
 * Turns a question into its answer, in the packet of the question: the name stays in place, and the records follow.
 *
 * @module
 */
import {
  BITS3,
  BITS4,
  CLASS_IN,
  HEADER,
  MAX_UDP_SIZE,
  MIN_UDP_SIZE,
  OPT_SIZE,
  RCODE,
  setUint16,
  TYPE,
} from "./packet/wire.ts";
import { type Question, READ, readQuestion } from "./packet/question.ts";
import { type Records, TTL_SECONDS } from "./table/addresses.ts";
import type { LookupTable } from "./table/lookup.ts";

/** The treatment of a packet without an answer from here. */
export const VERDICT = {
  /** Nothing at all. */
  DROP: -1,
  /** Ask upstream; the name is unknown here. */
  FORWARD: -2,
  /** Ask upstream for a type that the table does not have. The name exists. */
  FORWARD_KNOWN: -3,
} as const;

/** The treatment of questions before the first table. */
export type BeforeTable = "fail" | "forward";

/** BADVERS (RFC 6891, 6.1.3): the bits beyond the header's four. */
const BADVERS_UPPER = 1;

/**
 * Reads a packet and answers in place.
 * @param packet The first `length` bytes are the packet. The rest is room for the answer, at least `limit` bytes in
 * all.
 * @param question Scratch space. Afterwards the object holds the question.
 * @param table Undefined before the first table.
 * @param limit Limit of the transport, bytes: 65,535 over TCP. Over UDP the client's own limit, at most 4,096, applies
 * as well.
 * @param random Numbers from 0 to below 1, for the order of addresses.
 * @returns Length of the answer, or a value of {@link VERDICT}.
 */
export function answer(
  packet: Uint8Array,
  length: number,
  question: Question,
  table: LookupTable | undefined,
  before: BeforeTable,
  udp: boolean,
  limit: number,
  random: () => number,
): number {
  const read = readQuestion(packet, length, question);
  if (read !== READ.OK) return refusal(packet, read, question);
  if (table === undefined) return before === "fail" ? failure(packet, question, RCODE.SERVFAIL) : VERDICT.FORWARD;
  if (question.class !== CLASS_IN) return VERDICT.FORWARD;
  const known = table.find(packet, question);
  if (known === undefined) return VERDICT.FORWARD;
  if (question.type !== TYPE.A && question.type !== TYPE.AAAA) return VERDICT.FORWARD_KNOWN;
  const records = question.type === TYPE.A ? known.v4 : known.v6;
  const size = udp ? Math.min(limit, udpLimit(question)) : limit;
  return records === undefined
    ? finish(packet, question, question.end, 0, true, false)
    : write(packet, question, records, known.aliasTail, size, random);
}

/** The largest answer that a client accepts over UDP. */
export function udpLimit(question: Question): number {
  return Math.min(MAX_UDP_SIZE, Math.max(MIN_UDP_SIZE, question.udpSize));
}

/** Writes the records behind the question, as many as fit, in a new order. */
function write(
  packet: Uint8Array,
  question: Question,
  records: Records,
  aliasTail: number,
  limit: number,
  random: () => number,
): number {
  let at = question.end;
  let owner = HEADER;
  let answers = 0;
  const opt = question.edns ? OPT_SIZE : 0;
  if (aliasTail > 0) {
    // A long name twice may already exceed 512 bytes.
    if (at + aliasSize(question, aliasTail) + opt > limit) return finish(packet, question, at, 0, true, true);
    owner = at + 12;
    at = writeAlias(packet, question, at, aliasTail);
    answers = 1;
  }
  const { size, count, bytes, order } = records;
  const fits = Math.min(count, Math.floor((limit - at - opt) / size));
  for (let i = 0; i < fits; i++) {
    // Fisher and Yates: any order becomes any other with equal probability, as far as the shuffle goes.
    const j = count === 1 ? 0 : i + Math.floor(random() * (count - i));
    const chosen = order[j]!;
    order[j] = order[i]!;
    order[i] = chosen;
    const from = chosen * size;
    for (let k = 0; k < size; k++) packet[at + k] = bytes[from + k]!;
    if (aliasTail > 0) setUint16(packet, at, 0xc000 | owner);
    at += size;
  }
  return finish(packet, question, at, answers + fits, true, fits < count);
}

/**
 * Writes the CNAME from the name in the question to the known name. The known name is the name in the question without
 * the search domain, copied from the question, so that a wildcard's alias leads to a real name: a `*` is not a host
 * name, and some resolvers (glibc before 2.37) refuse an answer with a `*`.
 */
function writeAlias(packet: Uint8Array, question: Question, at: number, aliasTail: number): number {
  const head = aliasSize(question, aliasTail) - 13;
  setUint16(packet, at, 0xc000 | HEADER);
  setUint16(packet, at + 2, TYPE.CNAME);
  setUint16(packet, at + 4, CLASS_IN);
  setUint16(packet, at + 6, 0);
  setUint16(packet, at + 8, TTL_SECONDS);
  setUint16(packet, at + 10, head + 1);
  packet.copyWithin(at + 12, HEADER, HEADER + head);
  packet[at + 12 + head] = 0;
  return at + 12 + head + 1;
}

/** Bytes of the CNAME: twelve before its name, the name without the search domain, and the root. */
function aliasSize(question: Question, aliasTail: number): number {
  return 12 + (question.nameEnd - 1 - aliasTail - HEADER) + 1;
}

/** Header and OPT of an answer with written records. */
function finish(
  packet: Uint8Array,
  question: Question,
  at: number,
  answers: number,
  authoritative: boolean,
  truncated: boolean,
): number {
  packet[2] = BITS3.QR | (authoritative ? BITS3.AA : 0) | (truncated ? BITS3.TC : 0) | (packet[2]! & BITS3.RD);
  packet[3] = BITS4.RA | (packet[3]! & BITS4.CD);
  setUint16(packet, 4, 1);
  setUint16(packet, 6, answers);
  setUint16(packet, 8, 0);
  setUint16(packet, 10, question.edns ? 1 : 0);
  return question.edns ? writeOpt(packet, at, 0, question.dnssecOk) : at;
}

/** An OPT record: the size that this server accepts, the upper bits of the response code, and the client's DO bit. */
function writeOpt(packet: Uint8Array, at: number, upper: number, dnssecOk: boolean): number {
  packet[at] = 0;
  setUint16(packet, at + 1, TYPE.OPT);
  setUint16(packet, at + 3, MAX_UDP_SIZE);
  packet[at + 5] = upper;
  packet[at + 6] = 0;
  setUint16(packet, at + 7, dnssecOk ? 0x8000 : 0);
  setUint16(packet, at + 9, 0);
  return at + OPT_SIZE;
}

/** An answer without records to a readable question. Never longer than the question, except for an OPT record. */
export function failure(packet: Uint8Array, question: Question, rcode: number): number {
  const end = finish(packet, question, question.end, 0, false, false);
  packet[3]! |= rcode;
  return end;
}

/** The answer to a packet that is not a question. */
function refusal(packet: Uint8Array, read: number, question: Question): number {
  if (read === READ.DROP) return VERDICT.DROP;
  if (read === READ.BAD_VERSION) {
    const at = finish(packet, question, question.end, 0, false, false);
    packet[at - OPT_SIZE + 5] = BADVERS_UPPER;
    return at;
  }
  const rcode = read === READ.NOT_A_QUERY ? RCODE.NOTIMP : RCODE.FORMERR;
  packet[2] = BITS3.QR | (packet[2]! & (BITS3.OPCODE | BITS3.RD));
  packet[3] = BITS4.RA | rcode;
  packet.fill(0, 4, HEADER);
  return HEADER;
}
