/**
 * Messages from the plugin to the node agent over UNIX sockets: log lines, and pods of the node tunnel. Each message is
 * a small HTTP request. The request is written here, because a client library would take more time than the call has.
 *
 * Permissions: read and write (the sockets' paths).
 *
 * @module
 */
import { withinTime } from "../pods/within.ts";

/** Socket for log lines in the run folder: `POST /log`, an array of texts. */
export const LOG_SOCKET = "log.sock";

/** Socket for pods of the node tunnel in the run folder: `POST /cmdadd`. */
export const EVENT_SOCKET = "pluginevent.sock";

/**
 * Posts JSON to a socket.
 * @param ms Longest time, milliseconds.
 * @throws {Error} When there is no listener, the time is over, or the answer is not a success.
 */
export async function post(socket: string, path: string, value: unknown, ms: number): Promise<void> {
  const open = () => Deno.connect({ transport: "unix", path: socket });
  await withinTime(ms, open, async (connection) => {
    const body = new TextEncoder().encode(JSON.stringify(value));
    const head = `POST ${path} HTTP/1.1\r\nhost: node\r\ncontent-type: application/json\r\n` +
      `content-length: ${body.length}\r\nconnection: close\r\n\r\n`;
    await writeAll(connection, new TextEncoder().encode(head));
    await writeAll(connection, body);
    const answer = new Uint8Array(512);
    const length = await connection.read(answer);
    const line = new TextDecoder().decode(answer.subarray(0, length ?? 0)).split("\r\n")[0] ?? "";
    if (!/^HTTP\/1\.\d 2\d\d\b/.test(line)) throw new Error(`${socket}${path}: got ${line || "no answer"}`);
  });
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await connection.write(rest));
}
