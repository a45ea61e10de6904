/**
 * Health of workloads outside the orchestrator, as agents report it on their discovery streams.
 *
 * A client with a proven identity may report about workloads of its namespace. The report is about the entry that the
 * node names (`WORKLOAD_ENTRY`) or that the proxy registers, else about workloads with the node's addresses. A report
 * lives as long as its stream and a grace period, so a stream that moves to another server changes nothing. Reports
 * about entries in an orchestrator are written into the status of the entries, for the other servers.
 *
 * @module
 */
import { fromStruct } from "../../pb/wellknown.ts";
import { parseWorkloadIdentity } from "../../pki/spiffe.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import { canonicalIp } from "../../registry/address.ts";
import type { ServiceEntryRegistry } from "../../registry/service_entry/registry.ts";
import type { HealthReport, ReportPlace } from "../../registry/service_entry/reported_health.ts";
import { Metadata } from "../../translate/proxy/metadata.ts";
import type { Proxy } from "../../translate/proxy/node.ts";
import type { ClientHealth } from "../../xds/protocol/source.ts";
import { desiredRegistration } from "./group_entry.ts";
import type { EntryPlace } from "./shelf.ts";
import type { DiscoverySettings } from "../settings/settings.ts";

/** Most addresses of a node that count: one address of each family, and one further address of each. */
const MAX_ADDRESSES = 4;
/** Most characters of a reason in the log. */
const MAX_REASON = 200;
/**
 * For how long after a start entries without a report count as healthy, ms: the longest pause of an agent between two
 * attempts to reach a server.
 */
const FIRST_REPORT = 30_000;
/** Most reports of one stream at level info. Further reports are logged at level debug. */
const MAX_LOGGED = 100;

export interface StreamHealth {
  report(health: ClientHealth): void;
  /** The stream is over. */
  close(): void;
}

/** The last stream that has reported about a place. */
interface HealthReporter {
  readonly stream: object;
  readonly report: HealthReport;
  /** Cancels the end of the grace period; absent: the stream is open. */
  readonly cancel?: Cancel;
}

/** Where reports are kept for other servers. */
export interface HealthKeeper {
  /** Takes a report of a stream. Only the service account in an entry may report for the entry. */
  report(place: EntryPlace, health: ClientHealth, serviceAccount: string | undefined): void;
  /** Called when no stream reports for the entry any more. */
  leave(place: EntryPlace): void;
}

/** Differences between servers. */
export interface HealthReportOptions {
  /** `MESH_WORKLOAD_ENTRY_VALIDATE_IDENTITY`. Without the setting, every client is believed about its own namespace. */
  readonly validateIdentity: boolean;
  /** Milliseconds for which a report outlives its stream (`PILOT_WORKLOAD_ENTRY_GRACE_PERIOD`). */
  readonly grace: number;
  readonly clock: Pick<Clock, "after">;
  readonly log: Logger;
  /** Default: entries are known only here. */
  readonly keeper?: HealthKeeper | undefined;
}

export class HealthReports {
  readonly #entries: Pick<ServiceEntryRegistry, "setHealth">;
  readonly #validateIdentity: boolean;
  readonly #grace: number;
  readonly #clock: Pick<Clock, "after">;
  readonly #log: Logger;
  readonly #keeper: HealthKeeper | undefined;
  /** By place. */
  readonly #reporters = new Map<string, HealthReporter>();

