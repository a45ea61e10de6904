/**
 * The push ledger: each push with its proxies and times, the live objects with the number of their proxies, and
 * rejections.
 *
 * @module
 */
import type { RejectInfo, ResponseInfo } from "./ads/stream_types.ts";
import type { PushEvent, PushFailure } from "./protocol/source.ts";
import { typeRules } from "./protocol/types.ts";
import { PushMinutes } from "./push_minutes.ts";
import { type ClientRefusals, PushProgress, REFUSES_NOTHING } from "./progress.ts";
import type { FailureRecord, PushRecord, Rejection } from "./push_record.ts";

/** Number of remembered pushes, and of remembered rejections. */
export const LEDGER_LENGTH = 100;

/** Most pushes of one type that are remembered as rejected by a client. An older push counts as taken. */
const MAX_REJECTED_PUSHES = 1000;

/** How many proxies an object has reached. */
export interface ObjectReach {
  /** Proxies that have acknowledged the whole object. */
  readonly live: number;
  readonly total: number;
  /** Proxies that lack resources because of failures to make them. */
  readonly failing: number;
  /** Proxies that have rejected a part of the object. */
  readonly refused: number;
  /** The reasons of the refusing proxies, each text once. */
  readonly words: readonly string[];
}

interface Waiter {
  readonly push: number;
  readonly object: string | undefined;
  readonly among: ReadonlySet<PushProgress> | undefined;
  readonly resolve: (live: boolean) => void;
}

/** Keeps the ledger. */
export class PushLedger {
  /** Number of the latest push; 0 before the first. */
  latest = 0;
  /** Increases whenever anything here may have changed. */
  revision = 0;
  /** Increases whenever a stream has come or gone. */
  members = 0;
  /** Increases whenever clients may lack other objects than before because of rejections. */
  refusals = 0;
  /** Pushes by minute. */
  readonly minutes = new PushMinutes();
  readonly #records = new Map<number, PushRecord>();
  readonly #rejections: Rejection[] = [];
  readonly #failures: FailureRecord[] = [];
  readonly #streams = new Set<PushProgress>();
  readonly #waiters = new Set<Waiter>();

  /** A stream has come. The caller hands the returned object back with everything about this stream. */
  join(proxy: string, failing: () => boolean = () => false, refusals: ClientRefusals = REFUSES_NOTHING): PushProgress {
    this.revision++;
    this.members++;
    const progress = new PushProgress(proxy, failing, refusals);
    this.#streams.add(progress);
    return progress;
  }

  /** A stream has gone. */
  leave(progress: PushProgress): void {
    this.revision++;
    this.members++;
    if (progress.refusals.refuses) this.refusals++;
    this.#streams.delete(progress);
    for (const id of progress.touched) this.#acknowledged(id, undefined);
    this.#wake();
  }

  begin(push: PushEvent): void {
    this.revision++;
    this.latest = Math.max(this.latest, push.id);
    this.minutes.add(push.startedAt);
    const { id, reasons, objects, full, startedAt } = push;
    this.#records.set(id, {
      ...{ id, reasons, objects, full, startedAt, streams: this.#streams.size },
      ...{ touched: 0, pending: 0, types: {}, lastAckMs: 0, slowest: "", failures: [] },
    });
    for (const failure of push.failures ?? []) this.failed(failure);
    for (const old of this.#records.keys()) {
      if (this.#records.size <= LEDGER_LENGTH) break;
      this.#records.delete(old);
    }
  }

  /** A response went out. A response without a request belongs to the latest push. */
  responded(progress: PushProgress, info: ResponseInfo): void {
    if (info.asked) return void progress.last.delete(info.typeUrl);
    this.revision++;
    const record = this.#records.get(this.latest);
    if (record === undefined) return;
    progress.last.set(info.typeUrl, record.id);
    if (!progress.touched.has(record.id)) {
      progress.touched.add(record.id);
      record.touched++;
      record.pending++;
    }
    const type = typeRules(info.typeUrl).short;
    const sums = record.types[type] ??= { responses: 0, resources: 0, removed: 0, bytes: 0 };
    sums.responses++;
    sums.resources += info.resources;
    sums.removed += info.removed;
    sums.bytes += info.bytes;
  }

  /** The client has everything up to the latest push. Returns the pushes that are now complete for the client. */
  settled(progress: PushProgress): PushRecord[] {
    const { refuses } = progress.refusals;
    if (refuses) this.refusals++;
    if (progress.acked === this.latest && progress.touched.size === 0) {
      if (refuses) this.#wake();
      return [];
    }
    this.revision++;
    progress.acked = this.latest;
    const done: PushRecord[] = [];
    for (const id of progress.touched) {
      const record = this.#acknowledged(id, progress);
      if (record !== undefined) done.push(record);
    }
    progress.touched.clear();
    this.#wake();
    return done;
  }

