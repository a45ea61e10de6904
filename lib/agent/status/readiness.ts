/**
 * Whether the proxy serves: it has had its first clusters and listeners, is live, its workers run, and what else is asked
 * for is there.
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

/** Something else that must be there: why it is not, undefined: it is. An exception is a reason as well. */
export type ReadinessCheck = () => Promise<string | undefined>;

/** See the module. Once ready it stays so until it drains: what a server that is away misses is not asked for. */
export class ProxyReadiness {
  readonly #checks: readonly ReadinessCheck[];
  #isReady = false;
  #isDraining = false;
  /** Several probes at once are one question. */
  #asking: Promise<string | undefined> | undefined;

  /** @param checks made in order, once Envoy says that it is ready */
  constructor(admin: Pick<EnvoyAdmin, "page">, checks: readonly ReadinessCheck[]) {
    this.#checks = [() => askEnvoy(admin), ...checks];
  }

  /** The proxy takes its leave: it is not ready any more. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Why it is not ready; undefined: it is. */
  async reason(): Promise<string | undefined> {
    if (this.#isDraining) return "the proxy is draining";
    if (this.#isReady) return undefined;
    this.#asking ??= firstReason(this.#checks).finally(() => this.#asking = undefined);
    const reason = await this.#asking;
    this.#isReady ||= reason === undefined;
    return this.#isDraining ? "the proxy is draining" : reason;
  }
}

async function firstReason(checks: readonly ReadinessCheck[]): Promise<string | undefined> {
  try {
    for (const check of checks) {
      const reason = await check();
      if (reason !== undefined) return reason;
    }
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

async function askEnvoy(admin: Pick<EnvoyAdmin, "page">): Promise<string | undefined> {
  return notReady(await admin.page(`stats?filter=${encodeURIComponent(FILTER)}`));
}

/**
 * The reason why Envoy is not ready, by its statistics; undefined: it is.
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
