/**
 * A stand-in for a cloud's servers, which answers by a test's function and keeps the requests.
 *
 * Permissions: net (loopback).
 * @module
 */

/** A request to the stand-in. */
export interface CloudRequest {
  /** Method, path and query. */
  readonly line: string;
  readonly headers: Headers;
  readonly body: string;
}

/** The server. */
export class CloudServer implements AsyncDisposable {
  readonly requests: CloudRequest[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #closing = new AbortController();

  /** @param answer Response by `METHOD /path`; undefined: 404; `silence`: the request is never answered. */
  constructor(answer: (request: CloudRequest) => Response | "silence" | undefined) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
      const { pathname, search } = new URL(request.url);
      const asked = {
        line: `${request.method} ${pathname}${search}`,
        headers: request.headers,
        body: await request.text(),
      };
      this.requests.push(asked);
      const response = answer(asked);
      if (response !== "silence") return response ?? new Response("no such page", { status: 404 });
      await new Promise((resolve) => {
        for (const { signal } of [this.#closing, request]) signal.addEventListener("abort", resolve, { once: true });
      });
      return new Response();
    });
  }

  /** `host:port`. */
  get host(): string {
    return `127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#server.shutdown();
  }
}

/** Answers of pages by their path; a page wants the header of Google's metadata server. */
export function googlePages(pages: Readonly<Record<string, string>>): (request: CloudRequest) => Response | undefined {
  return ({ line, headers }) => {
    if (headers.get("metadata-flavor") !== "Google") return new Response("", { status: 403 });
    const text = pages[line.replace("GET /computeMetadata/v1/", "")];
    return text === undefined ? undefined : new Response(text);
  };
}

/** An unsigned token with an end, seconds since 1970. */
export function unsignedToken(exp: number, sub = "machine"): string {
  const part = (value: unknown) =>
    btoa(JSON.stringify(value)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return `${part({ alg: "RS256" })}.${part({ exp, sub })}.c2lnbmF0dXJl`;
}
