/**
 * The servers that share the rollouts of an orchestrator. One server leads: it decides about stages, from the reports of
 * the others and its own proxies. The other servers choose their proxies as the leader says.
 *
 * Permissions: the permissions of the client. Rights of the account: those of reports, and of the lock.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import { isApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import { lockOfRevision } from "../../orch/leader/locks.ts";
import { readShares, type ServerShare, type ServerShares, writtenShares } from "../../rollout/share.ts";
import { packedEntry, unpackedEntry } from "../../status/packed_entry.ts";
import { OtherServerReports, type ReportSubject, ServerOwnReport } from "../status/server_reports.ts";

/** The part of the other servers in the rollouts of this server. */
export interface RolloutServers {
  /** Since when this server decides, milliseconds on the monotonic clock. Undefined: another server decides. */
  readonly leadsSince: number | undefined;
  /** Aborts when this server no longer decides. */
  readonly signal: AbortSignal;
  /** Time in which the other servers report after a change, milliseconds. */
  readonly reportTime: number;
  /** The reports of the other servers about an object. */
  others(key: string): readonly ServerShare[];
  /** Reports what this server has. A server that decides reports too: the next deciding server begins with its report. */
  report(shares: () => ServerShares): Promise<void>;
  /** Calls a listener when this server begins or ceases to decide. */
  onTurn(listener: () => void): void;
}

/** A server alone. */
export const LONE_SERVER: RolloutServers = {
  leadsSince: -Infinity,
  signal: new AbortController().signal,
  reportTime: 0,
  others: () => [],
  report: () => Promise.resolve(),
  onTurn: () => {},
};

/** Shortest time between two reports, milliseconds. */
const REPORT_PAUSE = 1000;

/** Time in which each server has seen a change and reported, milliseconds. */
const REPORT_TIME = 5000;

const ENTRY = "rollouts";

export interface SharedServersOptions {
  readonly client: ApiClient;
  /** Namespace of the servers. */
  readonly namespace: string;
  /** Servers of one revision share rollouts. */
  readonly revision: string;
  /** Name of this server, different from the names of all other servers. */
  readonly server: string;
  readonly log: Logger;
  /** Default: five seconds. */
  readonly reportTime?: number;
}

/** The servers of a revision, which report in config maps. */
export class SharedServers implements RolloutServers {
  readonly #options: SharedServersOptions;
  readonly #subject: ReportSubject<ServerShares>;
  readonly #own: ServerOwnReport<ServerShares>;
  readonly #stop = new AbortController();
  readonly #turned: (() => void)[] = [];
  #others: OtherServerReports<ServerShares> | undefined;
  #term: AbortSignal = AbortSignal.abort(new Error("another server decides"));
  #since: number | undefined;

  constructor(options: SharedServersOptions) {
    const { client, namespace, server, revision } = options;
    this.#options = options;
    this.#subject = {
      ...{ label: "internal.mesh.io/rollout-report", value: revision, begin: "mesh-rollout-report-" },
      data: async (shares) => {
        const entry = await packedEntry(writtenShares(shares));
        if (entry === undefined) throw new Error("the report does not fit into a config map");
        return { [ENTRY]: entry };
      },
      read: (data) => this.#read(data),
    };
    this.#own = new ServerOwnReport(client, namespace, server, this.#subject);
  }

  get leadsSince(): number | undefined {
    return this.#since;
  }

  get signal(): AbortSignal {
    return this.#term;
  }

  get reportTime(): number {
    return this.#options.reportTime ?? REPORT_TIME;
  }

  /** The duty of the server that decides. */
  get duty(): Duty {
    return {
      lock: lockOfRevision("mesh-rollout-leader-", this.#options.revision),
      about: "staged rollouts",
      run: (signal) => this.#lead(signal),
    };
  }

  others(key: string): readonly ServerShare[] {
    return (this.#others?.all() ?? []).flatMap((shares) => shares.get(key) ?? []);
  }

  async report(current: () => ServerShares): Promise<void> {
    const { signal } = this.#stop;
    const shares = current();
    if (shares.size === 0) await this.#own.remove(signal);
    else await this.#own.write(shares, REPORT_PAUSE, signal);
  }

  onTurn(listener: () => void): void {
    this.#turned.push(listener);
  }

  async #lead(signal: AbortSignal): Promise<void> {
    const { client, namespace, server } = this.#options;
    const over = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => over.resolve(), { once: true });
    const others = new OtherServerReports(client, namespace, server, this.#subject);
    try {
      await Promise.race([over.promise, others.start()]);
      if (signal.aborted) return;
      this.#others = others;
      this.#term = signal;
      this.#since = client.clock.monotonic();
      this.#turn();
      await this.#expireUntil(others, signal);
    } finally {
      this.#since = this.#others = undefined;
      this.#turn();
      await others.stop();
    }
  }

  /** Removes the reports of dead servers, until the end of the term. */
  async #expireUntil(others: OtherServerReports<ServerShares>, signal: AbortSignal): Promise<void> {
    const { client: { clock }, namespace, log } = this.#options;
    while (!signal.aborted) {
      try {
        await others.expire(namespace, signal);
      } catch (error) {
        if (!signal.aborted) log.warn("the report of a dead server about rollouts stays", { error });
      }
      await clock.sleep(REPORT_TIME, signal).catch(() => {});
    }
  }

  #turn(): void {
    for (const listener of this.#turned) listener();
  }

  async #read(data: unknown): Promise<ServerShares | undefined> {
    try {
      return readShares(await unpackedEntry(isApiJson(data) ? data[ENTRY] : undefined));
    } catch (error) {
      this.#options.log.warn("a report about rollouts has another form", { error });
      return undefined;
    }
  }

  /** Ends, and removes the report of this server. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error("stopped"));
    await this.#own.remove(AbortSignal.timeout(2000)).catch(() => {});
  }
}
