/**
 * One connection to a probed application over HTTP/1 or HTTP/2, for one request after the other.
 *
 * Permissions: net (the application).
 *
 * @module
 */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { ClientConnection } from "../../grpc/client/client_connection.ts";
import type { HttpHeaders } from "../../grpc/h2/headers.ts";
import { discard } from "../../sockets/transport/discard.ts";
import { SocketTransport } from "../../sockets/transport/socket.ts";
import { AnswerReader, MAX_PROBE_BODY, type ProbeAnswer } from "./http_answer.ts";
import { orAborted } from "./or_aborted.ts";
import { type ProbeAddress, probeSocket } from "./probe_socket.ts";

/** A request. Header names are in lower case, without the headers of a connection. */
export interface ProbeRequest {
  /** `/path?query`. */
  readonly target: string;
  readonly host: string;
  readonly secure: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** A connection for one request at a time. */
export interface ProbeConnection {
  /** @throws {Error} With the reason if there is no response, or the signal's reason. */
  ask(request: ProbeRequest, signal: AbortSignal): Promise<ProbeAnswer>;
  close(): void;
}

/** The protocol of a probe. */
export interface ProbeSpeech {
  /** HTTP/2 is offered on TLS. */
  readonly http2: boolean;
  /** The connection is to be kept. */
  readonly keepAlive: boolean;
}

/** @throws as {@linkcode probeSocket} */
export async function probeConnection(
  address: ProbeAddress,
  secure: boolean,
  { http2, keepAlive }: ProbeSpeech,
  signal: AbortSignal,
): Promise<ProbeConnection> {
  const protocols = !secure ? undefined : http2 ? ["h2", "http/1.1"] as const : ["http/1.1"] as const;
  const socket = await probeSocket(address, protocols, signal);
  return secure && (socket as TLSSocket).alpnProtocol === "h2" ? overHttp2(socket) : overHttp1(socket, keepAlive);
}

function overHttp1(socket: Socket, keepAlive: boolean): ProbeConnection {
  // Errors between two requests end the socket. The next request finds the socket closed.
  socket.on("error", () => {});
  return {
    close: () => discard(socket),
    ask({ target, host, headers }, signal) {
      const reader = new AnswerReader();
      const { promise, resolve, reject } = Promise.withResolvers<ProbeAnswer>();
      const attempt = (read: () => ProbeAnswer | undefined) => {
        try {
          const answer = read();
          if (answer !== undefined) resolve(answer);
        } catch (error) {
          reject(error);
        }
      };
      const data = (bytes: Uint8Array) => attempt(() => reader.push(bytes));
      const ended = () => attempt(() => reader.end());
      socket.on("data", data).once("end", ended).once("close", ended);
      if (socket.destroyed) ended();
      const lines = Object.entries({ host, ...headers, connection: keepAlive ? "keep-alive" : "close" });
      socket.write(`GET ${target} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
      return orAborted({ promise, reject }, signal).finally(() => {
        socket.removeListener("data", data).removeListener("end", ended).removeListener("close", ended);
      });
    },
  };
}

function overHttp2(socket: Socket): ProbeConnection {
  const connection = new ClientConnection(new SocketTransport(socket));
  return {
    close: () => connection.close(),
    async ask({ target, host, secure, headers }, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<ProbeAnswer>();
      const body = new Uint8Array(MAX_PROBE_BODY);
      let length = 0;
      let head: HttpHeaders | undefined;
      const finish = () => {
        if (head === undefined || !/^[2-5]\d\d$/.test(head[":status"] ?? "")) {
          return reject(new Error("a response without a status"));
        }
        const status = Number(head[":status"]);
        resolve({
          status,
          ...(head["location"] ? { location: head["location"] } : {}),
          ...(head["content-type"] === undefined ? {} : { contentType: head["content-type"] }),
          body: body.slice(0, length),
          isReusable: connection.usable,
        });
      };
      const pseudo = { ":method": "GET", ":scheme": secure ? "https" : "http", ":path": target, ":authority": host };
      const stream = connection.open({ ...pseudo, ...headers }, {
        headers: (received) => {
          if (!/^1\d\d$/.test(received[":status"] ?? "")) head ??= received;
        },
        data: (bytes) => {
          const kept = bytes.subarray(0, MAX_PROBE_BODY - length);
          body.set(kept, length);
          length += kept.length;
          if (length === MAX_PROBE_BODY) finish();
        },
        close: (reason) => reason === undefined ? finish() : reject(new Error(reason)),
      });
      stream.end();
      try {
        return await orAborted({ promise, reject }, signal);
      } finally {
        stream.reset();
      }
    },
  };
}
