/**
 * The kinds of the mesh and of the Gateway API in the orchestrator. The orchestrator's definitions are watched, and one
 * served version of each definition is read.
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
import { type Kind, KINDS, MESH_KINDS } from "../../config/kinds/kinds.ts";
import { apiGroupOfKind } from "../../config/spelling/spelling.ts";
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
  GATEWAY_API_DEFINITIONS,
  KIND_DEFINITIONS,
  kindResource,
  type MeshDefinition,
  watchedVersion,
} from "../../orch/resources/definitions.ts";
import { servedVersions } from "../../orch/resources/served.ts";
import { DefinitionTable, type FoundDefinitions, type UnreadDefinition } from "./definition_table.ts";
import { ApiFeed, type FindingsListener, type ReadApiObject, type RefusedObject } from "./feed.ts";

export interface KindFeedsParts {
  readonly client: ApiClient;
  readonly kernel: Pick<Kernel, "log" | "metrics" | "clock">;
  readonly cluster: string;
  /** Adds a source with a rank to a store. */
  readonly objects: (name: string, rank: number) => StoreSource;
  /** Limits reading to one namespace; empty: all namespaces are read. */
  readonly namespace: string;
  readonly onFindings: FindingsListener;
  /** Kinds to read. Default: the kinds of the mesh, and the kinds of the Gateway API if any version of them is read. */
  readonly kinds?: readonly Kind[];
  /** Default: none. */
  readonly gatewayApi?: GatewayApiVersions;
  /** Whether InferencePools are read with the kinds of the Gateway API. Default: false. */
  readonly inferencePools?: boolean;
  /** Called with each failure of a list or watch. Default: failures are only counted. */
  readonly troubled?: (error: ApiError) => void;
}

/** The versions of the Gateway API's kinds that are read. */
export type GatewayApiVersions = "none" | "stable" | "stable and alpha";

/** The place of an object, and the API's version that the object was read in. */
export interface ReadPlace extends ObjectPlace {
  /** Absent: the API has another version by now. */
  readonly version?: string | undefined;
}

/** Longest wait at the start for definitions that are not served yet, milliseconds. */
const SERVED_MS = 30_000;

/**
 * Time between a change of a definition and a second look at the served versions, milliseconds. The API serves the
 * versions of a changed definition some moments after it reports the change.
 */
const SECOND_LOOK_MS = 5_000;

/** The kinds of the mesh and of the Gateway API. */
function readKinds({ inferencePools = false }: Pick<KindFeedsParts, "inferencePools">): readonly Kind[] {
  return KINDS.filter((kind) => kind !== "InferencePool" || inferencePools);
}

export class KindFeeds {
  readonly #parts: KindFeedsParts;
  readonly #alpha: boolean;
  /** The definitions of the kinds to read. */
  readonly #read: readonly MeshDefinition[];
  /** Values are versions of the Gateway API; empty: a definition of something else. */
  readonly #definitions: Informer<string>;
  readonly #table: DefinitionTable;
  readonly #feeds = new Map<string, ApiFeed<ConfigObject>>();
  readonly #stop = new AbortController();
  readonly #backOff = new BackOff();
  readonly #looked = Promise.withResolvers<void>();
  #looking: Promise<void> | undefined;
  /** Looks that are due, the present look included. */
  #due = 0;
  /** Ends the present pause between two looks. */
  #pause: AbortController | undefined;

