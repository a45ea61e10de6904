/**
 * A port of this machine that leads to the API server inside of the cluster's network.
 *
 * Permissions: net (127.0.0.1), read and write (the folder of the socket), run (nsenter, setpriv, socat).
 *
 * @module
 */
import { until } from "../../patience.ts";
import type { InnerProgram, Namespaces } from "./namespaces.ts";

export class ApiRelay implements AsyncDisposable {
  readonly port: number;
  readonly #listener: Deno.Listener;
  readonly #socket: string;
  readonly #inner: InnerProgram;

  private constructor(listener: Deno.TcpListener, socket: string, inner: InnerProgram) {
    this.#listener = listener;
    this.port = listener.addr.port;
    this.#socket = socket;
    this.#inner = inner;
    this.#serve();
  }

  /** @param target Address and port in the namespaces. */
  static async start(namespaces: Namespaces, target: string, folder: string): Promise<ApiRelay> {
    const socket = `${folder}/api.sock`;
    const args = [`UNIX-LISTEN:${socket},fork`, `TCP:${target}`];
    const inner = namespaces.start("socat", "socat", args, folder);
    await until("the socket of socat", () => Deno.stat(socket).then(() => true, () => false), 50)
      .catch(async (error) => {
        throw new Error(`socat made no socket:\n${await inner.log()}`, { cause: error });
      });
    return new ApiRelay(Deno.listen({ hostname: "127.0.0.1", port: 0 }), socket, inner);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.#inner.stop("KILL").catch(() => {});
  }

  async #serve(): Promise<void> {
    for await (const client of this.#listener) this.#carry(client).catch(() => {});
  }

  async #carry(client: Deno.Conn): Promise<void> {
    const server = await Deno.connect({ transport: "unix", path: this.#socket });
    // Both directions end together. A client or a server that closes first is not an error.
    await Promise.allSettled([client.readable.pipeTo(server.writable), server.readable.pipeTo(client.writable)]);
  }
}
