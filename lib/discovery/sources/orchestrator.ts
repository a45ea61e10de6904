/**
 * The orchestrator as a source of a server: one client, the kinds of the mesh, and facts.
 *
 * Permissions: net (the API's address), and the permissions of `lib/orch/access`.
 *
 * @module
 */
import type { Fact } from "../../config/facts/types.ts";
import type { Finding } from "../../finding/finding.ts";
import type { StoreSource } from "../../config/store.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { FileAccess } from "../../orch/access/file_access.ts";
import type { AccessPlace } from "../../orch/access/find.ts";
import type { AccessSource } from "../../orch/client/access.ts";
import { ApiClient } from "../../orch/client/client.ts";
import { TokenBucket } from "../../orch/client/token_bucket.ts";
import type { ApiFeed, FindingsListener } from "./feed.ts";
import { FactFeeds } from "./fact_feeds.ts";
import type { SharingApi } from "../settings/settings.ts";
import { type GatewayApiVersions, KindFeeds, type ReadPlace, type RefusedKind } from "./kind_feeds.ts";
import type { SourceTrouble } from "./source_state.ts";

/** How the orchestrator is reached. */
export interface OrchOptions extends OrchScope {
  readonly place: AccessPlace;
  /** Access that was already read at the place. Default: access is read with the first request. */
  readonly access?: AccessSource;
  /** Requests a second; 0: no limit. */
  readonly qps: number;
  /** Requests at once. */
  readonly burst: number;
  /** Ways to prove an identity that are allowed although they run programs. See `FileAccessOptions`. */
  readonly allowed: readonly string[];
}

/** The objects of the orchestrator that are read. */
export interface OrchScope {
  /** Limits reading to one namespace (MESH_WATCH_NAMESPACE); empty: all namespaces are read. */
  readonly namespace: string;
  /** Whether the kinds of the mesh are read; false when a folder has the configuration. */
  readonly kinds: boolean;
  /** Whether services are read, with the objects that the registry needs. */
  readonly services: boolean;
  /** The versions of the Gateway API's kinds that are read with the kinds of the mesh. Default: none. */
  readonly gatewayApi?: GatewayApiVersions | undefined;
  /** Whether InferencePools are read. Default: false. */
  readonly inferencePools?: boolean | undefined;
  /** The API of exports and imports of services; undefined: exports and imports are not read. */
  readonly sharing?: SharingApi | undefined;
}

/** The access of a server, not read yet. */
export function orchAccess(
  { place, allowed }: Pick<OrchOptions, "place" | "allowed">,
  kernel: Pick<Kernel, "log" | "clock">,
): FileAccess {
  return new FileAccess(place, { allowed, clock: kernel.clock, log: kernel.log.scope("orch") });
}

/** The client of a server. */
export function orchClient(options: OrchOptions, kernel: Pick<Kernel, "program" | "log" | "clock">): ApiClient {
  const { access = orchAccess(options, kernel), qps, burst } = options;
  const { clock, log } = kernel;
  return new ApiClient({
    access,
    limit: new TokenBucket(qps, burst, clock),
    ...{ clock, log: log.scope("klog"), userAgent: kernel.program },
  });
}

/** Targets of the orchestrator's objects. */
export interface OrchTarget {
  /** Adds a source of configuration with a rank: one source for each group of the kinds. */
  readonly objects: (name: string, rank: number) => StoreSource;
  readonly facts: StoreSource<Fact>;
  /** Keys the hashes of facts; see `FactOptions`. */
  readonly digestKey: Uint8Array;
  readonly onFindings: FindingsListener;
}

/** Objects of the orchestrator as a source of configuration. */
export class OrchObjects {
  readonly #kinds: KindFeeds | undefined;
  readonly #facts: FactFeeds;

  /** @param cluster Name of the cluster and of the source. */
  constructor(
    client: ApiClient,
    readonly cluster: string,
    scope: OrchScope,
    target: OrchTarget,
    kernel: Pick<Kernel, "log" | "metrics" | "clock">,
  ) {
    const { namespace, kinds, services, sharing, gatewayApi = "none", inferencePools = false } = scope;
    const parts = { client, kernel, cluster, namespace, services, sharing, ...target };
    this.#facts = new FactFeeds(parts);
    this.#kinds = kinds ? new KindFeeds({ ...parts, gatewayApi, inferencePools }) : undefined;
  }

  /** Begins; resolves when everything is in the stores, however long the API is away. */
  async start(): Promise<void> {
    await Promise.all([this.#facts.start(), this.#kinds?.start()]);
  }

  /** All feeds. A kind that is needed to read other kinds comes first. */
  *feeds(): Generator<ApiFeed<Fact> | ApiFeed<ConfigObject>> {
    yield* this.#facts.feeds();
    yield* this.#kinds?.feeds() ?? [];
  }

  /** Reads nodes with their addresses from now on. */
  readNodeAddresses(): void {
    this.#facts.readNodeAddresses();
  }

  *findings(): Generator<Finding> {
    yield* this.#kinds?.findings() ?? [];
    yield* this.#facts.findings();
  }

  /** Why objects of some kinds are not followed now, since the earliest time; undefined: all kinds are followed. */
  trouble(): SourceTrouble | undefined {
    const troubled = [...this.feeds()].filter(({ trouble }) => trouble !== undefined);
    const [first] = troubled;
    if (first?.trouble === undefined) return undefined;
    const more = troubled.length > 1 ? ` (and ${troubled.length - 1} more kinds)` : "";
    return {
      problem: `${first.trouble}${more}`,
      since: Math.min(...troubled.map((one) => one.troubledSince ?? Infinity)),
    };
  }

  isStale(object: ConfigObject): boolean {
    return this.#kinds?.isStale(object) ?? false;
  }

  /** The objects of the kinds of the mesh whose present version is refused. */
  *refused(): Generator<RefusedKind> {
    yield* this.#kinds?.refused() ?? [];
  }

  /** The place of an object of a kind of the mesh in the API; undefined: the object is not in the API. */
  placeOf(object: ConfigObject): ReadPlace | undefined {
    return this.#kinds?.placeOf(object);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#kinds?.stop(), this.#facts.stop()]);
  }
}
