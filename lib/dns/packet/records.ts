/**
 * Works on whole messages of other servers: walks the records, truncates messages, sets ages. Nothing is decoded
 * without need.
 *
 * @module
 */
import { lower } from "./name.ts";
import { skipName } from "./question.ts";
import { BITS3, HEADER, setUint16, TYPE, uint16 } from "./wire.ts";

/** Offset after the questions of a message. -1 when the questions exceed the message. */
function questionsEnd(message: Uint8Array): number {
  let at = HEADER;
  for (let left = uint16(message, 4); left > 0; left--) {
    at = skipName(message, message.length, at);
    if (at < 0) return -1;
    at += 4;
  }
  return at <= message.length ? at : -1;
}

/**
 * Calls `visit` with each record's section (0 answer, 1 authority, 2 additional), start, offset of the type, and end,
 * in order, until a call returns false.
 * @returns False when the message is broken.
 */
export function eachRecord(
  message: Uint8Array,
  visit: (section: number, start: number, type: number, end: number) => boolean | void,
): boolean {
  let at = message.length < HEADER ? -1 : questionsEnd(message);
  if (at < 0) return false;
  for (let section = 0; section < 3; section++) {
    for (let left = uint16(message, 6 + 2 * section); left > 0; left--) {
      const start = at;
      const type = skipName(message, message.length, start);
      if (type < 0 || type + 10 > message.length) return false;
      at = type + 10 + uint16(message, type + 8);
      if (at > message.length) return false;
      if (visit(section, start, type, at) === false) return true;
    }
  }
  return true;
}

/**
 * Truncates the message to at most `limit` bytes: the first records that fit stay whole, the OPT record always stays,
 * and the TC bit says that records are missing. Names point only backwards, so the remaining records keep their
 * meaning.
 * @returns The same message when the message fits. A broken message is cut after its header, with all counts 0.
 */
export function truncate(message: Uint8Array, limit: number): Uint8Array {
  if (message.length <= limit) return message;
  let opt: Uint8Array | undefined;
  const whole = eachRecord(message, (section, start, type, end) => {
    if (section === 2 && uint16(message, type) === TYPE.OPT) opt = message.subarray(start, end);
  });
  const questions = questionsEnd(message);
  const room = limit - (opt?.length ?? 0);
  if (!whole || questions > room) return headerOnly(message);
  const kept = [0, 0, 0];
  let end = questions;
  eachRecord(message, (section, _start, type, next) => {
    if (section === 2 && uint16(message, type) === TYPE.OPT) return false;
    if (next > room) return false;
    kept[section]!++;
    end = next;
  });
  const cut = new Uint8Array(end + (opt?.length ?? 0));
  cut.set(message.subarray(0, end));
  if (opt !== undefined) {
    cut.set(opt, end);
    kept[2]!++;
  }
  kept.forEach((count, section) => setUint16(cut, 6 + 2 * section, count));
  cut[2]! |= BITS3.TC;
  return cut;
}

function headerOnly(message: Uint8Array): Uint8Array {
  const cut = message.slice(0, HEADER);
  cut.fill(0, 4);
  cut[2]! |= BITS3.TC;
  return cut;
}

/** Sets the time to live of every record except OPT: in OPT the field means something else. */
export function setAges(message: Uint8Array, seconds: number): void {
  eachRecord(message, (_section, _start, type) => {
    if (uint16(message, type) === TYPE.OPT) return;
    setUint16(message, type + 4, seconds >>> 16);
    setUint16(message, type + 6, seconds & 0xffff);
  });
}

/** Whether two messages have the same single question. Names are compared without regard to case. */
export function sameQuestion(a: Uint8Array, b: Uint8Array): boolean {
  if (uint16(a, 4) !== 1 || uint16(b, 4) !== 1) return false;
  const end = questionsEnd(a);
  if (end < 0 || end > b.length) return false;
  for (let i = HEADER; i < end - 4; i++) if (lower(a[i]!) !== lower(b[i]!)) return false;
  for (let i = end - 4; i < end; i++) if (a[i] !== b[i]) return false;
  return true;
}
