/**
 * Whether the proxy serves: the first clusters and listeners have arrived, the proxy is live, its workers run, and
 * further conditions are met.
 *
 * @module
 */
import type { EnvoyAdmin } from "../envoy/admin.ts";

/** Statistics of Envoy, each with the name of the missing part when the value is 0 or absent. */
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

/** A further condition: the reason why the condition is not met, or undefined. An exception is a reason as well. */
export type ReadinessCheck = () => Promise<string | undefined>;

/**
 * Readiness of one proxy. Once ready, the proxy stays ready until it drains: a server that goes away later does not
 * matter.
 */
export class ProxyReadiness {
  readonly #checks: readonly ReadinessCheck[];
  #isReady = false;
  #isDraining = false;
  /** Simultaneous probes share one request. */
  #asking: Promise<string | undefined> | undefined;

  /** @param checks Made in order, once Envoy reports ready. */
  constructor(admin: Pick<EnvoyAdmin, "page">, checks: readonly ReadinessCheck[]) {
    this.#checks = [() => askEnvoy(admin), ...checks];
  }

  /** The proxy begins to drain, and is not ready any more. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Why the proxy is not ready. Undefined: the proxy is ready. */
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
 * The reason why Envoy is not ready, by Envoy's statistics. Undefined: Envoy is ready.
 * @param stats Lines `NAME: VALUE`.
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
