/**
 * Answers over TCP. Questions of a connection may arrive before earlier questions are answered (RFC 7766). Each
 * question is answered when its answer is ready.
 *
 * By `node:net`: in Deno 2.8.3 closing a `Deno.TcpConn` whose read is pending leaves the socket open until the client
 * ends it, so the server could not end a connection.
 *
 * Permissions: net (the listening address).
 *
 * @module
 */
import net from "node:net";
import type { Cancel, Clock } from "../kernel/time/clock.ts";
import { VERDICT } from "./answer.ts";
import type { ListenEndpoint } from "./listen_plan.ts";
import { MAX_TCP_SIZE } from "./packet/wire.ts";
import type { Responder } from "./responder.ts";
import { frame, FrameParser } from "./packet/tcp_frames.ts";
import type { Listening } from "./udp_server.ts";

/**
 * A connection without questions, or without reading answers, is closed after this time (RFC 7766, 6.2.3: a few
 * seconds).
 */
export const IDLE_MS = 10_000;
/** Limit of connections. The connection that has been silent for longest makes room. */
export const MAX_CONNECTIONS = 512;
/** Limit of waiting questions of a connection. At the limit no more is read until a question is answered. */
const MAX_PIPELINED = 32;
/** Limit of unread bytes of answers. No more of the client's questions are read until the client has read some. */
const MAX_UNREAD = 1 << 18;

/**
 * Listens.
 * @throws {Error} The system's error with its `code` (EADDRINUSE and others) when the address cannot be used.
 */
export function listenTcp(address: ListenEndpoint, responder: Responder, clock: Clock): Promise<Listening> {
  const connections = new Set<TcpClient>();
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    if (connections.size >= MAX_CONNECTIONS) oldest(connections)?.close();
    const connection = new TcpClient(socket, responder, clock, () => connections.delete(connection));
    connections.add(connection);
  });
  const { promise, resolve, reject } = Promise.withResolvers<Listening>();
  server.once("error", reject);
  server.listen({ host: address.hostname, port: address.port }, () => {
    server.off("error", reject);
    server.on("error", (error) => responder.failed("tcp", error));
    const { port } = server.address() as net.AddressInfo;
    resolve({
      transport: "tcp",
      address: { hostname: address.hostname, port },
      close() {
        const { promise, resolve } = Promise.withResolvers<void>();
        server.close(() => resolve());
        for (const connection of connections) connection.close();
        return promise;
      },
    });
  });
  return promise;
}

function oldest(connections: ReadonlySet<TcpClient>): TcpClient | undefined {
  let found: TcpClient | undefined;
  for (const one of connections) if (found === undefined || one.lastActive < found.lastActive) found = one;
  return found;
}

class TcpClient {
  lastActive: number;
  readonly #parser = new FrameParser();
  readonly #port: number;
  #waiting = 0;
  #ended = false;
  #closed = false;
  #stopWatching: Cancel = () => {};

  readonly #socket: net.Socket;
  readonly #responder: Responder;
  readonly #clock: Clock;
  readonly #gone: () => void;

  constructor(socket: net.Socket, responder: Responder, clock: Clock, gone: () => void) {
    this.#socket = socket;
    this.#responder = responder;
    this.#clock = clock;
    this.#gone = gone;
    this.lastActive = clock.monotonic();
    this.#port = socket.remotePort ?? 0;
    socket.on("data", (part: Uint8Array) => {
      this.#parser.push(part);
      this.#answerMore();
    });
    socket.on("drain", () => {
      this.lastActive = clock.monotonic();
      this.#answerMore();
    });
    socket.on("end", () => {
      this.#ended = true;
      this.#answerMore();
    });
    socket.on("error", (error) => responder.failed("tcp", error));
    socket.on("close", () => this.close());
    this.#watch();
  }

  /**
   * Answers the received questions, as far as the client reads answers. Ends when the client has ended and has all
   * answers.
   */
  #answerMore(): void {
    while (!this.#closed && !this.#full()) {
      const message = this.#parser.next();
      if (message === undefined) break;
      this.lastActive = this.#clock.monotonic();
      this.#answer(message);
    }
    if (this.#closed) return;
    if (this.#full()) this.#socket.pause();
    else if (this.#ended && this.#waiting === 0) this.#socket.end();
    else this.#socket.resume();
  }

  #full(): boolean {
    return this.#waiting >= MAX_PIPELINED || this.#socket.writableLength > MAX_UNREAD;
  }

  #answer(message: Uint8Array): void {
    const room = this.#responder.room;
    room.set(message);
    const length = this.#responder.answer(room, message.length, false, MAX_TCP_SIZE);
    // A client that sends anything but questions loses its connection.
    if (length === VERDICT.DROP) return this.close();
    if (length > 0) return void this.#socket.write(frame(room.subarray(0, length)));
    this.#waiting++;
    this.#responder.forward(message.slice(), false, this.#port, length, (answer) => {
      this.#waiting--;
      if (this.#closed) return;
      this.lastActive = this.#clock.monotonic();
      this.#socket.write(frame(answer));
      this.#answerMore();
    });
  }

  #watch(): void {
    this.#stopWatching = this.#clock.after(IDLE_MS, () => {
      if (this.#clock.monotonic() - this.lastActive >= IDLE_MS) this.close();
      else this.#watch();
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopWatching();
    this.#socket.destroy();
    this.#gone();
  }
}
