/**
 * HTTPS requests that check no certificate, for users who ask for that (`--skip-tls-verify`,
 * `JWKS_RESOLVER_INSECURE_SKIP_VERIFY`). `fetch` cannot. Redirects are not followed.
 *
 * Permissions: net (the address asked).
 *
 * @module
 */
import { request } from "node:https";
import { Readable } from "node:stream";

/**
 * One request, as `fetch` makes it.
 *
 * @param identity PEM of a client certificate and its key. Default: none is shown.
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
      // Otherwise the machine's authorities are read, which takes a permission, and then not asked.
      ca: [],
      agent: false,
      ...(init.signal ? { signal: init.signal } : {}),
    }, (answer) => {
      const body = Readable.toWeb(answer) as unknown as ReadableStream<Uint8Array>;
      const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
      // A status without a body (204, 304) may not be given one.
      const status = answer.statusCode ?? 502;
      resolve(new Response([204, 205, 304].includes(status) ? null : body, { status, headers }));
    });
    call.on("error", reject);
    call.end(init.body as string | undefined);
  });
}

/** Headers with all values of each name: a name that comes twice is sent twice, as `fetch` does. */
function linesOf(headers: HeadersInit = {}): Record<string, string | string[]> {
  const pairs = Symbol.iterator in headers ? [...headers as Iterable<string[]>] : Object.entries(headers);
  const lines: Record<string, string | string[]> = {};
  for (const [name = "", value = ""] of pairs) {
    const before = lines[name];
    lines[name] = before === undefined ? value : [before, value].flat();
  }
  return lines;
}

/** One GET, read whole. */
export async function uncheckedGet(url: string, headers: Readonly<Record<string, string>>, ms: number) {
  const answer = await uncheckedExchange(url, { headers: { ...headers }, signal: AbortSignal.timeout(ms) });
  return { status: answer.status, body: await answer.text() };
}
