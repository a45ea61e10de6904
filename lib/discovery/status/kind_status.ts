/**
 * Status of the kinds of the mesh: the findings of the analysis, and the number of proxies with the object in force.
 *
 *     proxies ──> rows of this server ──┬─> (not the leader) report ──> leader
 *     reports of other servers ─────────┴─> (the leader) sums + findings ──> status
 *
 * A round takes place when anything may have changed, at most once in `interval`, and never takes more than a tenth of
 * the time.
 *
 * Permissions: the permissions of the client. Rights of the account: `get` of the kinds, `patch` of their status, and
 * the rights for reports.
 *
 * @module
 */
import { MESH_KINDS } from "../../config/kinds/kinds.ts";
import type { Logger } from "../../kernel/log/log.ts";
import { paced } from "../../kernel/time/paced.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import type { ObjectProgress } from "../../status/progress.ts";
import type { ServerReport } from "../../status/report.ts";
import { ProgressRows } from "./progress_rows.ts";
import { OwnReport } from "./server_reports.ts";
import { PENDING_ROUNDS, StatusTerm, type StatusTermOptions } from "./status_term.ts";
import type { ApiObject } from "./status_world.ts";

/** How status is kept. */
export interface KindStatusOptions extends StatusTermOptions {
  readonly log: Logger;
}

/** Most objects that a step looks at. */
const OBJECTS_A_STEP = 50;

export class KindStatus {
  readonly #options: KindStatusOptions;
  readonly #rows = new ProgressRows();
  readonly #report: OwnReport;
  readonly #stop = new AbortController();
  /** The present term of leadership; undefined: another server leads. */
  #leads: StatusTerm | undefined;
  #storeChanged = true;
  #isPending = true;
  #revisions = "";
  #roundAt = -Infinity;
  #running: Promise<void> | undefined;
  #startedAt = 0;

  constructor(options: KindStatusOptions) {
    this.#options = options;
    this.#report = new OwnReport(options.client, options.namespace, options.server);
  }

  /** The duty of the leading server. */
  get duty(): Duty {
    return {
      lock: "mesh-status-leader",
      about: "status of the kinds of the mesh",
      run: (signal) => this.#lead(signal),
    };
  }

  /** Begins to count. */
  start(): void {
    this.#startedAt = this.#options.client.clock.monotonic();
    this.#running ??= this.#run();
  }

  /** Ends, and removes the report of this server. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error("stopped"));
    await this.#running;
    await this.#report.remove(AbortSignal.timeout(2000)).catch(() => {});
  }

  async #lead(signal: AbortSignal): Promise<void> {
    const term = new StatusTerm(this.#options, signal);
    const left = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => left.resolve(), { once: true });
    try {
      await Promise.race([left.promise, term.start()]);
      if (signal.aborted) return;
      this.#leads = term;
      this.#storeChanged = true;
      await this.#report.remove(signal).catch((error) => this.#warn("the report of this server stays", error));
      await left.promise;
    } finally {
      this.#leads = undefined;
      await term.stop();
    }
  }

  #warn(message: string, error: unknown): void {
    if (!this.#stop.signal.aborted) this.#options.log.warn(message, { error });
  }

  async #run(): Promise<void> {
    const { client: { clock }, world, interval } = this.#options;
    const { signal } = this.#stop;
    const end = world.store.subscribe(() => this.#storeChanged = true);
    let pause = interval;
    while (!signal.aborted) {
      await clock.sleep(pause, signal).catch(() => {});
      if (signal.aborted) break;
      const began = clock.monotonic();
      const leads = this.#leads;
      try {
        if (this.#isDue(began)) await this.#round(began);
      } catch (error) {
        if (leads?.isOver !== true) {
          this.#warn("a round of status has failed; there will be another", error);
        }
      }
      pause = Math.max(interval, 9 * (clock.monotonic() - began));
    }
    end();
  }

  /** Whether anything may have changed since the last round. */
  #isDue(now: number): boolean {
    const { world: { ledger }, analysisInterval } = this.#options;
    const progress = this.#isPending ? ledger.revision : "";
    const revisions = [ledger.refusals, this.#leads?.revision ?? "", progress].join();
    const due = this.#storeChanged || revisions !== this.#revisions || now - this.#roundAt >= analysisInterval;
    this.#revisions = revisions;
    return due;
  }

  async #round(now: number): Promise<void> {
    const { world, interval } = this.#options;
    const { signal } = this.#stop;
    const hadChanged = this.#storeChanged;
    this.#storeChanged = false;
    this.#roundAt = now;
    const objects = await paced(this.#objects(), { signal });
    const counted = objects.map(({ object }) => ({
      key: object.key,
      generation: object.meta.generation ?? 0,
      changedIn: world.changedIn(object.key) ?? 0,
      isWaiting: world.isWaiting(object),
      everywhere: object.kind === "WorkloadEntry",
    }));
    const rows = await paced(this.#rows.count(counted, world.proxies()), { signal });
    const unfinished = [...rows.values()].some(({ live, rejected, total }) => live + rejected < total);
    const leads = this.#leads;
    if (leads === undefined) {
      this.#isPending = unfinished;
      // A server that is about to lead needs no report.
      if (now - this.#startedAt < PENDING_ROUNDS * interval) this.#storeChanged = true;
      else await this.#report.write(reportOf(objects, rows), unfinished ? PENDING_ROUNDS / 2 * interval : 0, signal);
      return;
    }
    if (!await leads.judge({ objects, rows, hadChanged, now }, signal)) this.#storeChanged = true;
    this.#isPending = unfinished || leads.waiting > 0;
  }

  /** The objects in the API, with their places. */
  *#objects(): Generator<void, ApiObject[]> {
    const { store, placeOf } = this.#options.world;
    const found: ApiObject[] = [];
    // The Gateway API defines what the status of its kinds says.
    for (const kind of MESH_KINDS) {
      for (const object of store.list(kind)) {
        if (object.origin.from !== "api") continue;
        const place = placeOf(object);
        if (place !== undefined) found.push({ object, place, uid: object.origin.uid });
        if (found.length % OBJECTS_A_STEP === 0) yield;
      }
    }
    return found;
  }
}

function reportOf(objects: readonly ApiObject[], rows: ReadonlyMap<string, ObjectProgress>): ServerReport {
  const report = new Map<string, ObjectProgress>();
  for (const { object, uid } of objects) {
    const row = rows.get(object.key);
    if (row !== undefined) report.set(uid, row);
  }
  return report;
}
