/**
 * Requests to a listener, byte by byte as a test wants them.
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import type { RequestHeaders } from "../../lib/simulate/mod.ts";

/** Sends bytes and reads until `done` accepts the answer, or until the other side closes. */
export async function exchange(
  ip: string,
  port: number,
  bytes: Uint8Array,
  done: (answer: string) => boolean = () => false,
): Promise<string> {
  const connection = await Deno.connect({ hostname: ip, port });
  try {
    if (bytes.length > 0) await connection.write(bytes);
    const decoder = new TextDecoder();
    const buffer = new Uint8Array(65536);
    let answer = "";
    while (!done(answer)) {
      // A reset is an end too.
      const count = await connection.read(buffer).catch(() => null);
      if (count === null) break;
      answer += decoder.decode(buffer.subarray(0, count), { stream: true });
    }
    return answer;
  } finally {
    connection.close();
  }
}

/** Sends an HTTP/1.1 request with the exact line and headers. @returns the answer's status, headers and body */
export async function httpExchange(
  port: number,
  request: {
    readonly method: string;
    readonly path: string;
    readonly host: string;
    readonly headers: RequestHeaders;
  },
): Promise<{ status: number; headers: Map<string, string>; body: string }> {
  const lines = [
    `${request.method} ${request.path} HTTP/1.1`,
    `Host: ${request.host}`,
    ...Object.entries(request.headers).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}`)),
    "Connection: close",
  ];
  const answer = await exchange("127.0.0.1", port, new TextEncoder().encode(lines.join("\r\n") + "\r\n\r\n"), isWhole);
  const end = answer.indexOf("\r\n\r\n");
  const [first, ...rest] = answer.slice(0, end).split("\r\n");
  const headers = new Map(rest.map((header) => {
    const colon = header.indexOf(":");
    return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()];
  }));
  return { status: Number(first?.split(" ")[1]), headers, body: answer.slice(end + 4) };
}

/** Whether an answer has its headers and all announced bytes; Envoy may keep the connection for a while. */
function isWhole(answer: string): boolean {
  const end = answer.indexOf("\r\n\r\n");
  if (end < 0) return false;
  if (/\r\ntransfer-encoding: chunked/i.test(answer.slice(0, end))) return answer.endsWith("\r\n0\r\n\r\n");
  return answer.length - end - 4 >= Number(/\r\ncontent-length: (\d+)/i.exec(answer.slice(0, end))?.[1] ?? 0);
}
