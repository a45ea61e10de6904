/**
 * Envoy's admin page, as far as an agent needs the page. Each call has a deadline: a hanging Envoy must not keep the
 * agent from ending.
 *
 * Permissions: net (the admin address).
 *
 * @module
 */

import { request } from "node:http";

/** Time for one call, ms. The page is on the same machine, but a busy main thread answers late. */
const DEADLINE = 2000;

/** The admin page of one Envoy. */
export interface EnvoyAdmin {
  /**
   * Drains listeners: clients are asked to go elsewhere, new connections are still taken.
   *
   * @throws Error when Envoy does not take the call in time.
   */
  drain(inboundOnly: boolean): Promise<void>;
  /**
   * Open connections of clients, without connections to Envoy's own pages. Undefined: Envoy reports no number.
   * @throws {Error} When Envoy does not answer in time.
   */
  activeConnections(): Promise<number | undefined>;
  /**
   * Any page, as text.
   *
   * @throws Error when Envoy does not answer in time, or refuses.
   */
  page(path: string, method?: "GET" | "POST"): Promise<string>;
}

/** The address of Envoy's own pages. Connections to these pages are not connections of clients. */
export interface AdminOptions {
  /** `127.0.0.1:15000`. */
  readonly address: string;
  /** Ports of readiness and metrics. */
  readonly ownPorts: readonly number[];
  /** Time for one call, ms; default 2,000. */
  readonly deadline?: number;
}

/** Asks the admin page. */
export function envoyAdmin({ address, ownPorts, deadline = DEADLINE }: AdminOptions): EnvoyAdmin {
  const page = async (path: string, method: "GET" | "POST" = "GET") => {
    const signal = AbortSignal.timeout(deadline);
    try {
      const { status, text } = await exchange(`http://${address}/${path}`, method, signal);
      if (status >= 200 && status < 300) return text;
      throw new Error(`status ${status}: ${text.slice(0, 200)}`);
    } catch (error) {
      const reason = signal.aborted ? `no answer within ${deadline / 1000} s` : (error as Error).message;
      throw new Error(`admin page ${path}: ${reason}`, { cause: error });
    }
  };
  return {
    page,
    async drain(inboundOnly) {
      await page(`drain_listeners?graceful${inboundOnly ? "&inboundonly" : ""}`, "POST");
    },
    async activeConnections() {
      return countConnections(await page("stats?filter=downstream_cx_active$"), ownPorts);
    },
  };
}

/**
 * One request, by the client of `node:http`, which the status port has loaded already. The client behind `fetch` would
 * add 1 MB to the memory of an idle agent.
 */
function exchange(
  url: string,
  method: string,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const sent = request(url, { method, signal, agent: false }, (response) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (part: string) => text += part);
    response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    response.on("error", reject);
    response.on("close", () => reject(new Error("the answer broke off")));
  });
  sent.on("error", reject);
  sent.end();
  return promise;
}

/** `listener.NAME.downstream_cx_active: N`. The number of a worker is a part of the listener's number. */
const CONNECTIONS = /^listener\.(.+)\.downstream_cx_active: (\d+)$/;

/**
 * Sums the connections of client-facing listeners.
 * @returns Undefined: there is no such listener.
 */
export function countConnections(stats: string, ownPorts: readonly number[]): number | undefined {
  let sum: number | undefined;
  for (const line of stats.split("\n")) {
    const [, name = "", count = ""] = CONNECTIONS.exec(line.trim()) ?? [];
    const isOwn = name === "" || /^admin(\.|$)/.test(name) || ownPorts.some((port) => name.endsWith(`_${port}`));
    // Internal listeners pass connections on that another listener has counted.
    if (isOwn || /\.worker_\d+$/.test(name) || name.startsWith("envoy_internal_")) continue;
    sum = (sum ?? 0) + Number(count);
  }
  return sum;
}
