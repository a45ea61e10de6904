/**
 * Stands in front of a real API server and passes everything on, until a test begins a trouble.
 *
 * Permissions: net (loopback, the API server).
 * @module
 */
import type { ApiAccess } from "../../../lib/orch/client/access.ts";
import { type OpenExchange, openExchange } from "../../../lib/orch/client/exchange.ts";

/** A lasting fault of the API. */
export type Trouble =
  | "none"
  /** Every request is refused. */
  | "server errors"
  | "too many requests"
  | "expired tokens"
  /** No answer comes. Open watches fall silent, and lose their events. */
  | "silence"
  /** Answers come late, in small pieces. */
  | "slowness"
  /** Bodies are cut off, and all watches. */
  | "cuts"
  /** Inside of a success, watches hear that their version is forgotten. */
  | "compaction"
  /** Watches end with an error inside of a success. */
  | "errors in watches";

/** All troubles but none. */
export const TROUBLES: readonly Exclude<Trouble, "none">[] = [
  "server errors",
  "too many requests",
  "expired tokens",
  "silence",
  "slowness",
  "cuts",
  "compaction",
  "errors in watches",
];

const encoder = new TextEncoder();
const SLOW_MS = 30;

/** An open watch. */
interface OpenWatch {
  /** Ends the watch with a line, or by an error. */
  end(line?: string): void;
  isMute: boolean;
}

/** Runs until disposed of. */
export class FaultyApi implements AsyncDisposable {
  /** Requests so far while each trouble lasted. */
  readonly met = new Map<Trouble, number>();
  readonly #access: ApiAccess;
  readonly #exchange: OpenExchange;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #watches = new Set<OpenWatch>();
  readonly #hanging = new Set<() => void>();
  #trouble: Trouble = "none";

  private constructor(access: ApiAccess, exchange: OpenExchange) {
    this.#access = access;
    this.#exchange = exchange;
    this.#server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      (request) => this.#answer(request),
    ) as Deno.HttpServer<Deno.NetAddr>;
  }

  static async start(access: ApiAccess): Promise<FaultyApi> {
    return new FaultyApi(access, await openExchange(access));
  }

  get address(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Begins a trouble in place of the one before; open watches take part in the trouble. */
  become(trouble: Trouble): void {
    this.#trouble = trouble;
    for (const free of this.#hanging) free();
    for (const watch of this.#watches) {
      if (trouble === "silence") watch.isMute = true;
      else if (trouble === "compaction") watch.end(errorLine(410));
      else if (trouble === "errors in watches") watch.end(errorLine(500));
      else if (trouble !== "none" && trouble !== "slowness") watch.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.become("cuts");
    await this.#server.shutdown();
    this.#exchange.close();
  }

  async #answer(request: Request): Promise<Response> {
    const trouble = this.#trouble;
    this.met.set(trouble, (this.met.get(trouble) ?? 0) + 1);
    const url = new URL(request.url);
    const isWatch = url.searchParams.get("watch") === "true";
    switch (trouble) {
      case "server errors":
        return status(503);
      case "too many requests":
        return status(429, { "retry-after": "1" });
      case "expired tokens":
        return status(401);
      case "silence":
        await new Promise<void>((resolve) => {
          this.#hanging.add(resolve);
          request.signal.addEventListener("abort", () => resolve());
        });
        return status(503);
      case "compaction":
        if (isWatch) return new Response(errorLine(410));
        break;
      case "errors in watches":
        if (isWatch) return new Response(errorLine(500));
        break;
      case "slowness":
        await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    }
    return await this.#passOn(request, url, isWatch, trouble);
  }

  async #passOn(request: Request, url: URL, isWatch: boolean, trouble: Trouble): Promise<Response> {
    const upstream = new AbortController();
    request.signal.addEventListener("abort", () => upstream.abort());
    const headers = new Headers(request.headers);
    for (const name of ["host", "authorization", "accept-encoding"]) headers.delete(name);
    const response = await this.#exchange.exchange(`${this.#access.server}${url.pathname}${url.search}`, {
      ...{ headers, signal: upstream.signal, redirect: "manual" },
    });
    const body = response.body && this.#body(response.body, isWatch, trouble, () => upstream.abort());
    return new Response(body, { status: response.status, headers: response.headers });
  }

  #body(from: ReadableStream<Uint8Array>, isWatch: boolean, trouble: Trouble, leave: () => void) {
    let watch: OpenWatch | undefined;
    const over = () => void (watch && this.#watches.delete(watch));
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        const end = (line?: string) => {
          over();
          if (line === undefined) controller.error(new Error("cut by the test"));
          else {
            controller.enqueue(encoder.encode(line));
            controller.close();
          }
          leave();
        };
        watch = { end, isMute: false };
        if (isWatch) this.#watches.add(watch);
        void (async () => {
          for await (const bytes of from) {
            if (isWatch && !this.#watches.has(watch)) return;
            if (watch.isMute) continue;
            if (trouble === "cuts") return end();
            const size = trouble === "slowness" ? 1000 : bytes.length;
            for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
            if (trouble === "slowness") await new Promise((resolve) => setTimeout(resolve, 2));
          }
          if (isWatch && !this.#watches.has(watch)) return;
          over();
          controller.close();
        })().catch(() => {});
      },
      cancel: () => {
        over();
        leave();
      },
    });
  }
}

function errorLine(code: number): string {
  return JSON.stringify({ type: "ERROR", object: { kind: "Status", code, message: "as the test wants" } }) + "\n";
}

function status(code: number, headers: Record<string, string> = {}): Response {
  return Response.json({ kind: "Status", code, message: "as the test wants" }, { status: code, headers });
}
