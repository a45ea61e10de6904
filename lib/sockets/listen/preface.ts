/**
 * gRPC and HTTP/1 on one port, distinguished by the HTTP/2 preface.
 *
 * @module
 */
import type { Socket } from "node:net";
import { remoteDeadline } from "../patience.ts";

/** Every HTTP/2 connection begins with these bytes (RFC 9113, section 3.4). An HTTP/1 request never does. */
const PREFACE = new TextEncoder().encode("PRI * HTTP/2.0");

/**
 * Splits connections by the first bytes.
 *
 * @param grpc takes connections with the HTTP/2 preface
 * @param http1 takes all others
 * @param timeout longest silence of a connection, in milliseconds; default 10,000
 */
export function byPreface(
  grpc: (socket: Socket) => void,
  http1: (socket: Socket) => void,
  timeout = 10_000,
): (socket: Socket) => void {
  return (socket) => {
    let seen = new Uint8Array(0);
    const inTime = remoteDeadline(timeout, () => socket.destroy());
    const giveUp = () => {
      inTime();
      socket.destroy();
    };
    const look = (chunk: Uint8Array) => {
      const joined = new Uint8Array(seen.length + chunk.length);
      joined.set(seen);
      joined.set(chunk, seen.length);
      seen = joined;
      const length = Math.min(seen.length, PREFACE.length);
      const matches = PREFACE.subarray(0, length).every((byte, i) => byte === seen[i]);
      if (matches && seen.length < PREFACE.length) return;
      inTime();
      socket.removeListener("data", look);
      socket.removeListener("error", giveUp);
      socket.removeListener("close", giveUp);
      socket.pause();
      socket.unshift(seen);
      if (matches) return grpc(socket);
      http1(socket);
      // `node:http` listens for data. That does not start a socket after an explicit pause.
      socket.resume();
    };
    socket.on("data", look);
    socket.once("error", giveUp);
    socket.once("close", giveUp);
  };
}
