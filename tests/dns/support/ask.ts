/**
 * Asks a DNS server like a client, and reads packets with the npm package `dns-packet`, a foreign implementation.
 *
 * Permissions: net (loopback).
 * @module
 */
import { Buffer } from "node:buffer";
// @ts-types="npm:@types/dns-packet@5.6.5"
import dnsPacket from "dns-packet";
import type { ListenEndpoint } from "../../../lib/dns/listen_plan.ts";
import { PATIENCE } from "../../patience.ts";

/** An answer in few words. */
export interface Reply {
  readonly rcode: string;
  readonly flags: readonly string[];
  /** `name TYPE data`, in the order of the packet. */
  readonly answers: readonly string[];
  readonly bytes: Uint8Array;
}

/** Parts of a question. */
export interface Asked {
  readonly name: string;
  readonly type?: string;
  readonly id?: number;
  readonly udpSize?: number;
  readonly flags?: number;
}

/** A query as bytes. */
export function query(
  { name, type = "A", id = 4711, udpSize, flags = dnsPacket.RECURSION_DESIRED }: Asked,
): Uint8Array {
  const additionals = udpSize === undefined ? [] : [{
    type: "OPT" as const,
    name: ".",
    udpPayloadSize: udpSize,
    flags: 0,
    options: [],
    extendedRcode: 0,
    ednsVersion: 0,
    flag_do: false,
  }];
  const packet = {
    type: "query" as const,
    id,
    flags,
    questions: [{ type: type as "A", name, class: "IN" as const }],
    additionals,
  };
  return new Uint8Array(dnsPacket.encode(packet));
}

/** Reads an answer. */
export function reply(bytes: Uint8Array): Reply {
  // deno-lint-ignore no-explicit-any -- the package's types know neither flags nor all records
  const packet = dnsPacket.decode(Buffer.from(bytes)) as any;
  const flags = ["aa", "tc", "rd", "ra"].filter((flag) => packet[`flag_${flag}`]);
  // deno-lint-ignore no-explicit-any -- as above
  const answers = packet.answers.map((a: any) => `${a.name} ${a.type} ${a.data}`);
  return { rcode: packet.rcode, flags, answers, bytes };
}

/** Sends bytes over UDP and waits for the answer; undefined when none comes within `ms`. */
export async function sendUdp(to: ListenEndpoint, bytes: Uint8Array, ms = PATIENCE): Promise<Uint8Array | undefined> {
  const conn = Deno.listenDatagram({
    transport: "udp",
    hostname: to.hostname.includes(":") ? "::1" : "127.0.0.1",
    port: 0,
  });
  const timer = setTimeout(() => conn.close(), ms);
  try {
    await conn.send(bytes, { transport: "udp", ...to });
    const [answer] = await conn.receive();
    conn.close();
    return answer.slice();
  } catch (error) {
    if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Sends messages over one TCP connection, all at once, and reads as many answers; fewer when the server ends the
 * connection.
 */
export async function sendTcp(to: ListenEndpoint, messages: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const conn = await Deno.connect(to);
  const parts = messages.flatMap((m) => [m.length >>> 8, m.length & 255, ...m]);
  await conn.write(Uint8Array.from(parts));
  const answers: Uint8Array[] = [];
  try {
    while (answers.length < messages.length) {
      const head = await readExactly(conn, 2);
      if (head === undefined) break;
      const answer = await readExactly(conn, head[0]! * 256 + head[1]!);
      if (answer === undefined) break;
      answers.push(answer);
    }
  } finally {
    conn.close();
  }
  return answers;
}

async function readExactly(conn: Deno.TcpConn, length: number): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const count = await conn.read(bytes.subarray(at));
    if (count === null) return undefined;
    at += count;
  }
  return bytes;
}

/** Asks over both transports. */
export async function askBoth(to: ListenEndpoint, asked: Asked): Promise<{ udp: Reply; tcp: Reply }> {
  const bytes = query(asked);
  const [udp, [tcp]] = await Promise.all([sendUdp(to, bytes), sendTcp(to, [bytes])]);
  if (udp === undefined || tcp === undefined) throw new Error(`no answer to ${asked.name}`);
  return { udp: reply(udp), tcp: reply(tcp) };
}
