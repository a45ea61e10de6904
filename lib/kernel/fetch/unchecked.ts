/**
 * HTTPS requests without a check of certificates, for users with `--skip-tls-verify` or
 * `JWKS_RESOLVER_INSECURE_SKIP_VERIFY`. `fetch` cannot leave the check out. Redirects are not followed.
 *
 * Permissions: net (the address asked).
 *
 * @module
 */
import { request } from "node:https";
import { Readable } from "node:stream";

/**
 * Makes a request like `fetch`.
 *
 * @param identity PEM of a client certificate and its key. Default: no client certificate.
 */
export function uncheckedExchange(
  url: string,
  init: RequestInit,
  identity?: { readonly cert: string; readonly key: string },
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const call = request(url, {
      method: init.method ?? "GET",
      headers: linesOf(init.headers),
      ...identity,
      rejectUnauthorized: false,
      // Without an own list, the machine's authorities are read. The read takes a permission and has no effect.
      ca: [],
      agent: false,
      ...(init.signal ? { signal: init.signal } : {}),
    }, (answer) => {
      const body = Readable.toWeb(answer) as unknown as ReadableStream<Uint8Array>;
      const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
      // `Response` rejects a body for a status without a body.
      const status = answer.statusCode ?? 502;
      resolve(new Response([204, 205, 304].includes(status) ? null : body, { status, headers }));
    });
    call.on("error", reject);
    call.end(init.body as string | undefined);
  });
}

/** Headers with all values of each name. A repeated name is sent repeatedly, as by `fetch`. */
function linesOf(headers: HeadersInit = {}): Record<string, string | string[]> {
  const pairs = Symbol.iterator in headers ? [...headers as Iterable<string[]>] : Object.entries(headers);
  const lines: Record<string, string | string[]> = {};
  for (const [name = "", value = ""] of pairs) {
    const before = lines[name];
    lines[name] = before === undefined ? value : [before, value].flat();
  }
  return lines;
}

/** A GET request with the whole answer. */
export async function uncheckedGet(url: string, headers: Readonly<Record<string, string>>, ms: number) {
  const answer = await uncheckedExchange(url, { headers: { ...headers }, signal: AbortSignal.timeout(ms) });
  return { status: answer.status, body: await answer.text() };
}
