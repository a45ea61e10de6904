/**
 * The push ledger: each push with the proxies that it reached and when; the objects that are live, and where;
 * rejections.
 *
 * @module
 */
import type { RejectInfo, ResponseInfo } from "./ads/stream_types.ts";
import type { PushedObject, PushEvent, PushFailure } from "./protocol/source.ts";
import { typeRules } from "./protocol/types.ts";

/** Pushes and rejections that are remembered. */
export const LEDGER_LENGTH = 100;

/** Pushes of one type that are remembered as rejected by one client. An older one counts as taken. */
const MAX_REJECTED_PUSHES = 1000;

/** One push, as it went. */
export interface PushRecord {
  readonly id: number;
  readonly reasons: Readonly<Record<string, number>>;
  readonly objects: readonly PushedObject[];
  readonly full: boolean;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Streams connected when it began. */
  readonly streams: number;
  /** Streams that had something sent. */
  touched: number;
  /** Streams of those that have not acknowledged yet. */
  pending: number;
  /** Responses, resources, removals and bytes by type. */
  readonly types: Record<string, { responses: number; resources: number; removed: number; bytes: number }>;
  /** Milliseconds from `startedAt` to the last acknowledgement so far. */
  lastAckMs: number;
  /** The proxy that took longest so far. */
  slowest: string;
  /** Resources that could not be made or sent, and are tried again; their earlier versions stay in force. */
  readonly failures: PushFailure[];
}

/** A rejection, with the proxy that made it. */
export interface Rejection extends RejectInfo {
  readonly proxy: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A failure, with the push that it is of. */
export interface FailureRecord extends PushFailure {
  readonly push: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** How far one stream has come. Made by {@linkcode PushLedger.join}. */
export class PushProgress {
  /** The highest push of which the client has everything, acknowledged; -1 before its first. */
  acked = -1;
  /** Pushes with responses that are not all acknowledged yet. */
  readonly touched = new Set<number>();
  /** Pushes that the client rejected and has not taken since, by type. */
  readonly rejected = new Map<string, Set<number>>();
  /** The push of the last response, by type; none where it was asked for. */
  readonly last = new Map<string, number>();

  /**
   * @param proxy Its connection id.
   * @param failing Whether some of its resources could not be made, so that it has acknowledged less than all.
   */
  constructor(readonly proxy: string, readonly failing: () => boolean) {}
}

/** Hears of rejections as they come and go, after the ledger has taken them. Must not throw. */
export interface RejectionListener {
  /** A client has rejected a response; `push`: the latest push at that time. */
  rejected(by: PushProgress, info: RejectInfo, push: number): void;
  /** A client rejects nothing of a type any more. */
  accepted(by: PushProgress, typeUrl: string): void;
  /** A client has gone. */
  left(by: PushProgress): void;
}

interface Waiter {
  readonly push: number;
  readonly among: ReadonlySet<PushProgress> | undefined;
  readonly resolve: (live: boolean) => void;
}

/** Keeps the ledger. */
export class PushLedger {
  /** Number of the latest push; 0 before the first. */
  latest = 0;
  /** Increases whenever anything here may have changed. */
  revision = 0;
  readonly #records = new Map<number, PushRecord>();
  readonly #rejections: Rejection[] = [];
  readonly #failures: FailureRecord[] = [];
  readonly #streams = new Set<PushProgress>();
  readonly #waiters = new Set<Waiter>();
  readonly #listeners = new Set<RejectionListener>();

  /** Has rejections heard from now on; returns the way to stop that. */
  onRejections(listener: RejectionListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** A stream has come; the returned object is to be handed back with everything that concerns it. */
  join(proxy: string, failing: () => boolean = () => false): PushProgress {
    this.revision++;
    const progress = new PushProgress(proxy, failing);
    this.#streams.add(progress);
    return progress;
  }

  /** A stream has gone. */
  leave(progress: PushProgress): void {
    this.revision++;
    this.#streams.delete(progress);
    for (const id of progress.touched) this.#acknowledged(id, undefined);
    for (const listener of this.#listeners) listener.left(progress);
    this.#wake();
  }

  /** A push begins. */
  begin(push: PushEvent): void {
    this.revision++;
    this.latest = Math.max(this.latest, push.id);
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

  /** A response went out; one that was not asked for is of the latest push. */
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

  /** The client has everything up to the latest push. Returns the pushes that this completes for it. */
  settled(progress: PushProgress): PushRecord[] {
    if (progress.acked === this.latest && progress.touched.size === 0) return [];
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
    const pushes = progress.rejected.get(info.typeUrl) ?? new Set();
    const last = progress.last.get(info.typeUrl);
    const concerned = info.late ? [last].filter((id) => id !== undefined) : progress.touched;
    for (const id of concerned) pushes.add(id);
    for (const oldest of pushes) {
      if (pushes.size <= MAX_REJECTED_PUSHES) break;
      pushes.delete(oldest);
    }
    progress.rejected.set(info.typeUrl, pushes);
    this.#rejections.push({ ...info, proxy: progress.proxy, at: Date.now() });
    if (this.#rejections.length > LEDGER_LENGTH) this.#rejections.shift();
    for (const listener of this.#listeners) listener.rejected(progress, info, this.latest);
  }

  /** A client takes everything of a type that it had rejected. */
  accepted(progress: PushProgress, typeUrl: string): void {
    this.revision++;
    progress.rejected.delete(typeUrl);
    for (const listener of this.#listeners) listener.accepted(progress, typeUrl);
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
   * On how many of the connected proxies everything up to a push is in force. A proxy that rejected that push does not
   * count, nor one that lacks resources that could not be made (`failing` is their number).
   *
   * @param among Only these of the connected proxies count; absent: all.
   */
  live(push: number, among?: ReadonlySet<PushProgress>): { live: number; total: number; failing: number } {
    let live = 0;
    let failing = 0;
    const streams = among === undefined ? this.#streams : this.#streams.intersection(among);
    for (const stream of streams) {
      if (stream.failing()) failing++;
      else if (stream.acked >= push && !stream.rejected.values().some((pushes) => pushes.has(push))) live++;
    }
    return { live, total: streams.size, failing };
  }

  /**
   * Resolves true as soon as a push is in force on all connected proxies, or all of `among`; false after `timeout`
   * milliseconds, or when the signal aborts.
   */
  waitLive(
    push: number,
    timeout: number,
    { among, signal }: { readonly among?: ReadonlySet<PushProgress> | undefined; readonly signal?: AbortSignal } = {},
  ): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter: Waiter = { push, resolve, among };
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

  /** The number of callers that wait for a push now. */
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
      if (waiter.push > this.latest) continue;
      const { live, total } = this.live(waiter.push, waiter.among);
      if (live === total) waiter.resolve(true);
    }
  }
}
