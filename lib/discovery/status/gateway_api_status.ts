/**
 * The duty that writes the status of the Gateway API's kinds.
 *
 *     verdicts, objects, services ──changed keys──> (a pause) ──> wanted status ──differs──> write
 *
 * All changes within a pause are looked at together: a thousand new routes cost a few writes of their Gateway's status, not a
 * thousand. An equal status is not written. The status of a new version is written when the connected proxies have the
 * version; where they do not have it within a moment, its verdicts that need no proxy are written first.
 *
 * Permissions: the permissions of the client. Rights at the API: `get` of the kinds, `patch` of their status.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import type { Fact } from "../../config/facts/types.ts";
import { GATEWAY_API_KINDS, isGatewayApiKind } from "../../config/kinds/kinds.ts";
import { changedObjects, type ChangeSet, type ConfigStore } from "../../config/store.ts";
import type { ConfigObject, Kind } from "../../config/types.ts";
import type { GatewayApiVerdicts } from "../../gateway_api/groups/verdicts.ts";
import type { ApiJson } from "../../orch/client/answer.ts";
import type { ClusterRevisions } from "../../orch/leader/cluster_revisions.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import { lockOfRevision } from "../../orch/leader/locks.ts";
import { type PatienceOf, WAIT } from "../../gateway_api/status/live.ts";
import { changeKnownStatus, changeStatus, mergePatch, type ReadStatus, statusTime } from "../../status/write.ts";
import { onPolicyChange } from "./policy_changes.ts";
import { StatusWriter, type StatusWriterOptions } from "../../status/writer.ts";
import type { ReadPlace } from "../sources/kind_feeds.ts";
import type { GatewayReports } from "./gateway_reports.ts";
import type { ProgressWatch } from "./progress_watch.ts";
import { RefusedStatuses, type RefusedStatusesParts } from "./refused_statuses.ts";
import { WaitingObjects } from "./waiting_objects.ts";
import { StatusHistory } from "./status_history.ts";

/**
 * The status that an object should have, as a whole; undefined: the present status is right; {@linkcode WAIT}: proxies may
 * acknowledge in a moment. @param now RFC 3339
 */
export type WantedStatus = (
  object: ConfigObject,
  present: ApiJson,
  now: string,
  patience: PatienceOf,
) => ApiJson | typeof WAIT | undefined;

/** Inputs of the duty. */
export interface GatewayApiStatusParts extends RefusedStatusesParts {
  readonly store: ConfigStore;
  readonly facts: FactStore;
  readonly verdicts: GatewayApiVerdicts;
  /** The place of an object in the API; undefined: the object is not in the API. */
  readonly placeOf: (object: ConfigObject) => ReadPlace | undefined;
  /** `REVISION`; empty: `default`. */
  readonly revision: string;
  /** Begins to follow the revisions of the cluster, which {@linkcode isOwned} asks. */
  readonly followRevisions: (changed: () => void) => Pick<ClusterRevisions, "start" | "stop">;
  /** Whether this control plane writes the status of an object, and not a control plane of another revision. */
  readonly isOwned: (object: ConfigObject) => boolean;
  readonly wanted: WantedStatus;
  /** Objects whose progress to the proxies may have changed. */
  readonly watch: Pick<ProgressWatch, "changed" | "revision">;
  /** The reports of other servers. */
  readonly reports: Pick<GatewayReports, "lead" | "read">;
  /** Time between two looks at the progress, milliseconds (`PILOT_STATUS_UPDATE_INTERVAL`). */
  readonly interval: number;
  /** For how long a whole status waits for proxies, milliseconds (`MESH_GATEWAY_STATUS_PATIENCE`). */
  readonly patience: number;
  readonly writing: StatusWriterOptions;
}

/** Pause between a change and the look at the changed objects, milliseconds. */
const PAUSE_MS = 250;

/** Most objects looked at without giving way to other work. */
const OBJECTS_A_STEP = 200;

/** Shortest time between two looks at statuses that wait a moment for proxies, milliseconds. */
const LOOK_MS = 50;

/** The looks take at most one part of the time in so many. */
const LOOK_PARTS = 4;

/** Time between two looks at refused objects, milliseconds. */
const REFUSED_MS = 1000;

/** Time after which a status is written although only its numbers of proxies have changed, milliseconds. */
const NUMBERS_MS = 600_000;

export function gatewayApiStatus(parts: GatewayApiStatusParts): Duty {
  return {
    lock: lockOfRevision("mesh-gateway-status-leader-", parts.revision),
    about: "status of the kinds of the Gateway API",
    run: (signal) => new StatusOfGatewayApi(parts, signal).run(),
  };
}

