/**
 * One exchange of texts on a connection of its own.
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import { once } from "node:events";
import { connect } from "node:net";

/** Sends a text, and reads until the other end closes. */
export async function exchange(port: number, text: string): Promise<string> {
  try {
    const socket = connect({ host: "127.0.0.1", port, timeout: 2000 });
    let answer = "";
    socket.setEncoding("utf8").on("data", (part) => answer += part);
    socket.on("timeout", () => socket.destroy());
    socket.write(text);
    await once(socket, "close");
    return answer;
  } catch (error) {
    return String(error);
  }
}
