/**
 * A name server for tests: answers by the test's zone, over UDP and TCP on one port, and keeps the questions.
 *
 * Permissions: net (loopback).
 * @module
 */
import { Buffer } from "node:buffer";
// @ts-types="npm:@types/dns-packet@5.6.5"
import dnsPacket from "dns-packet";

/** The answer: addresses, a response code, `silence`, or bytes made from the query. */
export type Behaviour =
  | readonly string[]
  | "NXDOMAIN"
  | "SERVFAIL"
  | "REFUSED"
  | "silence"
  | ((query: Uint8Array) => Uint8Array);

/** A running name server. */
export interface FakeUpstream {
  readonly hostname: string;
  readonly port: number;
  /** Behaviour by name without dot, `*` for the rest; may be changed while running. */
  readonly zone: Map<string, Behaviour>;
  /** `udp name TYPE` or `tcp name TYPE` of every question. */
  readonly asked: string[];
  close(): void;
}

const rcodes = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 };

/** Starts a name server on an address of the loopback. Names outside of the zone do not exist. */
export function startUpstream(hostname = "127.0.0.1", port = 0, zone: Record<string, Behaviour> = {}): FakeUpstream {
  const behaviours = new Map(Object.entries(zone));
  const asked: string[] = [];
  const { udp, tcp } = bindBoth(hostname, port);
  const respond = (query: Uint8Array, via: string): Uint8Array | undefined => {
    const question = questionOf(query);
    if (question === undefined) return undefined;
    const { name, type } = question;
    asked.push(`${via} ${name} ${type}`);
    const behaviour = behaviours.get(name.toLowerCase()) ?? behaviours.get("*") ?? "NXDOMAIN";
    if (behaviour === "silence") return undefined;
    return typeof behaviour === "function" ? behaviour(query) : answerTo(query, behaviour);
  };
  void serveUdp(udp, respond);
  void serveTcp(tcp, respond);
  return {
    hostname,
    port: (udp.addr as Deno.NetAddr).port,
    zone: behaviours,
    asked,
    close() {
      udp.close();
      tcp.close();
    },
  };
}

/**
 * Starts name servers at one port of several addresses of the loopback: zones by address. A port that is free on the
 * first address may be taken on another one.
 */
export function startUpstreams(zones: Readonly<Record<string, Record<string, Behaviour>>>): FakeUpstream[] {
  for (let tries = 20;; tries--) {
    const started: FakeUpstream[] = [];
    try {
      for (const [hostname, zone] of Object.entries(zones)) {
        started.push(startUpstream(hostname, started[0]?.port ?? 0, zone));
      }
      return started;
    } catch (error) {
      for (const one of started) one.close();
      if (tries === 0 || !(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}

function bindBoth(hostname: string, port: number): { udp: Deno.DatagramConn; tcp: Deno.TcpListener } {
  for (let tries = 20;; tries--) {
    const tcp = Deno.listen({ hostname, port });
    try {
      return { tcp, udp: Deno.listenDatagram({ transport: "udp", hostname, port: tcp.addr.port }) };
    } catch (error) {
      tcp.close();
      if (tries === 0 || port !== 0) throw error;
    }
  }
}

/** An address of the loopback and a port without a listener, over UDP and TCP. */
export function closedPort(): { hostname: string; port: number } {
  const [a, b, c] = crypto.getRandomValues(new Uint8Array(3));
  // A random address, so that no other test listens at the port afterwards.
  const hostname = `127.${a}.${b}.${(c! % 254) + 1}`;
  const { udp, tcp } = bindBoth(hostname, 0);
  udp.close();
  tcp.close();
  return { hostname, port: tcp.addr.port };
}

/** The question; undefined for a hostile query that the package cannot read. */
function questionOf(query: Uint8Array): dnsPacket.Question | undefined {
  try {
    return dnsPacket.decode(Buffer.from(query)).questions?.[0];
  } catch {
    return undefined;
  }
}

/** A plain answer, uncompressed and not cut. */
export function answerTo(
  query: Uint8Array,
  behaviour: readonly string[] | "NXDOMAIN" | "SERVFAIL" | "REFUSED",
  ttl = 3600,
): Uint8Array {
  const { id, questions } = dnsPacket.decode(Buffer.from(query));
  const { name, type } = questions![0]!;
  const answers = typeof behaviour === "string"
    ? []
    : behaviour.filter((ip) => type === (ip.includes(":") ? "AAAA" : "A")).map((data) => ({
      name,
      type: type as "A",
      ttl,
      data,
    }));
  const flags = 0x0180 | (typeof behaviour === "string" ? rcodes[behaviour] : 0);
  return new Uint8Array(dnsPacket.encode({ type: "response", id: id!, flags, questions: questions!, answers }));
}

async function serveUdp(conn: Deno.DatagramConn, respond: (query: Uint8Array, via: string) => Uint8Array | undefined) {
  for await (const [query, from] of conn) {
    const answer = respond(query, "udp");
    if (answer !== undefined) await conn.send(answer, from);
  }
}

async function serveTcp(
  listener: Deno.TcpListener,
  respond: (query: Uint8Array, via: string) => Uint8Array | undefined,
) {
  for await (const conn of listener) void serveConnection(conn, respond);
}

/** Serves one question a connection; silence lasts until the client ends the connection. */
async function serveConnection(
  conn: Deno.TcpConn,
  respond: (query: Uint8Array, via: string) => Uint8Array | undefined,
) {
  const buffer = new Uint8Array(65537);
  try {
    const count = await conn.read(buffer);
    const answer = count === null ? undefined : respond(buffer.subarray(2, count), "tcp");
    if (answer === undefined) { while (await conn.read(buffer) !== null); }
    else {
      const framed = Uint8Array.from([answer.length >>> 8, answer.length & 255, ...answer]);
      for (let at = 0; at < framed.length;) at += await conn.write(framed.subarray(at));
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe)) throw error;
  } finally {
    conn.close();
  }
}
