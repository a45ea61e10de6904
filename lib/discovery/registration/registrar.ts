/**
 * Registers proxies that name a WorkloadGroup, as long as the proxies have a stream to this server.
 *
 *     stream opens ──> entry is made, or becomes ours ──> last stream closes ──> entry says so ──> see `departed.ts`
 *
 * The wanted state of an entry is: connected to this server while there is a stream. The wanted state is compared with
 * the present state when a stream opens or closes, when the entry or its group changes, and again after each failure.
 * So the order in which two servers write does not matter, and a deleted entry comes back.
 *
 * @module
 */
import { REGISTRATION } from "../../config/kinds/workload_entry/registration.ts";
import type { ChangeSet, ConfigStore } from "../../config/store.ts";
import { type ConfigObject, objectKey } from "../../config/types.ts";
import { Code } from "../../grpc/codes.ts";
import type { Logger } from "../../kernel/log/log.ts";
import { PacedLines } from "../../kernel/log/paced_lines.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { KeyedQueue } from "../../orch/queue/keyed_queue.ts";
import { parseWorkloadIdentity } from "../../pki/spiffe.ts";
import type { Proxy } from "../../translate/proxy/node.ts";
import { XdsRefusal } from "../../xds/protocol/source.ts";
import { connectedTo, disconnected, readConnection } from "./connection.ts";
import { type DesiredRegistration, desiredRegistration, groupEntry } from "./group_entry.ts";
import { EntryConflict, type EntryShelf, type ShelvedEntry } from "./shelf.ts";

/** The registration of the proxy of a stream. */
export interface StreamRegistration {
  /** The stream is over. */
  close(): void;
}

export interface RegistrarParts {
  /** Name of this server, different from the names of all other servers. */
  readonly controller: string;
  readonly store: Pick<ConfigStore, "get" | "subscribe">;
  /** The shelf for entries of a group, or for an existing entry. */
  readonly shelfOf: (object: ConfigObject<"WorkloadGroup"> | ConfigObject<"WorkloadEntry">) => EntryShelf;
  /** `MESH_WORKLOAD_ENTRY_VALIDATE_IDENTITY` */
  readonly validateIdentity: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Metrics of the queue. Default: there are none. */
  readonly queueMetrics?: Metrics | undefined;
  /** From 0 to 1, for pauses. Default: the runtime's. */
  readonly random?: () => number;
}

/** An entry with streams to this server. */
interface HeldEntry {
  desired: DesiredRegistration;
  shelf: EntryShelf;
  readonly streams: Set<object>;
  /** When the last stream opened or closed, ms since the epoch. */
  since: number;
  /** Whether this server must take the entry over, even from another server. */
  isNew: boolean;
}

/** Entries written at a time. */
const WORKERS = 8;
/** Attempts in a row when other writes come between. */
const TRIES = 3;
/** Longest wait for entries to be written at the end, milliseconds. */
const LAST_WRITES_MS = 3000;

/** Registers proxies while they have streams to this server. */
export class Registrar {
  readonly #parts: RegistrarParts;
  readonly #held = new Map<string, HeldEntry>();
  readonly #queue: KeyedQueue;
  readonly #unsubscribe: () => void;
  readonly #refusals: PacedLines;

