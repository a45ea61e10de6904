/**
 * A server of routes on a loopback port, and clients of raw bytes.
 * @module
 */
import assert from "node:assert/strict";
import type { HttpLimits } from "../../../lib/http/limits.ts";
import type { Route } from "../../../lib/http/route.ts";
import type { LoadRoutes } from "../../../lib/http/router.ts";
import { HttpServer } from "../../../lib/http/server.ts";
import { createLog, defaultLogOptions } from "../../../lib/kernel/log/log.ts";
import type { Clock } from "../../../lib/kernel/time/clock.ts";

/** A running server. */
export interface Served {
  readonly server: HttpServer;
  readonly port: number;
  /** Lines of the server's log, as objects. */
  readonly lines: Record<string, unknown>[];
}

/** How a test's server differs from the default server. */
export interface ServeChanges {
  readonly limits?: Partial<HttpLimits>;
  readonly clock?: Clock;
  readonly later?: LoadRoutes;
}

/** Serves routes while `run` runs. */
export async function withRoutes(
  routes: readonly Route[],
  run: (served: Served) => Promise<void>,
  changes: ServeChanges = {},
): Promise<void> {
  const lines: Record<string, unknown>[] = [];
  const write = (line: Uint8Array) => void lines.push(JSON.parse(new TextDecoder().decode(line)));
  const log = createLog(["http"], { ...defaultLogOptions, json: true }, { open: () => ({ write, close() {} }) });
  const server = new HttpServer({ routes, log: log.scope("http"), ...changes });
  const { port } = await server.listen("127.0.0.1:0");
  try {
    await run({ server, port, lines });
  } finally {
    await server.close(0);
  }
}

/** A route of GET. */
export function get(path: string, handle: Route["handle"]): Route {
  return { methods: ["GET"], path, handle };
}

/** A client that writes and reads bytes. */
export class RawClient implements Disposable {
  readonly #connection: Deno.Conn;
  /** All text read so far. */
  text = "";

  constructor(connection: Deno.Conn) {
    this.#connection = connection;
  }

  /** Connects. */
  static async connect(port: number): Promise<RawClient> {
    return new RawClient(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  /** Writes all of a text. */
  async write(text: string): Promise<void> {
    for (let rest = new TextEncoder().encode(text); rest.length > 0;) {
      rest = rest.subarray(await this.#connection.write(rest));
    }
  }

  /** Reads once; false: the server has closed. */
  async read(): Promise<boolean> {
    const buffer = new Uint8Array(64 * 1024);
    const length = await this.#connection.read(buffer).catch((error) => {
      if (error instanceof Deno.errors.ConnectionReset) return null;
      throw error;
    });
    if (length !== null) this.text += new TextDecoder().decode(buffer.subarray(0, length));
    return length !== null;
  }

  /** Reads until the text matches. */
  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text)) assert.ok(await this.read(), `the server closed after ${this.text}`);
  }

  /** Reads until the server closes. @returns all received text */
  async rest(): Promise<string> {
    while (await this.read());
    return this.text;
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }
}

/** Writes bytes on a new connection. @returns all text until the server closes */
export async function exchange(port: number, text: string): Promise<string> {
  using client = await RawClient.connect(port);
  // The server may answer and close before reading all bytes.
  await client.write(text).catch(() => {});
  return await client.rest();
}