  /** Something of the latest push could not be made or sent. */
  failed(failure: PushFailure): void {
    this.revision++;
    const failures = this.#records.get(this.latest)?.failures;
    if (failures !== undefined && failures.length < LEDGER_LENGTH) failures.push(failure);
    this.#failures.push({ ...failure, push: this.latest, at: Date.now() });
    if (this.#failures.length > LEDGER_LENGTH) this.#failures.shift();
  }

  /** A client has rejected a response. */
  rejected(progress: PushProgress, info: RejectInfo): void {
    this.revision++;
    this.refusals++;
    const pushes = progress.rejected.get(info.typeUrl) ?? new Set();
    const last = progress.last.get(info.typeUrl);
    if (last === undefined && !info.late) progress.rejectedUpTo.set(info.typeUrl, this.latest);
    const concerned = info.late ? [last].filter((id) => id !== undefined) : progress.touched;
    for (const id of concerned) pushes.add(id);
    for (const oldest of pushes) {
      if (pushes.size <= MAX_REJECTED_PUSHES) break;
      pushes.delete(oldest);
    }
    progress.rejected.set(info.typeUrl, pushes);
    this.#rejections.push({ ...info, proxy: progress.proxy, at: Date.now() });
    if (this.#rejections.length > LEDGER_LENGTH) this.#rejections.shift();
  }

  /** A client takes everything of a type after a rejection. */
  accepted(progress: PushProgress, typeUrl: string): void {
    this.revision++;
    this.refusals++;
    progress.rejected.delete(typeUrl);
    progress.rejectedUpTo.delete(typeUrl);
    this.#wake();
  }

  /** The latest pushes, newest first. */
  pushes(): PushRecord[] {
    return [...this.#records.values()].reverse();
  }

  /** The latest rejections, newest first. */
  rejections(): Rejection[] {
    return [...this.#rejections].reverse();
  }

  /** The latest failures, newest first. */
  failures(): FailureRecord[] {
    return [...this.#failures].reverse();
  }

  /**
   * Counts the connected proxies on which everything up to a push is in force. A proxy does not count if the push was
   * rejected there, or if resources of the proxy could not be made. `failing` is the number of proxies with missing
   * resources.
   *
   * @param among Only these connected proxies count; absent: all.
   */
  live(push: number, among?: ReadonlySet<PushProgress>): { live: number; total: number; failing: number } {
    let live = 0;
    let failing = 0;
    const streams = among === undefined ? this.#streams : this.#streams.intersection(among);
    for (const stream of streams) {
      if (stream.failing()) failing++;
      else if (stream.acked >= push && !stream.hasRejected(push)) live++;
    }
    return { live, total: streams.size, failing };
  }

  /**
   * Counts the connected proxies that have acknowledged everything. Proxies with failing resources and proxies with
   * rejected resources are counted apart.
   */
  synced(): { readonly synced: number; readonly total: number; readonly failing: number; readonly refusing: number } {
    let [synced, failing, refusing] = [0, 0, 0];
    for (const stream of this.#streams) {
      if (stream.failing()) failing++;
      else if (stream.refusals.refuses) refusing++;
      else if (stream.acked === this.latest) synced++;
    }
    return { synced, total: this.#streams.size, failing, refusing };
  }

  /**
   * Counts the connected proxies on which an object is in force. A rejection counts against an object only if the proxy
   * lacks a part of the object. Other objects of the same response are not affected.
   *
   * @param object The key of the object.
   * @param push The push of the object's last change.
   * @param among Only these connected proxies count; absent: all.
   */
  reach(object: string, push: number, among?: ReadonlySet<PushProgress>): ObjectReach {
    let [live, failing, refused] = [0, 0, 0];
    const words = new Set<string>();
    const streams = among === undefined ? this.#streams : this.#streams.intersection(among);
    for (const stream of streams) {
      const lack = stream.refusals.refuses ? stream.refusals.lacks(object) : undefined;
      if (lack) {
        refused++;
        words.add(lack);
      } else if (stream.failing()) failing++;
      else if (lack === undefined && stream.acked >= push) live++;
    }
    return { live, total: streams.size, failing, refused, words: [...words] };
  }

  /**
   * Resolves true as soon as a push is in force on all connected proxies, or on all of `among`. Resolves false after
   * `timeout` milliseconds, or when the signal aborts.
   *
   * @param object Key of an object. Only rejections of the object count, and the answer is false as soon as every proxy
   * without the object is known to have rejected it. Absent: any rejection of the push counts.
   */
  waitLive(
    push: number,
    timeout: number,
    { among, object, signal }: {
      readonly among?: ReadonlySet<PushProgress> | undefined;
      readonly object?: string;
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter: Waiter = { push, object, resolve, among };
    const giveUp = () => resolve(false);
    const timer = setTimeout(giveUp, timeout);
    signal?.addEventListener("abort", giveUp, { once: true });
    if (signal?.aborted) giveUp();
    this.#waiters.add(waiter);
    this.#wake();
    return promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
      this.#waiters.delete(waiter);
    });
  }

  /** The number of callers that wait for a push. */
  get waiting(): number {
    return this.#waiters.size;
  }

  #acknowledged(id: number, by: PushProgress | undefined): PushRecord | undefined {
    const record = this.#records.get(id);
    if (record === undefined) return undefined;
    record.pending--;
    const elapsed = Date.now() - record.startedAt;
    if (by !== undefined && elapsed >= record.lastAckMs) {
      record.lastAckMs = elapsed;
      record.slowest = by.proxy;
    }
    return record;
  }

  #wake(): void {
    for (const waiter of this.#waiters) {
      const { push, object, among, resolve } = waiter;
      if (push > this.latest) continue;
      if (object === undefined) {
        const { live, total } = this.live(push, among);
        if (live === total) resolve(true);
      } else {
        const { live, refused, total } = this.reach(object, push, among);
        if (live + refused === total) resolve(refused === 0);
      }
    }
  }
}