/** One term of leadership. */
class StatusOfGatewayApi {
  readonly #parts: GatewayApiStatusParts;
  readonly #signal: AbortSignal;
  readonly #writer: StatusWriter;
  readonly #changed = new Set<string>();
  readonly #refused: RefusedStatuses;
  readonly #history: StatusHistory;
  readonly #unsettled: WaitingObjects;
  /** The statuses that are being written, without times, by uid. */
  readonly #sent = new Map<string, string>();
  /** Objects that were written a moment ago, by key. */
  readonly #postponed = new Set<string>();
  /** Objects whose status waits a moment for proxies, by key. */
  readonly #momentary = new Set<string>();
  /** Objects whose numbers of proxies are written too. */
  readonly #fresh = new Set<string>();
  #wake = Promise.withResolvers<void>();
  /** Resolves when a status begins to wait for proxies. */
  #waits = Promise.withResolvers<void>();

  constructor(parts: GatewayApiStatusParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
    this.#unsettled = new WaitingObjects(parts.patience);
    this.#writer = new StatusWriter(parts.writing, signal);
    this.#refused = new RefusedStatuses(parts, this.#writer);
    this.#history = new StatusHistory(parts.client.clock);
    signal.addEventListener("abort", () => {
      this.#wake.resolve();
      this.#waits.resolve();
    }, { once: true });
  }

