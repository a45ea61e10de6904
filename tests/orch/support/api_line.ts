/**
 * A line to an API server that a test can cut: a server behind the line reaches the API no more, and nothing else
 * changes for the server.
 *
 * Permissions: net (loopback, the API server), read and write (temp folder).
 * @module
 */
import type { ApiAccess } from "../../../lib/orch/client/access.ts";
import { kubeconfigOf } from "./server/kubeconfig.ts";

/** Passes bytes on until disposed of. */
export class ApiLine implements AsyncDisposable {
  /** File of the access through the line. */
  readonly kubeconfig: string;
  readonly #folder: string;
  readonly #listener: Deno.TcpListener;
  readonly #port: number;
  readonly #open = new Set<Deno.Conn>();
  #isCut = false;

  private constructor(folder: string, listener: Deno.TcpListener, port: number) {
    this.#folder = folder;
    this.kubeconfig = `${folder}/kubeconfig`;
    this.#listener = listener;
    this.#port = port;
    void this.#accept();
  }

  static async open(access: ApiAccess): Promise<ApiLine> {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const line = new ApiLine(
      await Deno.makeTempDir({ prefix: "api-line-" }),
      listener,
      Number(new URL(access.server).port),
    );
    const server = `https://127.0.0.1:${listener.addr.port}`;
    await Deno.writeTextFile(line.kubeconfig, kubeconfigOf({ ...access, server }));
    return line;
  }

  /** Ends all connections, and each new connection at once. */
  cut(): void {
    this.#isCut = true;
    for (const one of this.#open) close(one);
    this.#open.clear();
  }

  mend(): void {
    this.#isCut = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    this.cut();
    await Deno.remove(this.#folder, { recursive: true });
  }

  async #accept(): Promise<void> {
    for await (const near of this.#listener) {
      if (this.#isCut) close(near);
      else void this.#join(near);
    }
  }

  async #join(near: Deno.Conn): Promise<void> {
    this.#open.add(near);
    const far = await Deno.connect({ hostname: "127.0.0.1", port: this.#port }).catch(() => undefined);
    if (far === undefined || this.#isCut) {
      far?.close();
      return close(near);
    }
    this.#open.add(far);
    // The end of either direction ends both: HTTP over TLS has no half of a connection.
    const ways = [near.readable.pipeTo(far.writable), far.readable.pipeTo(near.writable)];
    await Promise.race(ways).catch(() => {});
    for (const one of [near, far]) {
      this.#open.delete(one);
      close(one);
    }
    await Promise.allSettled(ways);
  }
}

function close(one: Deno.Conn): void {
  try {
    one.close();
  } catch {
    // The other side was first.
  }
}
