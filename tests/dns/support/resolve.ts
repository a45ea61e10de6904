/**
 * Asks a table without any socket.
 *
 * @module
 */
import { answer, VERDICT } from "../../../lib/dns/answer.ts";
import { Question } from "../../../lib/dns/packet/question.ts";
import type { LookupTable } from "../../../lib/dns/table/lookup.ts";
import { query, reply } from "./ask.ts";

/** Answers of a table as `name TYPE data`; `forwarded` for an unknown name. */
export function resolve(table: LookupTable, name: string, type = "A", udpSize = 4096): readonly string[] {
  const packet = query({ name, type, udpSize });
  const room = new Uint8Array(4096);
  room.set(packet);
  const length = answer(room, packet.length, new Question(), table, "fail", true, 4096, Math.random);
  if (length === VERDICT.FORWARD || length === VERDICT.FORWARD_KNOWN) return ["forwarded"];
  return reply(room.slice(0, length)).answers;
}
