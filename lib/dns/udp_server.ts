/**
 * Answers over UDP. A few loops each receive into a buffer of their own, answer in this buffer and send it, so that
 * answers from the table allocate nothing of ours.
 *
 * Permissions: net (the listening address).
 *
 * @module
 */
import type { ListenEndpoint } from "./listen_plan.ts";
import { MAX_UDP_SIZE } from "./packet/wire.ts";
import { VERDICT } from "./answer.ts";
import type { Responder } from "./responder.ts";

/** Receive loops of a socket: while a loop sends, another loop receives. More loops gained nothing when measured. */
const LOOPS = 4;

/** A listening socket. */
export interface Listening {
  readonly transport: "udp" | "tcp";
  readonly address: ListenEndpoint;
  /** Stops listening and answering; resolves when the address is free. */
  close(): Promise<void>;
}

/**
 * Listens.
 *
 * @throws {Deno.errors.AddrInUse} and other errors of the system when the address cannot be used.
 */
export function listenUdp(address: ListenEndpoint, responder: Responder): Listening {
  const conn = Deno.listenDatagram({ transport: "udp", ...address });
  const loops = Array.from({ length: LOOPS }, () => serve(conn, responder));
  const { hostname, port } = conn.addr as Deno.NetAddr;
  return {
    transport: "udp",
    address: { hostname, port },
    async close() {
      conn.close();
      // The system's socket lives as long as a running call on it.
      await Promise.all(loops);
    },
  };
}

async function serve(conn: Deno.DatagramConn, responder: Responder): Promise<void> {
  const buffer = new Uint8Array(MAX_UDP_SIZE);
  const send = async (message: Uint8Array, to: Deno.Addr) => {
    try {
      await conn.send(message, to);
    } catch (error) {
      if (!closed(error)) responder.failed("udp", error);
    }
  };
  for (;;) {
    try {
      const [packet, from] = await conn.receive(buffer);
      const length = responder.answer(buffer, packet.length, true, MAX_UDP_SIZE);
      if (length > 0) await conn.send(buffer.subarray(0, length), from);
      else if (length !== VERDICT.DROP) {
        const query = buffer.slice(0, packet.length);
        responder.forward(query, true, (from as Deno.NetAddr).port, length, (message) => void send(message, from));
      }
    } catch (error) {
      if (closed(error)) return;
      // A client that has gone or cannot be reached ends no loop.
      responder.failed("udp", error);
    }
  }
}

/** Whether an error only says that the socket was closed. */
export function closed(error: unknown): boolean {
  return error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted;
}
