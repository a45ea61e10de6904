/**
 * One term in which a server writes the status of the kinds of the mesh.
 *
 * Permissions: the permissions of the client. Rights of the account: `get` of the kinds, `patch` of their status, and
 * the rights for reports.
 *
 * @module
 */
import { type Finding, findingKeys } from "../../finding/finding.ts";
import { paced } from "../../kernel/time/paced.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { ObjectPlace } from "../../orch/resources/objects.ts";
import { type DesiredStatus, desiredStatus, statusChange } from "../../status/desired.ts";
import { type ObjectProgress, sumProgress } from "../../status/progress.ts";
import { changeStatus, statusTime } from "../../status/write.ts";
import { StatusWriter, type StatusWriterOptions } from "../../status/writer.ts";
import { WrittenStatuses } from "../../status/written.ts";
import { OtherReports } from "./server_reports.ts";
import type { ApiObject, StatusWorld } from "./status_world.ts";

/** How status is written. Times in milliseconds. */
export interface StatusTermOptions {
  readonly client: ApiClient;
  readonly world: StatusWorld;
  /** Namespace of the servers' reports. */
  readonly namespace: string;
  /** Name of this server, different from the names of all other servers. */
  readonly server: string;
  /** Shortest time between two rounds (`PILOT_STATUS_UPDATE_INTERVAL`). */
  readonly interval: number;
  /** Time between two looks at the findings of unchanged objects (`PILOT_ANALYSIS_INTERVAL`). */
  readonly analysisInterval: number;
  readonly writing: StatusWriterOptions;
}

/** The counts of a round. */
export interface StatusRound {
  readonly objects: readonly ApiObject[];
  /** Progress of each object on the proxies of this server, by key. */
  readonly rows: ReadonlyMap<string, ObjectProgress>;
  /** Objects have changed since the round before. */
  readonly hadChanged: boolean;
  /** Milliseconds on a steady clock. */
  readonly now: number;
}

/** Rounds that a change may take before its status says "pending". */
export const PENDING_ROUNDS = 10;

/** Milliseconds until a change of only numbers is written. Other changes are written at once. */
const NUMBERS_MS = 600_000;

/** Most objects that a step looks at. */
const OBJECTS_A_STEP = 50;

/** The report of a server about an object that the server does not have, such as an object of another revision. */
const NOTHING: ObjectProgress = { generation: Infinity, total: 0, live: 0, rejected: 0, reason: "" };

export class StatusTerm {
  readonly #options: StatusTermOptions;
  readonly #signal: AbortSignal;
  readonly #writer: StatusWriter;
  readonly #written: WrittenStatuses;
  readonly #reports: OtherReports;
  /** By uid of judged objects: the generation, and the time of the first look. */
  readonly #known = new Map<string, { readonly generation: number; readonly since: number }>();
  /** Findings by object, as of the last look. */
  #findings = new Map<string, readonly Finding[]>();
  #lookedAt = -Infinity;

  /** @param signal Aborts at the end of the term, and ends all writes. */
  constructor(options: StatusTermOptions, signal: AbortSignal) {
    const { client, namespace, server, writing, interval } = options;
    this.#options = options;
    this.#signal = signal;
    this.#reports = new OtherReports(client, namespace, server);
    this.#writer = new StatusWriter(writing, signal);
    this.#written = new WrittenStatuses({ pending: PENDING_ROUNDS * interval, numbers: NUMBERS_MS });
  }

  /** Changes with each change of another server's report. */
  get revision(): number {
    return this.#reports.revision;
  }

  /** Whether the term is over, so that nothing is written. */
  get isOver(): boolean {
    return this.#signal.aborted;
  }

  /** Number of objects whose status waits for proxies. */
  get waiting(): number {
    return this.#written.waiting;
  }

  /** Begins; resolves when the reports of the other servers were read. */
  async start(): Promise<void> {
    await this.#reports.start();
  }

  /** Ends. @returns when nothing is written any more */
  async stop(): Promise<void> {
    await this.#reports.stop();
    await this.#writer.stop();
  }

  /**
   * Queues every status that is worth a write, in steps.
   *
   * @returns false: some objects need another look soon
   */
  async judge(round: StatusRound, signal: AbortSignal): Promise<boolean> {
    const { world, analysisInterval, namespace } = this.#options;
    // A change is reported together with its findings.
    const fresh = round.hadChanged && !world.isBehind ? byObject(world.findings()) : undefined;
    if (!world.isBehind && round.now - this.#lookedAt >= analysisInterval) {
      this.#lookedAt = round.now;
      this.#findings = fresh ?? byObject(world.findings());
    }
    if (this.isOver) return false;
    const isWhole = await paced(this.#judgeAll(round, fresh), { signal });
    if (!this.isOver) await this.#reports.expire(namespace, this.#signal);
    return isWhole;
  }

  *#judgeAll(
    { objects, rows, now }: StatusRound,
    fresh: ReadonlyMap<string, readonly Finding[]> | undefined,
  ): Generator<void, boolean> {
    const known = this.#known;
    const others = this.#reports.all();
    const refused = new Map([...this.#options.world.refused()].map((one) => [one.uid, one]));
    const uids = new Set<string>();
    let isWhole = true;
    for (const { object, place, uid } of objects) {
      if (refused.has(uid)) continue;
      uids.add(uid);
      const { key, meta: { generation = 0 } } = object;
      let seen = known.get(uid);
      if (seen?.generation !== generation) {
        if (fresh === undefined || this.#options.world.isWaiting(object)) {
          isWhole = false;
          continue;
        }
        known.set(uid, seen = { generation, since: seen?.since ?? now });
        this.#findings.set(key, fresh.get(key) ?? []);
      }
      const findings = this.#findings.get(key) ?? [];
      const without = now - seen.since < PENDING_ROUNDS * this.#options.interval ? undefined : NOTHING;
      const progress = sumProgress(generation, [rows.get(key), ...others.map((report) => report.get(uid) ?? without)]);
      const desired = desiredStatus(generation, progress, findings);
      if (this.#written.isDue(uid, desired, progress.state === "pending", now)) this.#write(place, uid, desired);
      if (uids.size % OBJECTS_A_STEP === 0) yield;
    }
    for (const { uid, key, place, generation, findings } of refused.values()) {
      uids.add(uid);
      const isStale = rows.has(key);
      const refusal = isStale ? "the earlier version is in force" : "no version is in force";
      const desired = desiredStatus(generation, sumProgress(generation, []), findings, refusal);
      if (this.#written.isDue(uid, desired, false, now)) this.#write(place, uid, desired);
      if (uids.size % OBJECTS_A_STEP === 0) yield;
    }
    this.#written.keepOnly(uids);
    for (const uid of known.keys()) if (!uids.has(uid)) known.delete(uid);
    return isWhole;
  }

  #write(place: ObjectPlace, uid: string, desired: DesiredStatus): void {
    const { client } = this.#options;
    this.#writer.put(uid, async (signal) => {
      const change = ({ status }: { readonly status: Readonly<Record<string, unknown>> }) =>
        statusChange(desired, status, statusTime(client.clock));
      await changeStatus(client, place, uid, change, signal);
    });
  }
}

/** Findings by the first object of each finding. */
function byObject(findings: Iterable<Finding>): Map<string, readonly Finding[]> {
  const found = new Map<string, Finding[]>();
  for (const one of findings) {
    const [key] = findingKeys(one);
    if (key === undefined) continue;
    const list = found.get(key);
    if (list === undefined) found.set(key, [one]);
    else list.push(one);
  }
  return found;
}
