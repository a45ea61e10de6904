/**
 * Answers kept for times when no name server answers (RFC 8767): an address of yesterday is better than none. Kept
 * answers are never used while a server answers.
 *
 * @module
 */
import { lower } from "../packet/name.ts";
import type { Question } from "../packet/question.ts";
import { setAges } from "../packet/records.ts";
import { BITS3, BITS4, HEADER, RCODE } from "../packet/wire.ts";
import { TTL_SECONDS } from "../table/addresses.ts";

/** Time for which an answer may be used after its arrival, ms: RFC 8767, section 5, names one to three days. */
export const MAX_STALE_MS = 86_400_000;
/** How long after a failure answers are given at once, before servers are asked again (RFC 8767, section 5). */
export const RECHECK_MS = 30_000;
/** Limit of all kept answers, bytes. The least recently used answers make room. */
const MAX_BYTES = 1 << 20;
/** Longer answers are not kept. */
const MAX_ANSWER = 4096;

interface Kept {
  readonly message: Uint8Array;
  readonly at: number;
  /** The last time that servers failed to renew the answer. */
  failedAt: number | undefined;
}

/** Answers by question. */
export class StaleAnswers {
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** Answers kept. */
  get size(): number {
    return this.#kept.size;
  }

  /** Keeps a copy of a usable answer: not truncated, with the code NOERROR or NXDOMAIN. */
  keep(key: string, message: Uint8Array, now: number): void {
    const rcode = message[3]! & BITS4.RCODE;
    const sure = (rcode === RCODE.NOERROR || rcode === RCODE.NXDOMAIN) && (message[2]! & BITS3.TC) === 0;
    if (!sure || message.length > MAX_ANSWER) return;
    // The same question mostly gets an answer of the same length, which overwrites the answer before.
    const before = this.#kept.get(key)?.message;
    this.#drop(key);
    const copy = before?.length === message.length ? before : new Uint8Array(message.length);
    copy.set(message);
    this.#kept.set(key, { message: copy, at: now, failedAt: undefined });
    this.#bytes += message.length + key.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#drop(oldest);
    }
  }

  /** A copy of the answer with ages of 30 seconds (RFC 8767, section 4); undefined when there is none. */
  find(key: string, now: number): Uint8Array | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#drop(key);
    if (now - kept.at > MAX_STALE_MS) return undefined;
    this.#kept.set(key, kept);
    this.#bytes += kept.message.length + key.length;
    const message = kept.message.slice();
    setAges(message, TTL_SECONDS);
    return message;
  }

  /** Servers failed to renew an answer. */
  failed(key: string, now: number): void {
    const kept = this.#kept.get(key);
    if (kept !== undefined) kept.failedAt = now;
  }

  /** Like {@link StaleAnswers.find}, but only for an answer that servers recently failed to renew. */
  findFailed(key: string, now: number): Uint8Array | undefined {
    const failedAt = this.#kept.get(key)?.failedAt;
    return failedAt !== undefined && now - failedAt < RECHECK_MS ? this.find(key, now) : undefined;
  }

  /** Whether there is a usable answer now. */
  has(key: string, now: number): boolean {
    const kept = this.#kept.get(key);
    return kept !== undefined && now - kept.at <= MAX_STALE_MS;
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= kept.message.length + key.length;
  }
}

/** The key of an answer: name, type, class, EDNS, DO and CD. Questions of equal keys may share an answer. */
export function staleKey(packet: Uint8Array, question: Question): string {
  let key = String.fromCharCode(
    (question.edns ? 1 : 0) | (question.dnssecOk ? 2 : 0) | (packet[3]! & BITS4.CD),
  );
  for (let i = HEADER; i < question.nameEnd; i++) key += String.fromCharCode(lower(packet[i]!));
  for (let i = question.nameEnd; i < question.end; i++) key += String.fromCharCode(packet[i]!);
  return key;
}
