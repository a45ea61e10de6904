/**
 * Whether the proxy serves: it has had its first clusters and listeners, is live, and its workers run.
 *
 * @module
 */
import type { EnvoyAdmin } from "../envoy/admin.ts";

/** Statistics of Envoy that are looked at, with what each says when it is 0 or missing. */
const FIRST_UPDATES: Readonly<Record<string, string>> = {
  "cluster_manager.cds.update_success": "clusters",
  "listener_manager.lds.update_success": "listeners",
};
const WORKERS = "listener_manager.workers_started";
/** 0: live (`envoy.admin.v3.ServerInfo.State`). */
const STATE = "server.state";
const FILTER = `^(${
  [...Object.keys(FIRST_UPDATES), WORKERS, STATE].map((name) => name.replaceAll(".", "\\.")).join("|")
})$`;

/** See the module. Once ready it stays so until it drains: what a server that is away misses is not asked for. */
export class ProxyReadiness {
  readonly #admin: Pick<EnvoyAdmin, "page">;
  #isReady = false;
  #isDraining = false;
  /** Several probes at once are one question. */
  #asking: Promise<string | undefined> | undefined;

  constructor(admin: Pick<EnvoyAdmin, "page">) {
    this.#admin = admin;
  }

  /** The proxy takes its leave: it is not ready any more. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Why it is not ready; undefined: it is. */
  async reason(): Promise<string | undefined> {
    if (this.#isDraining) return "the proxy is draining";
    if (this.#isReady) return undefined;
    this.#asking ??= askEnvoy(this.#admin).finally(() => this.#asking = undefined);
    const reason = await this.#asking;
    this.#isReady ||= reason === undefined;
    return this.#isDraining ? "the proxy is draining" : reason;
  }
}

async function askEnvoy(admin: Pick<EnvoyAdmin, "page">): Promise<string | undefined> {
  try {
    return notReady(await admin.page(`stats?filter=${encodeURIComponent(FILTER)}`));
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * What Envoy lacks by its statistics; undefined: nothing.
 *
 * @param stats lines `NAME: VALUE`
 */
export function notReady(stats: string): string | undefined {
  const values = new Map<string, number>();
  for (const line of stats.split("\n")) {
    const [name = "", value = ""] = line.trim().split(": ");
    if (value !== "") values.set(name, Number(value));
  }
  const missing = Object.entries(FIRST_UPDATES).filter(([name]) => !values.get(name)).map(([, what]) => what);
  if (missing.length > 0) return `the proxy has had no ${missing.join(" and no ")} yet`;
  if (values.get(STATE) !== 0) return "the proxy is not live yet";
  return values.get(WORKERS) === 1 ? undefined : "the proxy's workers have not started yet";
}
