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
    const text = await readText(connection);
    const line = text.split("\r\n")[0] ?? "";
    if (/^HTTP\/1\.\d 2\d\d\b/.test(line)) return;
    const reason = text.split("\r\n\r\n").slice(1).join(" ").trim();
    throw new Error(reason || `${socket}${path}: got ${line || "no answer"}`);
  });
}

/** Longest answer that is read, bytes: a reason in words. */
const MAX_ANSWER = 4096;

async function readText(connection: Deno.Conn): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(MAX_ANSWER);
  let text = "";
  while (text.length < MAX_ANSWER) {
    const length = await connection.read(buffer);
    if (length === null) break;
    text += decoder.decode(buffer.subarray(0, length), { stream: true });
  }
  return text;
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await connection.write(rest));
}
