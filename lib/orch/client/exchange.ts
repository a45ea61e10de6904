/**
 * HTTP to the orchestrator's API with one access.
 *
 * HTTP/1.1 gives each watch a connection of its own, so that a dead connection silences one watch only. HTTP/2 would
 * put all requests on one connection, and `fetch` cannot leave a dead connection.
 *
 * Permissions: net (the API's address, or its proxy's).
 *
 * @module
 */
import { requireCertificates } from "../../kernel/fetch/authorities.ts";
import type { ApiAccess } from "./access.ts";

/** Makes an HTTP request, as `fetch` does. */
export type ApiExchange = (url: string, init: RequestInit) => Promise<Response>;

/** An exchange with reused connections. */
export interface OpenExchange {
  readonly exchange: ApiExchange;
  /** Drops idle connections. Running requests go on. */
  close(): void;
}

/**
 * The exchange of an access.
 *
 * @throws {Error} for unusable certificates or an unusable proxy.
 */
export async function openExchange({ server, ca, unchecked, identity, proxy }: ApiAccess): Promise<OpenExchange> {
  if (unchecked && server.startsWith("https:")) {
    if (proxy !== undefined) {
      throw new Error("a proxy together with an unchecked certificate: expected only one of the two");
    }
    const { uncheckedExchange } = await import("../../kernel/fetch/unchecked.ts");
    return { exchange: (url, init) => uncheckedExchange(url, init, identity), close: () => {} };
  }
  const client = Deno.createHttpClient({
    http2: false,
    ...(ca === undefined ? {} : { caCerts: [requireCertificates(ca, "certificate-authority")] }),
    ...(proxy === undefined ? {} : { proxy: { url: proxy } }),
    ...(identity ?? {}),
  });
  return { exchange: (url, init) => fetch(url, { ...init, client }), close: () => client.close() };
}

/** Whether two accesses can share connections. */
export function sameConnections(a: ApiAccess, b: ApiAccess): boolean {
  return a.server === b.server && a.ca === b.ca && a.unchecked === b.unchecked && a.proxy === b.proxy &&
    a.identity?.cert === b.identity?.cert && a.identity?.key === b.identity?.key;
}
