/**
 * Writes the health that agents report to this server into the status of their entries. Other servers read the status.
 * The health is removed when the agent has left and has not come to another server.
 *
 * A report waits for its entry: a workload that registers itself may report before the entry exists. An entry that
 * loses its condition gets the condition back, as long as the agent has a stream here.
 *
 * Permissions: the permissions of the client. Rights of the account: `get` of workload entries and `patch` of their
 * status.
 *
 * @module
 */
import type { ConfigStore } from "../../config/store.ts";
import { type ConfigObject, objectKey } from "../../config/types.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import type { ApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { TokenBucket } from "../../orch/client/token_bucket.ts";
import type { ObjectPlace } from "../../orch/resources/objects.ts";
import { healthChange, healthRemoval, type WrittenHealth } from "../../status/health.ts";
import { changeStatus } from "../../status/write.ts";
import { StatusWriter, type StatusWriterOptions } from "../../status/writer.ts";
import type { ClientHealth } from "../../xds/protocol/source.ts";
import type { Configuration } from "../sources/configuration.ts";
import type { HealthKeeper } from "./health_reports.ts";
import type { DiscoverySettings } from "../settings/settings.ts";
import type { EntryPlace } from "./shelf.ts";

export interface EntryHealthParts {
  readonly client: ApiClient;
  readonly store: Pick<ConfigStore, "get" | "subscribe">;
  readonly placeOf: (object: ConfigObject) => ObjectPlace | undefined;
  readonly writing: StatusWriterOptions & { readonly clock: Pick<Clock, "now"> };
}

/** A report of a stream to this server. */
interface KeptReport extends WrittenHealth {
  readonly serviceAccount: string | undefined;
}

/** Most characters of a reason in the status. */
const MAX_REASON = 1024;

class EntryHealth implements HealthKeeper {
  readonly #parts: EntryHealthParts;
  readonly #kept = new Map<string, KeptReport>();
  readonly #writer: StatusWriter;
  readonly #stop = new AbortController();
  readonly #unsubscribe: () => void;

  constructor(parts: EntryHealthParts) {
    this.#parts = parts;
    this.#writer = new StatusWriter(parts.writing, this.#stop.signal);
    this.#unsubscribe = parts.store.subscribe(({ added, updated }) => {
      if (this.#kept.size === 0) return;
      for (const { key } of [...added, ...updated.map((one) => one.new)]) if (this.#kept.has(key)) this.#look(key);
    });
  }

  report({ namespace, name }: EntryPlace, { healthy, reason = "" }: ClientHealth, serviceAccount?: string): void {
    const key = objectKey("WorkloadEntry", namespace, name);
    const at = new Date(this.#parts.writing.clock.now()).toISOString();
    this.#kept.set(key, { healthy, at, serviceAccount, reason: healthy ? "" : reason.slice(0, MAX_REASON) });
    this.#write(key);
  }

  leave({ namespace, name }: EntryPlace): void {
    const key = objectKey("WorkloadEntry", namespace, name);
    const report = this.#kept.get(key);
    if (report === undefined) return;
    this.#kept.delete(key);
    this.#change(key, report, (status) => healthRemoval(report.at, status));
  }

  /** Ends; the written health stays, because the agents go to other servers. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    this.#stop.abort();
    await this.#writer.stop();
  }

  /**
   * Writes the health of a new entry, or of an entry whose health was removed. Health from another server is left
   * alone: the agent is connected to that server now.
   */
  #look(key: string): void {
    const report = this.#kept.get(key);
    const entry = this.#entry(key);
    if (entry !== undefined && report !== undefined && entry.healthy === undefined) this.#write(key);
  }

  #write(key: string): void {
    const report = this.#kept.get(key);
    if (report !== undefined) this.#change(key, report, (status) => healthChange(report, status));
  }

  #change(
    key: string,
    { serviceAccount }: KeptReport,
    change: (status: ApiJson) => ApiJson | undefined,
  ): void {
    const { client, placeOf } = this.#parts;
    const entry = this.#entry(key);
    const place = entry && placeOf(entry);
    if (entry === undefined || place === undefined || entry.origin.from !== "api") return;
    const { spec: { serviceAccount: named = "" }, origin: { uid } } = entry;
    if (named !== "" && serviceAccount !== undefined && named !== serviceAccount) return;
    this.#writer.put(key, async (signal) => {
      await changeStatus(client, place, uid, ({ status }) => change(status), signal);
    });
  }

  #entry(key: string): ConfigObject<"WorkloadEntry"> | undefined {
    const [, namespace = "", name = ""] = key.split("/");
    return this.#parts.store.get("WorkloadEntry", namespace, name);
  }
}

/** The settings in use. */
type EntryHealthVariables = Pick<
  DiscoverySettings,
  | "MESH_ENABLE_CONTROLLER_QUEUE_METRICS"
  | "PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS"
  | "PILOT_STATUS_BURST"
  | "PILOT_STATUS_MAX_WORKERS"
  | "PILOT_STATUS_QPS"
>;

/** Writes health into the status of entries; undefined: health checks are off. */
export function startEntryHealth(
  { client, configuration }: { readonly client: ApiClient; readonly configuration: Configuration },
  settings: EntryHealthVariables,
  { clock, log, metrics, stopper }: Pick<Kernel, "log" | "metrics" | "clock" | "stopper">,
): EntryHealth | undefined {
  if (!settings.PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS) return undefined;
  const limit = new TokenBucket(settings.PILOT_STATUS_QPS, settings.PILOT_STATUS_BURST, clock);
  const health = new EntryHealth({
    client,
    store: configuration.store,
    placeOf: (object) => configuration.placeOf(object),
    writing: {
      ...{ id: "health", workers: settings.PILOT_STATUS_MAX_WORKERS, limit, clock, log: log.scope("wle"), client },
      metrics: settings.MESH_ENABLE_CONTROLLER_QUEUE_METRICS ? metrics : undefined,
    },
  });
  stopper.add("health in status", () => health.stop());
  return health;
}