  async run(): Promise<void> {
    const { store, facts, verdicts, reports, followRevisions, client: { clock } } = this.#parts;
    const revisions = followRevisions(() => this.#look(this.#allKeys()));
    const led = reports.lead(this.#signal);
    // The revisions decide who writes which status, and proxies of other servers count, so both are read before the
    // first write.
    await Promise.race([Promise.all([revisions.start(), reports.read()]), aborted(this.#signal)]);
    const ends = [
      verdicts.onChange((keys) => this.#look(keys)),
      store.subscribe((changes) => this.#look(keysIn(changes))),
      facts.subscribe((changes) => this.#lookAtGateways(changes)),
      onPolicyChange({ store, facts, verdicts }, (keys) => this.#look(keys)),
    ];
    // A new leader looks at all objects. Objects with the right status are not written.
    this.#look(this.#allKeys());
    const watched = [this.#watch(), this.#attend()];
    while (!this.#signal.aborted) {
      await this.#wake.promise;
      await clock.sleep(PAUSE_MS, this.#signal).catch(() => {});
      if (this.#signal.aborted) break;
      this.#wake = Promise.withResolvers();
      await this.#judge([...this.#changed]);
    }
    for (const end of ends) end();
    await Promise.all([...watched, led, this.#writer.stop(), revisions.stop()]);
  }

  #allKeys(): string[] {
    return GATEWAY_API_KINDS.flatMap((kind) => this.#parts.store.list(kind).map(({ key }) => key));
  }

  /** Looks often at the objects whose status waits a moment for proxies. */
  async #attend(): Promise<void> {
    const { watch, client: { clock } } = this.#parts;
    while (!this.#signal.aborted) {
      await this.#waits.promise;
      this.#waits = Promise.withResolvers();
      let [seen, pause] = ["", LOOK_MS];
      while (this.#momentary.size > 0) {
        await clock.sleep(pause, this.#signal).catch(() => {});
        if (this.#signal.aborted) return;
        const began = clock.monotonic();
        const revision = watch.revision;
        const keys = revision === seen ? this.#unsettled.due(began) : this.#momentary;
        seen = revision;
        await this.#judgeNow([...keys].filter((key) => this.#momentary.has(key)));
        pause = Math.max(LOOK_MS, (LOOK_PARTS - 1) * (clock.monotonic() - began));
      }
    }
  }

  /** Judges objects without a pause. Objects that have just changed are judged after their pause. */
  async #judgeNow(keys: readonly string[]): Promise<void> {
    await this.#judge(keys.filter((key) => !this.#changed.has(key)));
  }

  /** Looks at objects when proxies have done something, or when the wait for proxies may be over. */
  async #watch(): Promise<void> {
    const { watch, interval, client: { clock } } = this.#parts;
    let [refused, numbers] = [clock.monotonic(), clock.monotonic()];
    while (!this.#signal.aborted) {
      await clock.sleep(interval, this.#signal).catch(() => {});
      if (this.#signal.aborted) return;
      const now = clock.monotonic();
      const changed = watch.changed();
      const known = [...changed ?? []].filter((key) => isGatewayApiKind(key.split("/", 1)[0] as Kind));
      const waiting = changed === undefined ? [] : this.#unsettled.withProxies();
      await this.#judgeNow([...new Set([...known, ...waiting, ...this.#unsettled.due(now)])]);
      if (this.#signal.aborted) return;
      if (now - refused >= REFUSED_MS) {
        refused = now;
        this.#refused.look();
      }
      this.#look([...this.#postponed].filter((key) => !this.#history.isSpaced(this.#object(key))));
      if (now - numbers < NUMBERS_MS) continue;
      numbers = now;
      const all = this.#allKeys();
      for (const key of all) this.#fresh.add(key);
      this.#look(all);
    }
  }

  #look(keys: readonly string[]): void {
    for (const key of keys) this.#changed.add(key);
    if (keys.length > 0) this.#wake.resolve();
  }

  /** A changed Service or its endpoints may change the addresses of the namespace's Gateways. */
  #lookAtGateways(changes: ChangeSet<Fact>): void {
    const namespaces = new Set(
      changedObjects(changes).filter(({ kind }) => kind === "Service" || kind === "EndpointSlice").map(({ meta }) =>
        meta.namespace
      ),
    );
    // The label of a revision at a namespace decides who writes.
    const relabelled = changes.updated.filter((one) =>
      one.old.kind === "Namespace" && revisionOf(one.old) !== revisionOf(one.new)
    );
    if (relabelled.length > 0) this.#look(this.#allKeys());
    if (namespaces.size === 0) return;
    for (const { view: { gateway, sets } } of this.#parts.verdicts.judgedGateways()) {
      if (namespaces.has(gateway.meta.namespace)) this.#look([gateway.key, ...sets.map(({ set }) => set.key)]);
    }
  }

  async #judge(keys: readonly string[]): Promise<void> {
    const { client: { clock } } = this.#parts;
    for (const [at, key] of keys.entries()) {
      this.#changed.delete(key);
      this.#judgeOne(key);
      this.#fresh.delete(key);
      if (at % OBJECTS_A_STEP === OBJECTS_A_STEP - 1) await clock.sleep(0, this.#signal).catch(() => {});
    }
  }

  #judgeOne(key: string): void {
    const { placeOf, isOwned, wanted } = this.#parts;
    const object = this.#object(key);
    this.#momentary.delete(key);
    if (object?.origin.from !== "api" || !isOwned(object)) return void this.#unsettled.delete(key);
    if (this.#history.isSpaced(object)) return void this.#postponed.add(key);
    this.#postponed.delete(key);
    const { uid } = object.origin;
    const fresh = this.#fresh.has(key);
    const next = wanted(object, statusOf(object), "", this.#patienceOf(object, fresh));
    // An update that waits for its turn keeps its place, and decides with its turn.
    if (next === WAIT) return this.#waitAMoment(key);
    if (placeOf(object) === undefined || next === undefined || this.#history.wroteNow(uid, next)) {
      return this.#writer.drop(uid);
    }
    // Another look at the object, before the answer, finds the status before the write.
    const text = JSON.stringify(next);
    if (this.#sent.get(uid) === text) return;
    this.#writer.put(uid, async (signal) => {
      // The object may have changed since. A change looks again, and an object that is gone has no status.
      const current = this.#object(key);
      const place = current && placeOf(current);
      if (current?.origin.from !== "api" || current.origin.uid !== uid || place === undefined) return;
      this.#sent.set(uid, text);
      try {
        if (await this.#send(current, { place, uid }, fresh, signal)) this.#history.note(uid, next);
      } finally {
        this.#sent.delete(uid);
      }
    });
  }

  #waitAMoment(key: string): void {
    this.#momentary.add(key);
    this.#waits.resolve();
  }

  /** @returns whether there was still anything to write */
  async #send(
    object: ConfigObject,
    { place, uid }: { readonly place: ReadPlace; readonly uid: string },
    fresh: boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { client, wanted } = this.#parts;
    const now = statusTime(client.clock);
    const patience = this.#patienceOf(object, fresh);
    const change = ({ status }: ReadStatus) => {
      const changed = wanted(object, status, now, patience);
      return changed === undefined || changed === WAIT ? undefined : mergePatch(status, changed);
    };
    const { version } = place;
    if (version === undefined) return await changeStatus(client, place, uid, change, signal) === "written";
    const known = { version, generation: object.meta.generation ?? 0, status: statusOf(object) };
    return await changeKnownStatus(client, { place, uid, known }, change, signal) === "written";
  }

  #patienceOf({ key, meta: { generation = 0 } }: ConfigObject, fresh: boolean): PatienceOf {
    const { clock } = this.#parts.client;
    return (isUnsettled, hasProxies) => ({
      ...this.#unsettled.note(key, { generation, isUnsettled, hasProxies }, clock.monotonic()),
      fresh,
    });
  }

  #object(key: string): ConfigObject | undefined {
    return this.#parts.store.at(key);
  }
}

function revisionOf({ meta: { labels } }: Fact): string | undefined {
  return labels["mesh.io/rev"];
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function statusOf({ status = {} }: ConfigObject): ApiJson {
  return status as ApiJson;
}

function keysIn({ added, updated, refreshed }: ChangeSet<ConfigObject>): string[] {
  const objects = [...added, ...[...updated, ...refreshed].map((one) => one.new)];
  return objects.filter(({ kind }) => isGatewayApiKind(kind)).map(({ key }) => key);
}