  constructor(entries: Pick<ServiceEntryRegistry, "setHealth">, options: HealthReportOptions) {
    const { validateIdentity, grace, clock, log, keeper } = options;
    this.#keeper = keeper;
    this.#grace = grace;
    this.#validateIdentity = validateIdentity;
    this.#entries = entries;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * The reports of a stream.
   *
   * @param identity proven, as a SPIFFE ID; undefined: the client has no identity, and is not believed
   */
  open(proxy: Proxy, identity: string | undefined): StreamHealth | undefined {
    const proven = identity === undefined ? undefined : parseWorkloadIdentity(identity);
    if (this.#validateIdentity && proven?.namespace !== proxy.namespace) return undefined;
    const of = this.#validateIdentity && proven !== undefined ? { serviceAccount: proven.serviceAccount } : {};
    const places = placesOf(proxy);
    const stream = {};
    let last: ClientHealth | undefined;
    let reports = 0;
    return {
      report: ({ healthy, reason = "" }) => {
        if (last?.healthy === healthy && last.reason === reason) return;
        last = { healthy, reason };
        this.#log[++reports > MAX_LOGGED ? "debug" : "info"]("an agent reports the health of its workload", {
          ...{ node: proxy.nodeId, healthy },
          ...(healthy ? {} : { reason: reason.slice(0, MAX_REASON) }),
        });
        for (const place of places) this.#report(place, stream, { healthy, ...of }, reason);
      },
      close: () => this.#leave(stream, places),
    };
  }

  #report(place: ReportPlace, stream: object, report: HealthReport, reason: string): void {
    const key = JSON.stringify(place);
    const known = this.#reporters.get(key);
    known?.cancel?.();
    this.#reporters.set(key, { stream, report });
    const isNew = known?.stream !== stream || known.report.healthy !== report.healthy;
    if (isNew) this.#entries.setHealth(place, report);
    if ("name" in place) this.#keeper?.report(place, { healthy: report.healthy, reason }, report.serviceAccount);
  }

  /** No report ends any more. */
  stop(): void {
    for (const { cancel } of this.#reporters.values()) cancel?.();
    this.#reporters.clear();
  }

  #leave(stream: object, places: readonly ReportPlace[]): void {
    for (const place of places) {
      const key = JSON.stringify(place);
      const reporter = this.#reporters.get(key);
      // Another stream of the workload may have reported since.
      if (reporter?.stream !== stream) continue;
      this.#entries.setHealth(place, { ...reporter.report, isLate: true });
      const cancel = this.#clock.after(this.#grace, () => {
        this.#reporters.delete(key);
        this.#entries.setHealth(place, undefined);
        if ("name" in place) this.#keeper?.leave(place);
      });
      this.#reporters.set(key, { ...reporter, cancel });
    }
  }
}

function placesOf(proxy: Proxy): ReportPlace[] {
  const { namespace, addresses, node } = proxy;
  const name = new Metadata(fromStruct(node.metadata)).text("WORKLOAD_ENTRY");
  if (name !== "") return [{ namespace, name }];
  const desired = desiredRegistration(proxy);
  if (desired !== undefined) return [{ namespace, name: desired.name }];
  return addresses.slice(0, MAX_ADDRESSES).map((address) => ({ namespace, address: canonicalIp(address) }));
}

/**
 * The reports of a server by its settings, until the kernel stops. Without a keeper, reports to the server before this
 * server are lost. Each agent then has {@linkcode FIRST_REPORT} to report again, so a restart removes no workload.
 */
export function startHealthReports(
  entries: Pick<ServiceEntryRegistry, "setHealth" | "awaitReports">,
  settings: Pick<DiscoverySettings, "MESH_WORKLOAD_ENTRY_VALIDATE_IDENTITY" | "PILOT_WORKLOAD_ENTRY_GRACE_PERIOD">,
  { clock, log, stopper }: Pick<Kernel, "clock" | "log" | "stopper">,
  keeper?: HealthKeeper,
): HealthReports {
  const validateIdentity = settings.MESH_WORKLOAD_ENTRY_VALIDATE_IDENTITY;
  const grace = settings.PILOT_WORKLOAD_ENTRY_GRACE_PERIOD;
  const health = new HealthReports(entries, { validateIdentity, grace, clock, log: log.scope("wle"), keeper });
  const cancel = keeper === undefined ? clock.after(FIRST_REPORT, entries.awaitReports()) : undefined;
  stopper.add("health of workloads", () => {
    cancel?.();
    health.stop();
  });
  return health;
}
