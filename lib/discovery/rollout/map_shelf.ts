/**
 * Where the servers of an orchestrator keep their rollouts: a config map for each object with a plan, in the namespace of
 * the servers. The server that leads writes, and all servers follow.
 *
 * Permissions: the permissions of the client. Rights of the account: `list`, `watch`, `create`, `patch` and `delete` of
 * config maps in the namespace of the servers.
 *
 * @module
 */
import { hash as digest } from "node:crypto";
import type { Logger } from "../../kernel/log/log.ts";
import { type ApiJson, isApiJson } from "../../orch/client/answer.ts";
import { ApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { Informer } from "../../orch/informer/informer.ts";
import { LOCK_RESOURCES } from "../../orch/leader/locks.ts";
import { applyObject, deleteObject, type ObjectPlace } from "../../orch/resources/objects.ts";
import { readRecords, writtenRecords } from "../../rollout/record.ts";
import type { StagedRecord } from "../../rollout/staged.ts";
import { packedEntry, unpackedEntry } from "../../status/packed_entry.ts";
import type { RolloutShelf, UnkeptRollouts } from "./shelf.ts";

/** Label of the config maps. Its value is the revision of the servers. */
const LABEL = "internal.mesh.io/rollout";

const ENTRY = "rollout";

/** The API's answer to an account without the right. */
const FORBIDDEN = 403;

/** The API's answers about the content of a request, which do not change: not read, too large, not valid. */
const OF_THE_OBJECT: ReadonlySet<number> = new Set([400, 413, 422]);

/** The account has no right to read the state of rollouts. */
export class RolloutsForbidden extends Error {
  override readonly name = "RolloutsForbidden";
}

/** The content of a config map. */
interface KeptRecord {
  readonly record: StagedRecord;
  /** As it was written. */
  readonly text: string;
}

/** A state that the API does not take. */
interface RefusedRecord {
  readonly text: string;
  readonly why: string;
}

/** Takes a change by another server. Undefined: nothing is kept about the object. */
export type RecordListener = (key: string, record: StagedRecord | undefined) => void;

export interface MapShelfOptions {
  readonly client: ApiClient;
  /** Namespace of the servers. */
  readonly namespace: string;
  readonly revision: string;
  readonly log: Logger;
}

export class MapShelf implements RolloutShelf {
  readonly #options: MapShelfOptions;
  readonly #informer: Informer<unknown>;
  /** By the name of the config map. */
  readonly #kept = new Map<string, KeptRecord>();
  /** By object. The API is not asked again about the same state. */
  #unkept: ReadonlyMap<string, RefusedRecord> = new Map();
  readonly #refused = Promise.withResolvers<never>();
  #taken: Promise<void> = Promise.resolve();
  #listener: RecordListener = () => {};

  constructor(options: MapShelfOptions) {
    const { client, namespace, revision } = options;
    this.#options = options;
    this.#informer = new Informer<unknown>(client, {
      ...{ resource: LOCK_RESOURCES.ConfigMap, namespace, labelSelector: `${LABEL}=${revision}` },
      project: ({ binaryData }: ApiJson) => binaryData,
      troubled: ({ status, message }) => {
        if (status === FORBIDDEN) this.#refused.reject(new RolloutsForbidden(message));
      },
    });
    this.#refused.promise.catch(() => {}); // nobody reads
    this.#informer.subscribe(({ upserted, removed }) => {
      this.#taken = this.#taken.then(async () => {
        for (const { name } of removed) this.#forget(name);
        for (const { name, value } of upserted) await this.#take(name, value);
      });
    });
  }

  /** Calls a listener with each record, now and after each change. */
  follow(listener: RecordListener): void {
    this.#listener = listener;
    this.again();
  }

  /** Calls the listener with each record again. */
  again(): void {
    for (const { record } of this.#kept.values()) this.#listener(record.key, record);
  }

  /** Why the state is not read yet. Undefined: no failure is known. */
  get trouble(): string | undefined {
    return this.#informer.trouble;
  }

  /**
   * Waits until the state is read.
   *
   * @throws {RolloutsForbidden} when the account has no right to read the state
   */
  async read(): Promise<readonly StagedRecord[]> {
    this.#informer.start();
    await Promise.race([this.#informer.whenSynced, this.#refused.promise]);
    await this.#taken;
    return [...this.#kept.values()].map(({ record }) => record);
  }

  async write(records: Iterable<StagedRecord>, signal?: AbortSignal): Promise<UnkeptRollouts> {
    const unkept = new Map<string, RefusedRecord>();
    const names = new Set<string>();
    for (const record of records) {
      const place = this.#placeOf(record.key);
      names.add(place.name);
      const text = writtenRecords([record]);
      if (this.#kept.get(place.name)?.text === text) continue;
      const before = this.#unkept.get(record.key);
      const why = before?.text === text ? before.why : await this.#write(place, record, text, signal);
      if (why === undefined) this.#kept.set(place.name, { record, text });
      else unkept.set(record.key, { text, why });
    }
    this.#unkept = unkept;
    for (const name of this.#kept.keys()) {
      if (names.has(name)) continue;
      await deleteObject(this.#options.client, { ...this.#placeOf(""), name }, {}, signal && { signal });
      this.#kept.delete(name);
    }
    return new Map([...unkept].map(([key, { why }]) => [key, why]));
  }

  /** @returns why the API takes no such config map, whenever it is asked. Undefined: it is written. */
  async #write(
    place: ObjectPlace,
    { key }: StagedRecord,
    text: string,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    const entry = await packedEntry(text);
    if (entry === undefined) return "the object is too large for a config map";
    const metadata = {
      labels: { [LABEL]: this.#options.revision },
      annotations: { "internal.mesh.io/object": key },
    };
    const call = { manager: "pilot-discovery-rollouts", force: true, ...signal && { signal } };
    try {
      await applyObject(this.#options.client, place, { metadata, binaryData: { [ENTRY]: entry } }, call);
      return undefined;
    } catch (error) {
      if (error instanceof ApiError && OF_THE_OBJECT.has(error.status ?? 0)) return error.message;
      throw error;
    }
  }

  #placeOf(key: string): ObjectPlace {
    const { namespace, revision } = this.#options;
    const name = `mesh-rollout-${revision}-${digest("sha256", key, "hex").slice(0, 20)}`;
    return { resource: LOCK_RESOURCES.ConfigMap, namespace, name };
  }

  #forget(name: string): void {
    const kept = this.#kept.get(name);
    if (kept === undefined) return;
    this.#kept.delete(name);
    this.#listener(kept.record.key, undefined);
  }

  async #take(name: string, data: unknown): Promise<void> {
    try {
      const text = await unpackedEntry(isApiJson(data) ? data[ENTRY] : undefined);
      const { namespace } = this.#options;
      const origin = {
        from: "file",
        source: `config map ${namespace}/${name}`,
        file: "",
        line: 0,
        within: "",
      } as const;
      const [record] = readRecords(text, origin);
      if (record === undefined || this.#placeOf(record.key).name !== name) throw new Error("expected another name");
      if (this.#kept.get(name)?.text === text) return;
      this.#kept.set(name, { record, text });
      this.#listener(record.key, record);
    } catch (error) {
      this.#options.log.error("the state of a rollout cannot be read, so its object goes everywhere at once", {
        error,
        config_map: name,
      });
      this.#forget(name);
    }
  }

  async stop(): Promise<void> {
    await this.#informer.stop();
    await this.#taken;
  }
}
