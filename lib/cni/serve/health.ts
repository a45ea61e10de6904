/**
 * The installer's HTTP: liveness and readiness for the orchestrator, metrics for scrapers.
 *
 * Permissions: net (the listen addresses).
 *
 * @module
 */
import { buildInfo } from "../../kernel/build_info.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";

/** A page: its answer to a caller at an address, or undefined for a path that is not its own. */
export type Page = (path: string, caller: string) => Response | Promise<Response> | undefined;

/** Addresses of this machine, as a caller has them. */
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** `/healthz`: 200 as long as the program runs. `/readyz`: 200 when the plugin is installed, else 503 and why. */
export function healthPages(notReady: () => string | undefined): Page {
  return (path) => {
    if (path === "/healthz") return text(200, "ok\n");
    if (path !== "/readyz") return undefined;
    const why = notReady();
    return why === undefined ? text(200, "ok\n") : text(503, `${why}\n`);
  };
}

/**
 * `/metrics` and `/version`.
 *
 * @param localOnly `/metrics` is for callers on this machine only (METRICS_LOCALHOST_ACCESS_ONLY).
 */
export function metricPages(metrics: Metrics, localOnly: boolean): Page {
  return async (path, caller) => {
    if (path === "/version") {
      const { version, revision, status } = buildInfo();
      return text(200, `${version}-${revision}-${status}\n`);
    }
    if (path !== "/metrics") return text(404, "not found\n");
    if (localOnly && !LOOPBACK.test(caller)) return text(403, "only from this machine\n");
    const { contentType, body } = await metrics.scrape();
    return new Response(body, { headers: { "content-type": contentType } });
  };
}

/** A server that listens. */
export interface PageServer {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Serves pages on a port of all addresses.
 *
 * @throws When the port cannot be had.
 */
export function servePages(port: number, page: Page, failed: (error: unknown) => void): PageServer {
  const onError = (error: unknown) => {
    failed(error);
    return text(500, "this page failed\n");
  };
  const answer = async (request: Request, { remoteAddr }: Deno.ServeHandlerInfo<Deno.NetAddr>): Promise<Response> => {
    if (request.method !== "GET" && request.method !== "HEAD") return text(405, "GET or HEAD\n");
    return await page(new URL(request.url).pathname, remoteAddr.hostname) ?? text(404, "not found\n");
  };
  const server = onAllAddresses((hostname) => Deno.serve({ port, hostname, onListen() {}, onError }, answer));
  return { port: server.addr.port, stop: () => server.shutdown() };
}

/** Listens for both families, or for IPv4 on a machine whose kernel has no other. */
export function onAllAddresses<T>(listen: (hostname: string) => T): T {
  try {
    return listen("::");
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse || error instanceof Deno.errors.PermissionDenied) throw error;
    return listen("0.0.0.0");
  }
}

function text(status: number, body: string): Response {
  return new Response(body, { status, headers: { "content-type": "text/plain; charset=utf-8" } });
}
