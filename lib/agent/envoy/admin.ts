/**
 * Envoy's admin page, as far as an agent needs it. Each call has a deadline: an Envoy that hangs must not keep its agent
 * from ending.
 *
 * Permissions: net (the admin address).
 *
 * @module
 */

import { request } from "node:http";

/** Time for one call, ms: the page is on the same machine, and a busy main thread answers late. */
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
   * Connections that clients have open, those of Envoy's own pages not counted; undefined: Envoy counts none.
   *
   * @throws Error when Envoy does not answer in time.
   */
  activeConnections(): Promise<number | undefined>;
  /**
   * Any page, as text.
   *
   * @throws Error when Envoy does not answer in time, or refuses.
   */
  page(path: string, method?: "GET" | "POST"): Promise<string>;
}

/** The address of Envoy's own pages; connections to them are no clients'. */
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
 * One request, by the client of `node:http`: the status port has loaded that. The client behind `fetch` would be 1 MB
 * more of an idle agent's memory.
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

/** `listener.NAME.downstream_cx_active: N`; those of a worker are a part of those of its listener. */
const CONNECTIONS = /^listener\.(.+)\.downstream_cx_active: (\d+)$/;

/**
 * Sums the connections of listeners that clients connect to.
 *
 * @returns undefined when there is no such listener.
 */
export function countConnections(stats: string, ownPorts: readonly number[]): number | undefined {
  let sum: number | undefined;
  for (const line of stats.split("\n")) {
    const [, name = "", count = ""] = CONNECTIONS.exec(line.trim()) ?? [];
    const isOwn = name === "" || /^admin(\.|$)/.test(name) || ownPorts.some((port) => name.endsWith(`_${port}`));
    // Internal listeners pass on what another listener has counted.
    if (isOwn || /\.worker_\d+$/.test(name) || name.startsWith("envoy_internal_")) continue;
    sum = (sum ?? 0) + Number(count);
  }
  return sum;
}