  constructor(parts: RegistrarParts) {
    this.#parts = parts;
    this.#refusals = new PacedLines(parts.clock);
    const { clock, random, queueMetrics, store } = parts;
    this.#queue = new KeyedQueue({
      ...{ id: "workload_entries", clock, metrics: queueMetrics, workers: WORKERS, ...(random ? { random } : {}) },
      work: (key, signal) => this.#work(key, signal),
      failed: (key, error) => {
        this.#parts.metrics.counter("auto_registration_errors_total").inc();
        parts.log.warn("a workload entry cannot be written; the server tries again", { entry: key, error });
      },
    });
    this.#unsubscribe = store.subscribe((changes) => this.#changed(changes as ChangeSet));
  }

  /**
   * Registers the proxy of a stream; undefined: the proxy names no group.
   *
   * @param identity proven, as a SPIFFE ID; undefined: no identity is proven
   * @throws {XdsRefusal} FAILED_PRECONDITION when the group does not exist (yet), PERMISSION_DENIED when the entry is
   * for another identity, INVALID_ARGUMENT when the entry would not be valid
   */
  open(proxy: Proxy, identity: string | undefined): StreamRegistration | undefined {
    const desired = desiredRegistration(proxy);
    if (desired === undefined) return undefined;
    const { store, shelfOf, clock } = this.#parts;
    const group = store.get("WorkloadGroup", desired.namespace, desired.group);
    const there = store.get("WorkloadEntry", desired.namespace, desired.name);
    const known = there !== undefined && readConnection(there.meta.annotations).group === desired.group;
    if (group === undefined && !known) {
      const missing = `there is no WorkloadGroup ${desired.namespace}/${desired.group} (AUTO_REGISTER_GROUP)`;
      throw this.#refusal(Code.FAILED_PRECONDITION, missing, proxy);
    }
    this.#checkIdentity(proxy, identity, known ? there.spec.serviceAccount : undefined);
    if (group !== undefined) {
      this.#checkIdentity(proxy, identity, group.spec.template.serviceAccount);
      const made = groupEntry(group, desired);
      if ("refused" in made) throw this.#refusal(Code.INVALID_ARGUMENT, made.refused, proxy);
    }
    const key = keyOf(desired);
    // At least one of the two is defined.
    const shelf = shelfOf((group ?? there)!);
    const held = this.#held.get(key) ?? { desired, shelf, streams: new Set(), since: 0, isNew: true };
    this.#held.set(key, held);
    const stream = {};
    held.streams.add(stream);
    Object.assign(held, { desired, shelf, since: clock.now(), isNew: true });
    this.#queue.add(key);
    return { close: () => this.#leave(key, stream) };
  }

  /** Resolves when no entry waits to be written, except entries in the pause after a failure. */
  async settled(): Promise<void> {
    await this.#queue.idle();
  }

  /** Ends. Waiting writes get some seconds. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    const late = new AbortController();
    await Promise.race([this.#queue.idle(), this.#parts.clock.sleep(LAST_WRITES_MS, late.signal).catch(() => {})]);
    late.abort();
    await this.#queue.stop();
  }

  #leave(key: string, stream: object): void {
    const held = this.#held.get(key);
    if (held?.streams.delete(stream) !== true || held.streams.size > 0) return;
    held.since = this.#parts.clock.now();
    this.#queue.add(key);
  }

  /** Queues held entries that were removed or lost their connection, and entries that waited for a group. */
  #changed({ added, updated, refreshed, removed }: ChangeSet): void {
    if (this.#held.size === 0) return;
    for (const { key } of removed) if (this.#held.has(key)) this.#queue.add(key);
    for (const object of [...added, ...[...updated, ...refreshed].map((one) => one.new)]) {
      if (object.kind === "WorkloadEntry") {
        const isHeld = (this.#held.get(object.key)?.streams.size ?? 0) > 0;
        if (isHeld && !readConnection(object.meta.annotations).connected) this.#queue.add(object.key);
      } else if (object.kind === "WorkloadGroup") {
        for (const [key, { desired }] of this.#held) {
          if (desired.group === object.meta.name && desired.namespace === object.meta.namespace) this.#queue.add(key);
        }
      }
    }
  }

  async #work(key: string, signal: AbortSignal): Promise<void> {
    for (let tries = 1;; tries++) {
      const held = this.#held.get(key);
      if (held === undefined) return;
      try {
        const entry = await held.shelf.read(held.desired, signal);
        if (held.streams.size > 0) await this.#hold(key, held, entry, signal);
        else await this.#release(key, held, entry, signal);
        return;
      } catch (error) {
        if (!(error instanceof EntryConflict) || tries >= TRIES) throw error;
      }
    }
  }

  async #hold(key: string, held: HeldEntry, entry: ShelvedEntry | undefined, signal: AbortSignal): Promise<void> {
    const { controller, log } = this.#parts;
    const { desired, shelf, since } = held;
    const connection = connectedTo(controller, since);
    if (entry === undefined) {
      if (!await this.#create(held, connection, signal)) return;
      this.#parts.metrics.counter("auto_registration_success_total").inc();
      log.info("a workload has registered itself", { entry: key });
    } else {
      const { group, connected, controller: now } = readConnection(entry.annotations);
      // Entries of a user stay, and entries of another server too, unless the proxy has connected to this server since.
      if (group !== desired.group || (connected && !held.isNew)) return;
      if (!connected || now !== controller || isStale(entry, since)) {
        await shelf.annotate(desired, entry, connection, signal);
        this.#parts.metrics.counter("auto_registration_updates_total").inc();
      }
    }
    if (held.since === since) held.isNew = false;
  }

  async #create(
    held: HeldEntry,
    connection: Readonly<Record<string, string | undefined>>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { desired, shelf } = held;
    const group = this.#parts.store.get("WorkloadGroup", desired.namespace, desired.group);
    if (group === undefined) return false;
    const made = groupEntry(group, desired);
    if ("refused" in made) throw new Error(made.refused);
    const { entry } = made;
    const annotations: Record<string, string> = { ...entry.meta.annotations };
    for (const [name, value] of Object.entries(connection)) if (value !== undefined) annotations[name] = value;
    await shelf.create({ ...entry, meta: { ...entry.meta, annotations } }, signal);
    return true;
  }

  async #release(key: string, held: HeldEntry, entry: ShelvedEntry | undefined, signal: AbortSignal): Promise<void> {
    const { controller, log } = this.#parts;
    const { desired, shelf, since } = held;
    const state = entry && readConnection(entry.annotations);
    if (entry !== undefined && state?.group === desired.group && state.connected && state.controller === controller) {
      await shelf.annotate(desired, entry, disconnected(since), signal);
      this.#parts.metrics.counter("auto_registration_unregister_total").inc();
      log.info("a registered workload has left", { entry: key });
    }
    if (held.streams.size === 0) this.#held.delete(key);
    else this.#queue.add(key);
  }

  #checkIdentity(proxy: Proxy, identity: string | undefined, serviceAccount = ""): void {
    if (!this.#parts.validateIdentity) return;
    const proven = identity === undefined ? undefined : parseWorkloadIdentity(identity);
    const deny = (why: string) => this.#refusal(Code.PERMISSION_DENIED, `registration of a workload: ${why}`, proxy);
    if (proven === undefined) throw deny("expected a proven identity, got none");
    if (proven.namespace !== proxy.namespace) {
      throw deny(`namespace: got ${proven.namespace}, expected ${proxy.namespace}`);
    }
    if (serviceAccount !== "" && proven.serviceAccount !== serviceAccount) {
      throw deny(`service account: got ${proven.serviceAccount}, expected ${serviceAccount}`);
    }
  }

  #refusal(code: Code, message: string, { nodeId }: Proxy): XdsRefusal {
    this.#parts.metrics.counter("auto_registration_errors_total").inc();
    const unsaid = this.#refusals.next();
    if (unsaid) this.#parts.log.warn("a workload is not registered", { node: nodeId, why: message, ...unsaid });
    return new XdsRefusal(code, message);
  }
}

/** Longest time for which an entry of this server keeps the time of an earlier connection, milliseconds. */
const RENEW_MS = 60_000;

function isStale({ annotations }: ShelvedEntry, since: number): boolean {
  const at = Date.parse(annotations[REGISTRATION.connectedAt] ?? "");
  return !(since - at < RENEW_MS);
}

function keyOf({ namespace, name }: DesiredRegistration): string {
  return objectKey("WorkloadEntry", namespace, name);
}
