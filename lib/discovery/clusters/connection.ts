/**
 * One connection to a remote cluster: a client with one access, and the objects that the client reads. Another access
 * gets another connection, beside the old connection until everything has been read.
 *
 * Permissions: net (the cluster's API), and the permissions of the access.
 *
 * @module
 */
import { DiscoveredNamespaces } from "../../config/discovered_namespaces.ts";
import { DiscoveredSource } from "../../config/discovered_source.ts";
import { FactStore } from "../../config/facts/store.ts";
import type { Fact, FactKind } from "../../config/facts/types.ts";
import { ConfigStore } from "../../config/store.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { Kind } from "../../config/kinds/kinds.ts";
import type { LabelSelector } from "../../config/mesh/types.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { FileAccess, readAccessText } from "../../orch/access/file_access.ts";
import { ApiClient } from "../../orch/client/client.ts";
import { TokenBucket } from "../../orch/client/token_bucket.ts";
import type { ApiFeed, FindingsListener } from "../sources/feed.ts";
import { FactFeeds } from "../sources/fact_feeds.ts";
import type { SharingApi } from "../settings/settings.ts";
import { KindFeeds } from "../sources/kind_feeds.ts";

/** The kinds that must be read before the cluster's services count. */
const SERVICES: readonly FactKind[] = [
  ...["Namespace", "Node", "Service", "EndpointSlice", "Pod"] as const,
  ...["ServiceExport", "ServiceImport"] as const,
];

/**
 * The kinds that are sent to proxies. A reader without the right to list these kinds still gets the cluster's services.
 */
const CREDENTIALS: readonly FactKind[] = ["Secret", "ConfigMap"];

/** The kinds that say how tunnels reach the cluster. Tunnels reach the own network without them. */
const GATEWAYS: readonly Kind[] = ["ApiGateway", "GatewayClass"];

/** How remote clusters are read. */
export interface ConnectionOptions {
  /** Requests a second; 0: no limit. */
  readonly qps: number;
  /** Requests at once. */
  readonly burst: number;
  /** Ways to prove an identity that are allowed although they run programs or read files. See `FileAccessOptions`. */
  readonly allowed: readonly string[];
  /** Limits reading to one namespace; empty: all namespaces are read. */
  readonly namespace: string;
  /** Keys the hashes of facts; see `FactOptions`. */
  readonly digestKey: Uint8Array;
  readonly onFindings: FindingsListener;
  /** Whether workload entries are read too. */
  readonly entries: boolean;
  /** Whether Gateways and their classes are read too. Default: false. */
  readonly gateways?: boolean;
  /** The API of exports and imports of services; undefined: exports and imports are not read. */
  readonly sharing?: SharingApi | undefined;
}

export class ClusterConnection {
  readonly client: ApiClient;
  readonly facts = new FactStore();
  /** Workload entries and Gateways of the cluster. */
  readonly objects = new ConfigStore();
  readonly discovered = new DiscoveredNamespaces(this.facts, true);
  readonly #services: FactFeeds;
  readonly #credentials: FactFeeds;
  readonly #entries: KindFeeds | undefined;
  readonly #gateways: KindFeeds | undefined;
  readonly #ended = Promise.withResolvers<false>();
  /** Functions to call before the connection closes its client. */
  readonly #stops = new Set<() => Promise<void>>();
  /** Work that must be over before the connection closes its client. */
  readonly #work = new Set<Promise<void>>();
  /** Resolves when the API does not allow to read credentials. */
  readonly #forbidden = Promise.withResolvers<void>();
  /** Resolves when the API does not allow to read workload entries. */
  readonly #noEntries = Promise.withResolvers<void>();
  /** Resolves when the API does not allow to read Gateways. */
  readonly #noGateways = Promise.withResolvers<void>();

  /**
   * @param name The name of the access in messages.
   * @throws {Error} when the access is invalid, naming each field at fault.
   */
  constructor(
    cluster: string,
    access: { readonly name: string; readonly text: string },
    selectors: readonly LabelSelector[],
    options: ConnectionOptions,
    kernel: Pick<Kernel, "program" | "log" | "metrics" | "clock">,
  ) {
    const { allowed, qps, burst } = options;
    const place = { from: "text", ...access, by: access.name } as const;
    readAccessText(place, allowed);
    const { clock, log } = kernel;
    this.client = new ApiClient({
      access: new FileAccess(place, { allowed, clock, log: log.scope("orch") }),
      limit: new TokenBucket(qps, burst, clock),
      ...{ clock, log: log.scope("klog"), userAgent: kernel.program },
    });
    this.discovered.use(selectors);
    const facts = new DiscoveredSource<Fact>(this.facts.addSource(cluster, 0), this.discovered, () => true);
    const parts = { ...options, client: this.client, kernel, cluster, facts, services: true };
    this.#services = new FactFeeds({ ...parts, kinds: SERVICES });
    this.#credentials = new FactFeeds({
      ...{ ...parts, kinds: CREDENTIALS },
      troubled: (error) => error.forbidden && this.#forbidden.resolve(),
    });
    const objects = (name: string, rank: number) =>
      new DiscoveredSource<ConfigObject>(this.objects.addSource(name, rank), this.discovered, () => true);
    const feeds = (kinds: readonly Kind[], forbidden: () => void) =>
      new KindFeeds({
        ...{ ...options, client: this.client, kernel, cluster, objects, kinds },
        troubled: (error) => error.forbidden && forbidden(),
      });
    this.#entries = options.entries ? feeds(["WorkloadEntry"], this.#noEntries.resolve) : undefined;
    this.#gateways = options.gateways ? feeds(GATEWAYS, this.#noGateways.resolve) : undefined;
  }

  /**
   * Begins to read.
   *
   * @returns true when every permitted kind has been read, however long the reading takes; false when the connection
   * was ended before
   */
  async start(): Promise<boolean> {
    const credentials = Promise.race([this.#credentials.start(), this.#forbidden.promise]);
    const entries = this.#entries && Promise.race([this.#entries.start(), this.#noEntries.promise]);
    const gateways = this.#gateways && Promise.race([this.#gateways.start(), this.#noGateways.promise]);
    const all = Promise.all([this.#services.start(), credentials, entries, gateways]);
    return await Promise.race([all.then(() => true), this.#ended.promise]);
  }

  /** Why nothing is heard of the cluster at the moment; undefined: all is well. */
  get trouble(): string | undefined {
    return this.#services.trouble ?? this.#credentials.trouble;
  }

  /** All feeds. A kind that is needed to read other kinds comes first. */
  *feeds(): Generator<ApiFeed<Fact> | ApiFeed<ConfigObject>> {
    yield* this.#services.feeds();
    yield* this.#credentials.feeds();
    yield* this.#entries?.feeds() ?? [];
    yield* this.#gateways?.feeds() ?? [];
  }

  /**
   * Calls a function at the end of the connection, before the client closes.
   *
   * @returns a function that takes the call back
   */
  onStop(stop: () => Promise<void>): () => void {
    this.#stops.add(stop);
    return () => void this.#stops.delete(stop);
  }

  /** Has the client stay open until something is over. */
  until(work: Promise<void>): void {
    const over = work.finally(() => this.#work.delete(over));
    this.#work.add(over);
  }

  /** Ends reading. The objects stay until nobody refers to this connection any more. */
  async stop(): Promise<void> {
    this.#ended.resolve(false);
    const ends = [...this.#stops].map((stop) => stop());
    const feeds = [this.#services, this.#credentials, this.#entries, this.#gateways].map((one) => one?.stop());
    await Promise.all([...ends, ...this.#work, ...feeds]);
    this.client.close();
  }
}
