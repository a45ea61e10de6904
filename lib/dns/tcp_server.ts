/**
 * Answers over TCP. Questions of a connection may come before earlier ones are answered (RFC 7766); each is answered
 * when its answer is there.
 *
 * Permissions: net (the listening address).
 *
 * @module
 */
import type { Cancel, Clock } from "../kernel/time/clock.ts";
import { VERDICT } from "./answer.ts";
import type { Endpoint } from "./listen_plan.ts";
import { MAX_TCP_SIZE } from "./packet/wire.ts";
import type { Responder } from "./responder.ts";
import { frame, FrameReader, writeAll } from "./tcp_frames.ts";
import { closed, type Listening } from "./udp_server.ts";

/** A connection that asks nothing, or takes no answer, for this long is closed (RFC 7766, 6.2.3: a few seconds). */
export const IDLE_MS = 10_000;
/** Connections at a time; the one that has been silent for longest makes room. */
export const MAX_CONNECTIONS = 512;
/** Questions of one connection that may wait for their answers; no more is read until one is answered. */
const MAX_PIPELINED = 32;

/**
 * Listens.
 *
 * @throws {Deno.errors.AddrInUse} and other errors of the system when the address cannot be had.
 */
export function listenTcp(address: Endpoint, responder: Responder, clock: Clock): Listening {
  const listener = Deno.listen({ transport: "tcp", ...address });
  const connections = new Set<Connection>();
  void accept(listener, connections, responder, clock);
  const { hostname, port } = listener.addr as Deno.NetAddr;
  return {
    transport: "tcp",
    address: { hostname, port },
    close() {
      listener.close();
      for (const connection of connections) connection.close();
    },
  };
}

async function accept(
  listener: Deno.TcpListener,
  connections: Set<Connection>,
  responder: Responder,
  clock: Clock,
): Promise<void> {
  for (;;) {
    try {
      const conn = await listener.accept();
      if (connections.size >= MAX_CONNECTIONS) oldest(connections)?.close();
      const connection = new Connection(conn, responder, clock, () => connections.delete(connection));
      connections.add(connection);
      void connection.serve();
    } catch (error) {
      if (closed(error)) return;
      responder.failed("tcp", error);
      // Out of file handles, most likely: it would fail again at once.
      await clock.sleep(100);
    }
  }
}

function oldest(connections: ReadonlySet<Connection>): Connection | undefined {
  let found: Connection | undefined;
  for (const one of connections) if (found === undefined || one.lastActive < found.lastActive) found = one;
  return found;
}

class Connection {
  lastActive: number;
  readonly #port: number;
  /** Answers are written one after the other. */
  #written: Promise<void> = Promise.resolve();
  #waiting = 0;
  #resume: (() => void) | undefined;
  #closed = false;
  #stopWatching: Cancel = () => {};

  constructor(
    private readonly conn: Deno.TcpConn,
    private readonly responder: Responder,
    private readonly clock: Clock,
    private readonly ended: () => void,
  ) {
    this.lastActive = clock.monotonic();
    this.#port = conn.remoteAddr.port;
    this.#watch();
  }

  /** Answers until the client ends, is idle or sends what is no question. */
  async serve(): Promise<void> {
    const reader = new FrameReader(this.conn);
    try {
      for (let message = await reader.next(); message !== undefined; message = await reader.next()) {
        this.lastActive = this.clock.monotonic();
        if (!this.#take(message)) break;
        if (this.#waiting >= MAX_PIPELINED) await new Promise<void>((resume) => (this.#resume = resume));
      }
      while (this.#waiting > 0 && !this.#closed) await new Promise<void>((resume) => (this.#resume = resume));
    } catch (error) {
      if (!this.#closed) this.responder.failed("tcp", error);
    } finally {
      this.close();
    }
  }

  /** False when the connection is to be ended. */
  #take(message: Uint8Array): boolean {
    const room = this.responder.room;
    room.set(message);
    const length = this.responder.answer(room, message.length, false, MAX_TCP_SIZE);
    if (length === VERDICT.DROP) return false;
    this.#waiting++;
    if (length > 0) this.#write(room.subarray(0, length));
    else this.responder.forward(message.slice(), false, this.#port, length, (answer) => this.#write(answer));
    return true;
  }

  #write(message: Uint8Array): void {
    const framed = frame(message);
    this.#written = this.#written.then(() => writeAll(this.conn, framed)).then(
      () => void (this.lastActive = this.clock.monotonic()),
      () => this.close(),
    ).then(() => {
      this.#waiting--;
      this.#resume?.();
    });
  }

  #watch(): void {
    this.#stopWatching = this.clock.after(IDLE_MS, () => {
      if (this.#closed) return;
      if (this.clock.monotonic() - this.lastActive >= IDLE_MS) this.close();
      else this.#watch();
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopWatching();
    this.conn.close();
    this.ended();
    this.#resume?.();
  }
}
