/**
 * An HTTP request to a local server, without proxies, redirects or connection reuse.
 *
 * Permissions: net (the server's address).
 *
 * @module
 */
import { request } from "node:http";

export interface ClientRequest {
  readonly method: string;
  readonly url: URL;
  readonly body?: string | undefined;
  /** Longest time for the whole exchange, milliseconds. */
  readonly timeout: number;
  /** Longest body, bytes. Default: no limit. */
  readonly maxBytes?: number;
}

/** An answer, read whole. */
export interface ClientResponse {
  readonly status: number;
  /** By name in lower case; of a header that came several times, the first. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Makes a request.
 * @throws {Error} With the reason as message: refused, timed out, or the protocol's own words.
 */
export function httpExchange(ask: ClientRequest): Promise<ClientResponse> {
  const { maxBytes = Infinity } = ask;
  return new Promise((resolve, reject) => {
    const headers = ask.body === undefined ? {} : { "content-length": new TextEncoder().encode(ask.body).length };
    const call = request(ask.url, { method: ask.method, headers, agent: false }, (answer) => {
      const chunks: Uint8Array[] = [];
      let length = 0;
      answer.on("data", (chunk: Uint8Array) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > maxBytes) call.destroy(new Error(`the answer is longer than ${maxBytes} bytes`));
      });
      answer.on("error", fail);
      answer.on("end", () => {
        clearTimeout(timer);
        resolve({
          status: answer.statusCode ?? 0,
          headers: firstValues(answer.headers),
          body: new TextDecoder().decode(joined(chunks)),
        });
      });
    });
    const timer = setTimeout(() => call.destroy(new Error(`no answer within ${ask.timeout} ms`)), ask.timeout);
    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(error);
    };
    call.on("error", fail);
    call.end(ask.body);
  });
}

function firstValues(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const pairs = Object.entries(headers).flatMap(([name, value]) => {
    const [first] = [value].flat();
    return first === undefined ? [] : [[name, first] as const];
  });
  return Object.fromEntries(pairs);
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((sum, c) => sum + c.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
