/**
 * A web server of a test on a free port of loopback.
 *
 * Permissions: net (loopback).
 *
 * @module
 */

/** The server. */
export class TestWebServer implements AsyncDisposable {
  /** Requested paths, in order. */
  readonly asked: string[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  /** @param tls certificate and key; absent: plain text */
  constructor(answer: (request: Request) => Response | Promise<Response>, tls?: { cert: string; key: string }) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {}, ...tls }, (request) => {
      const { pathname, search } = new URL(request.url);
      this.asked.push(pathname + search);
      return answer(request);
    });
  }

  /** `127.0.0.1:port`. */
  get host(): string {
    return `127.0.0.1:${this.#server.addr.port}`;
  }

  get port(): number {
    return this.#server.addr.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
