/**
 * The kinds of the mesh in the orchestrator. The orchestrator's definitions are watched, and one served version of each
 * definition is read.
 *
 *     definitions ──names──> versions that are served ──> one feed a definition ──> store
 *
 * A new definition is followed when it appears, and a removed definition takes its objects along. A definition that is
 * not served, or not in a version that the server reads, is reported and tried again. No definition keeps other
 * definitions from being read.
 *
 * Permissions: the permissions of the client.
 *
 * @module
 */
import { parseObject } from "../../config/object.ts";
import type { StoreSource } from "../../config/store.ts";
import { type ConfigObject, objectKey } from "../../config/types.ts";
import type { Finding } from "../../finding/finding.ts";
import { type Kind, KINDS } from "../../config/kinds/kinds.ts";
import { API_VERSIONS, groupOfKind } from "../../config/spelling/spelling.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { type ApiJson, isApiJson } from "../../orch/client/answer.ts";
import { type ApiError, asApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { outageOf } from "../../orch/client/outage.ts";
import type { ObjectPlace } from "../../orch/resources/objects.ts";
import { BackOff } from "../../orch/informer/back_off.ts";
import { Informer } from "../../orch/informer/informer.ts";
import {
  definitionName,
  DEFINITIONS,
  KIND_DEFINITIONS,
  kindResource,
  type MeshDefinition,
  watchedVersion,
} from "../../orch/resources/definitions.ts";
import { servedVersions } from "../../orch/resources/served.ts";
import { ApiFeed, type FindingsListener, type ReadApiObject, type RefusedObject } from "./feed.ts";

/** Inputs of the feeds. */
export interface KindFeedsParts {
  readonly client: ApiClient;
  readonly kernel: Pick<Kernel, "log" | "metrics" | "clock">;
  readonly cluster: string;
  /** Adds a source with a rank to a store. */
  readonly objects: (name: string, rank: number) => StoreSource;
  /** Limits reading to one namespace; empty: all namespaces are read. */
  readonly namespace: string;
  readonly onFindings: FindingsListener;
  /** Kinds to read. Default: all kinds. */
  readonly kinds?: readonly Kind[];
  /** Called with each failure of a list or watch. Default: failures are only counted. */
  readonly troubled?: (error: ApiError) => void;
}

/** Longest wait at the start for definitions that are not served yet, milliseconds. */
const SERVED_MS = 30_000;

export class KindFeeds {
  readonly #parts: KindFeedsParts;
  readonly #kinds: readonly Kind[];
  /** The definitions of the kinds to read. */
  readonly #read: readonly MeshDefinition[];
  readonly #definitions: Informer<true>;
  readonly #feeds = new Map<string, ApiFeed<ConfigObject>>();
  readonly #stop = new AbortController();
  readonly #backOff = new BackOff();
  readonly #looked = Promise.withResolvers<void>();
  #looking: Promise<void> | undefined;
  #again = false;
  #table = "";

  constructor(parts: KindFeedsParts) {
    this.#parts = parts;
    const { client, kernel, objects, cluster, namespace, onFindings, kinds = KINDS } = parts;
    this.#kinds = kinds;
    this.#read = KIND_DEFINITIONS.filter(({ kind }) => (kinds as readonly string[]).includes(kind));
    const troubled = (error: ApiError) => {
      kernel.metrics.counter("controller_sync_errors_total").inc({ cluster });
      parts.troubled?.(error);
    };
    this.#definitions = new Informer(client, {
      ...{ resource: DEFINITIONS, metadataOnly: true, project: () => true, troubled },
      log: kernel.log.scope("orch"),
    });
    const sources = sourceNames(cluster);
    // This project's groups have precedence over Istio's.
    const own = objects(sources.own, 0);
    const peers = objects(sources.peers, 1);
    for (const definition of this.#read) {
      const name = definition.own ? sources.own : sources.peers;
      const feed = new ApiFeed<ConfigObject>({
        ...{
          client,
          kernel,
          cluster,
          onFindings,
          troubled: parts.troubled,
          kind: definition.kind,
          scope: { namespace },
        },
        target: definition.own ? own : peers,
        events: kernel.metrics.counter("pilot_k8s_cfg_events"),
        read: (tree) => readKind(tree, name),
      });
      this.#feeds.set(definitionName(definition), feed);
    }
  }

  /** Begins. Resolves when the objects of all served definitions are in the store. */
  async start(): Promise<void> {
    this.#definitions.subscribe(() => this.#look());
    this.#definitions.start();
    await this.#definitions.whenSynced;
    this.#look();
    await this.#looked.promise;
    await Promise.all(this.#watched().map(({ feed }) => feed.whenSynced));
  }

  /** The feeds of watched definitions. */
  feeds(): ApiFeed<ConfigObject>[] {
    return this.#watched().map(({ feed }) => feed);
  }

  *findings(): Generator<Finding> {
    for (const feed of this.#feeds.values()) yield* feed.findings();
  }

  isStale(object: ConfigObject): boolean {
    return [...this.#feeds.values()].some((feed) => feed.isStale(object));
  }

  /** The objects whose present version is refused. */
  *refused(): Generator<RefusedKind> {
    for (const { definition, feed, version } of this.#watched()) {
      const resource = kindResource(definition, version);
      for (const object of feed.refused()) {
        const { namespace, name } = object;
        yield { ...object, key: objectKey(definition.kind, namespace, name), place: { resource, namespace, name } };
      }
    }
  }

  /** The place of an object in the API; undefined: the object's definition is not watched any more. */
  placeOf({ kind, meta: { namespace, name }, origin }: ConfigObject): ObjectPlace | undefined {
    const own: string[] = Object.values(sourceNames(this.#parts.cluster));
    if (origin.from !== "api" || !own.includes(origin.source)) return undefined;
    const group = origin.written?.apiVersion.split("/")[0] ?? `${groupOfKind(kind)}.mesh.io`;
    const definition = this.#read.find((one) => one.kind === kind && one.group === group);
    const version = definition && this.#feedOf(definition).version;
    return version === undefined ? undefined : { resource: kindResource(definition!, version), namespace, name };
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("stopped"));
    outageOf(this.#parts.client).leaves(this);
    await this.#definitions.stop();
    await Promise.all([...this.#feeds.values()].map((feed) => feed.stop()));
    await this.#looking;
  }

  #watched() {
    return this.#read.flatMap((definition) => {
      const feed = this.#feedOf(definition);
      return feed.version === undefined ? [] : [{ definition, feed, version: feed.version }];
    });
  }

  #feedOf(definition: MeshDefinition): ApiFeed<ConfigObject> {
    // The constructor has made a feed for every definition.
    return this.#feeds.get(definitionName(definition)) as ApiFeed<ConfigObject>;
  }

  /** Looks at the definitions now, or once more after the look that is under way. */
  #look(): void {
    this.#again = true;
    this.#looking ??= this.#lookAgain().finally(() => this.#looking = undefined);
  }

  async #lookAgain(): Promise<void> {
    const { clock } = this.#parts.client;
    const { signal } = this.#stop;
    const began = clock.monotonic();
    while (this.#again && !signal.aborted) {
      this.#again = false;
      if (!this.#definitions.synced) return;
      const found = await this.#tryRefresh();
      const isLate = clock.monotonic() - began > SERVED_MS;
      if (found !== undefined && (found.unserved.length === 0 || isLate)) {
        this.#report(found);
        this.#looked.resolve();
      }
      if (found?.unserved.length === 0) this.#backOff.reset();
      else {
        await clock.sleep(this.#backOff.next(), signal).catch(() => {});
        this.#again = true;
      }
    }
  }

  /** The definitions that are not followed; undefined: the API did not list its resources. */
  async #tryRefresh(): Promise<NotFollowed | undefined> {
    const { client, kernel } = this.#parts;
    try {
      const found = await this.#refresh();
      outageOf(client).works(this, kernel.log.scope("orch"), {});
      return found;
    } catch (error) {
      if (this.#stop.signal.aborted) return undefined;
      const log = kernel.log.scope("orch");
      const failure = asApiError(error, "the kinds that are served");
      if (failure.transient) outageOf(client).fails(this, failure, log, {});
      else log.warn("the orchestrator did not list its resources; the server asks again", { error });
      return undefined;
    }
  }

  /** Follows the served definitions. */
  async #refresh(): Promise<NotFollowed> {
    const isThere = (definition: MeshDefinition) => this.#definitions.get("", definitionName(definition)) !== undefined;
    const [unserved, unread]: [MeshDefinition[], MeshDefinition[]] = [[], []];
    for (const [group, definitions] of Map.groupBy(this.#read.filter(isThere), (one) => one.group)) {
      const served = await servedVersions(this.#parts.client, group, this.#stop.signal);
      for (const definition of definitions) {
        const versions = served.get(definition.plural);
        const version = versions && watchedVersion(versions);
        if (version !== undefined) this.#feedOf(definition).follow(kindResource(definition, version));
        // A resource that was served before is still followed: a starting API server may not know its own definitions
        // yet.
        else if (this.#feedOf(definition).version === undefined) (versions ? unread : unserved).push(definition);
      }
    }
    for (const definition of this.#read) if (!isThere(definition)) this.#feedOf(definition).vanish();
    return { unserved, unread };
  }

  /** Logs one line with all definitions whenever the table changes. */
  #report({ unserved, unread }: NotFollowed): void {
    const watched = this.#watched().map(({ definition, version }) => `${definitionName(definition)} ${version}`);
    const has = new Set(this.#watched().map(({ definition }) => definition.kind));
    const without = this.#kinds.filter((kind) => !has.has(kind));
    const refused = {
      ...(unserved.length > 0 ? { notServed: unserved.map(definitionName) } : {}),
      ...(unread.length > 0 ? { otherVersion: unread.map(definitionName), expected: API_VERSIONS } : {}),
    };
    const table = JSON.stringify({ watched, without, refused });
    if (table === this.#table) return;
    this.#table = table;
    const level = unserved.length + unread.length > 0 ? "warn" : "info";
    this.#parts.kernel.log.scope("orch")[level]("definitions of the mesh's kinds", {
      ...(this.#parts.kinds === undefined ? {} : { cluster: this.#parts.cluster }),
      ...{ watched, without, ...refused },
    });
  }
}

/** Names of the sources of a cluster: of the kinds in our spelling, and in Istio's. */
function sourceNames(cluster: string) {
  return { own: cluster, peers: `${cluster} (istio.io)` };
}

/** An object of a kind of the mesh whose present version is refused. */
export interface RefusedKind extends RefusedObject {
  /** `kind/namespace/name`. */
  readonly key: string;
  readonly place: ObjectPlace;
}

/** Definitions that exist and are not watched. */
interface NotFollowed {
  /** The API does not serve the definitions, or not yet. */
  readonly unserved: readonly MeshDefinition[];
  /** The API serves the definitions, but in no version that the server reads. */
  readonly unread: readonly MeshDefinition[];
}

/** Reads an object of a definition. Fields that the API adds, and that files do not have, are left out. */
function readKind(tree: ApiJson, source: string): ReadApiObject<ConfigObject> {
  const { apiVersion, kind, metadata, spec, status } = tree;
  const uid = isApiJson(metadata) && typeof metadata["uid"] === "string" ? metadata["uid"] : "";
  const bare = { apiVersion, kind, metadata, spec, ...(status === undefined ? {} : { status }) };
  const read = parseObject(bare, { from: "api", source, uid }, { defaultNamespace: "default" });
  if (read.object !== undefined) return read;
  const generation = isApiJson(metadata) && typeof metadata["generation"] === "number" ? metadata["generation"] : 0;
  return { findings: read.findings, generation };
}
