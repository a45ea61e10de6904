/**
 * Messages of DNS: the question of a packet, and the tunnel's answers.
 *
 * @module
 */
import { Buffer } from "node:buffer";
// @ts-types="npm:@types/dns-packet@5.6.5"
import dnsPacket from "dns-packet";
import type { AddressType, NameAnswer } from "./resolve.ts";

/** How long a client may keep an answer, s. */
const TTL = 30;

/** Response code of a question that could not be answered. */
const SERVFAIL = 2;

/** The question of a packet. */
export interface NameQuestion {
  readonly name: string;
  readonly type: string;
}

/**
 * Reads the question.
 *
 * @throws {Error} for a packet without a question
 */
export function readNameQuestion(packet: Uint8Array): NameQuestion {
  const [question] = dnsPacket.decode(Buffer.from(packet)).questions ?? [];
  if (question === undefined) throw new Error("a packet without a question");
  return question;
}

/** Whether a tunnel may answer a type itself. */
export function isAddressType(type: string): type is AddressType {
  return type === "A" || type === "AAAA";
}

/** The tunnel's own answer. */
export function answerMessage(packet: Uint8Array, { canonical, addresses }: NameAnswer): Uint8Array<ArrayBuffer> {
  const { name, type } = readNameQuestion(packet);
  const alias: dnsPacket.Answer[] = canonical === undefined || addresses.length === 0
    ? []
    : [{ type: "CNAME", name, ttl: TTL, data: canonical }];
  const records = addresses.map((data): dnsPacket.Answer => ({
    ...{ type: type as AddressType, name: canonical ?? name, ttl: TTL, data },
  }));
  return response(packet, dnsPacket.AUTHORITATIVE_ANSWER, [...alias, ...records]);
}

/** The answer to a question that nobody could answer. */
export function failureMessage(packet: Uint8Array): Uint8Array<ArrayBuffer> {
  return response(packet, SERVFAIL, []);
}

function response(packet: Uint8Array, flags: number, answers: dnsPacket.Answer[]): Uint8Array<ArrayBuffer> {
  const { id = 0, questions = [] } = dnsPacket.decode(Buffer.from(packet));
  const common = dnsPacket.RECURSION_DESIRED | dnsPacket.RECURSION_AVAILABLE;
  return new Uint8Array(
    dnsPacket.encode({ type: "response", id, flags: common | flags, questions, answers }),
  );
}