  constructor(parts: KindFeedsParts) {
    this.#parts = parts;
    const { client, kernel, objects, cluster, namespace, onFindings, gatewayApi = "none" } = parts;
    const { kinds = gatewayApi === "none" ? MESH_KINDS : readKinds(parts) } = parts;
    this.#alpha = gatewayApi === "stable and alpha";
    this.#read = [...KIND_DEFINITIONS, ...GATEWAY_API_DEFINITIONS]
      .filter(({ kind }) => (kinds as readonly string[]).includes(kind));
    this.#table = new DefinitionTable({
      ...{ kinds, onFindings, log: kernel.log.scope("orch"), source: cluster },
      ...(parts.kinds === undefined ? {} : { cluster }),
    });
    const troubled = (error: ApiError) => {
      kernel.metrics.counter("controller_sync_errors_total").inc({ cluster });
      parts.troubled?.(error);
    };
    this.#definitions = new Informer(client, {
      ...{ resource: DEFINITIONS, metadataOnly: true, project: bundleVersion, troubled },
      log: kernel.log.scope("orch"),
    });
    const sources = sourceNames(cluster);
    // This project's groups have precedence over Istio's.
    const own = objects(sources.own, 0);
    const istio = objects(sources.istio, 1);
    for (const definition of this.#read) {
      const name = definition.own ? sources.own : sources.istio;
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
        target: definition.own ? own : istio,
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
    yield* this.#table.findings();
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
  placeOf(object: ConfigObject): ReadPlace | undefined {
    const { kind, meta: { namespace, name }, origin } = object;
    const own: string[] = Object.values(sourceNames(this.#parts.cluster));
    if (origin.from !== "api" || !own.includes(origin.source)) return undefined;
    const group = origin.written?.apiVersion.split("/")[0] ?? apiGroupOfKind(kind);
    const definition = this.#read.find((one) => one.kind === kind && one.group === group);
    const feed = definition && this.#feedOf(definition);
    if (definition === undefined || feed?.version === undefined) return undefined;
    return { resource: kindResource(definition, feed.version), namespace, name, version: feed.versionOf(object) };
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

  /** Looks at the definitions now, or right after the look that is under way; and once more some time later. */
  #look(): void {
    this.#due = 2;
    this.#pause?.abort();
    this.#looking ??= this.#lookAgain().finally(() => this.#looking = undefined);
  }

  async #lookAgain(): Promise<void> {
    const { clock } = this.#parts.client;
    const began = clock.monotonic();
    while (this.#due > 0 && !this.#stop.signal.aborted) {
      this.#due--;
      if (!this.#definitions.synced) return;
      const found = await this.#tryRefresh();
      const isLate = clock.monotonic() - began > SERVED_MS;
      if (found !== undefined && (found.unserved.length === 0 || isLate)) {
        this.#table.show(found);
        this.#looked.resolve();
      }
      const isWhole = found?.unserved.length === 0;
      if (isWhole) this.#backOff.reset();
      else this.#due = Math.max(this.#due, 1);
      // Two looks are due only if a definition has changed during this look.
      if (this.#due === 1) await this.#wait(isWhole ? SECOND_LOOK_MS : this.#backOff.next());
    }
  }

  /** Waits until the time is over, a definition changes, or the feeds stop. */
  async #wait(time: number): Promise<void> {
    this.#pause = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, this.#pause.signal]);
    await this.#parts.client.clock.sleep(time, signal).catch(() => {});
    this.#pause = undefined;
  }

  /** The definitions that are not followed; undefined: the API did not list its resources. */
  async #tryRefresh(): Promise<FoundDefinitions | undefined> {
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
  async #refresh(): Promise<FoundDefinitions> {
    const isThere = (definition: MeshDefinition) => this.#definitions.get("", definitionName(definition)) !== undefined;
    const [unserved, unread]: [MeshDefinition[], UnreadDefinition[]] = [[], []];
    for (const [group, definitions] of Map.groupBy(this.#read.filter(isThere), (one) => one.group)) {
      const served = await servedVersions(this.#parts.client, group, this.#stop.signal);
      for (const definition of definitions) {
        const versions = served.get(definition.plural);
        const version = versions && watchedVersion(definition.kind, versions, this.#alpha);
        if (version !== undefined) this.#feedOf(definition).follow(kindResource(definition, version));
        // A resource that was served before is still followed: a starting API server may not know its own definitions
        // yet.
        else if (this.#feedOf(definition).version !== undefined) continue;
        else if (versions === undefined) unserved.push(definition);
        else {
          const bundle = this.#definitions.get("", definitionName(definition))?.value ?? "";
          unread.push({ definition, served: [...versions].sort(), bundle });
        }
      }
    }
    for (const definition of this.#read) if (!isThere(definition)) this.#feedOf(definition).vanish();
    return { watched: this.#watched(), unserved, unread };
  }
}

/** Names of the sources of a cluster: of the kinds in our spelling, and in Istio's. */
function sourceNames(cluster: string) {
  return { own: cluster, istio: `${cluster} (istio.io)` };
}

/** An object of a kind of the mesh whose present version is refused. */
export interface RefusedKind extends RefusedObject {
  /** `kind/namespace/name`. */
  readonly key: string;
  readonly place: ObjectPlace;
}

/** The version of the Gateway API that a definition is from. */
function bundleVersion({ metadata }: ApiJson): string {
  const annotations = isApiJson(metadata) && isApiJson(metadata["annotations"]) ? metadata["annotations"] : {};
  const version = annotations["gateway.networking.k8s.io/bundle-version"];
  return typeof version === "string" ? version.slice(0, 100) : "";
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
