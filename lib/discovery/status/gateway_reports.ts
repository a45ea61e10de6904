/**
 * Reports of each server to the servers that write status: how many of the server's proxies have each object of the Gateway
 * API in force. A leader reports too: each revision has a leader, and a proxy of a Gateway may be connected to a server of
 * any revision.
 *
 * Permissions: the permissions of the client; see `./server_reports.ts`.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { ServerReport } from "../../status/report.ts";
import { GATEWAY_KINDS, OtherReports, OwnReport } from "./server_reports.ts";

/** How reports are exchanged. */
export interface GatewayReportOptions {
  readonly client: ApiClient;
  /** Namespace of the reports. */
  readonly namespace: string;
  /** Name of this server, different from the names of all other servers. */
  readonly server: string;
  /** Shortest time between two looks at the own report, milliseconds. */
  readonly interval: number;
  readonly log: Logger;
}

/** The report of this server. */
export interface ReportSource {
  readonly own: () => ServerReport;
  /** Changes when the report may have changed. */
  readonly revision: () => string;
}

/** Shortest time between two reports of a leader, in intervals: only leaders of other revisions read them. */
const LEADER_INTERVALS = 20;

/**
 * For how long the reports of other servers may lack objects when a server begins to lead, in intervals: the server that
 * led before has hardly reported, and reports again within an interval.
 */
const EARLY_INTERVALS = 6;

/** The reports of this server and of the others. */
export class GatewayReports {
  readonly #options: GatewayReportOptions;
  readonly #report: OwnReport;
  readonly #stop = new AbortController();
  #others: OtherReports | undefined;
  #read: Promise<void> = Promise.resolve();
  #earlyUntil = -Infinity;
  #running: Promise<void> | undefined;

  constructor(options: GatewayReportOptions) {
    this.#options = options;
    this.#report = new OwnReport(options.client, options.namespace, options.server, GATEWAY_KINDS);
  }

  /** Changes with each change of another server's report. */
  get revision(): number {
    return this.#others?.revision ?? 0;
  }

  /** The reports of the other servers; empty while this server does not lead. */
  all(): readonly ServerReport[] {
    return this.#others?.all() ?? [];
  }

  /** Whether another server has reports that may lack objects, because this server has just begun to lead. */
  get areEarly(): boolean {
    return this.all().length > 0 && this.#options.client.clock.monotonic() < this.#earlyUntil;
  }

  /** Resolves when the reports of the other servers were read once. */
  async read(): Promise<void> {
    await this.#read;
  }

  start(source: ReportSource): void {
    this.#running ??= this.#run(source);
  }

  /** Ends, and removes the report of this server. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error("stopped"));
    await this.#running;
    await this.#report.remove(AbortSignal.timeout(2000)).catch(() => {});
  }

  /** Follows the reports of the other servers until the signal aborts. */
  async lead(signal: AbortSignal): Promise<void> {
    const { client, namespace, server, interval } = this.#options;
    const others = new OtherReports(client, namespace, server, GATEWAY_KINDS);
    this.#others = others;
    this.#read = others.start();
    this.#earlyUntil = client.clock.monotonic() + EARLY_INTERVALS * interval;
    while (!signal.aborted) {
      await client.clock.sleep(LEADER_INTERVALS * interval, signal).catch(() => {});
      if (!signal.aborted) await others.expire(namespace, signal).catch((error) => this.#warn(error));
    }
    if (this.#others === others) this.#others = undefined;
    await others.stop();
  }

  async #run({ own, revision }: ReportSource): Promise<void> {
    const { client: { clock }, interval } = this.#options;
    const { signal } = this.#stop;
    let [seen, pause] = ["", interval];
    let report: ServerReport = new Map();
    while (!signal.aborted) {
      await clock.sleep(pause, signal).catch(() => {});
      if (signal.aborted) return;
      const began = clock.monotonic();
      try {
        const now = revision();
        if (now !== seen) report = own();
        seen = now;
        await this.#report.write(report, this.#others === undefined ? 0 : LEADER_INTERVALS * interval, signal);
      } catch (error) {
        this.#warn(error);
      }
      // The reports of a large mesh take no more than a tenth of the time.
      pause = Math.max(interval, 9 * (clock.monotonic() - began));
    }
  }

  #warn(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#options.log.warn("a report about gateway proxies failed; there will be another", { error });
  }
}
