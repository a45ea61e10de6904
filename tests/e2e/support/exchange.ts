/**
 * A single exchange of texts on a new connection.
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import { once } from "node:events";
import { connect } from "node:net";
import { PATIENCE } from "../../patience.ts";

/** Sends a text, and reads until the other end closes or the answer is complete. */
export async function exchange(
  port: number,
  text: string,
  isWhole: (answer: string) => boolean = () => false,
): Promise<string> {
  try {
    const socket = connect({ host: "127.0.0.1", port, timeout: PATIENCE });
    let answer = "";
    socket.setEncoding("utf8").on("data", (part) => {
      answer += part;
      if (isWhole(answer)) socket.destroy();
    });
    socket.on("timeout", () => socket.destroy());
    socket.write(text);
    await once(socket, "close");
    return answer;
  } catch (error) {
    return String(error);
  }
}
