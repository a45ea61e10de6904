/**
 * One connection to a remote cluster: a client by one access, and the objects that it reads. With another access there is
 * another connection, beside the one before until it has read everything.
 *
 * Permissions: net (the cluster's API), and those of the access.
 *
 * @module
 */
import { DiscoveredNamespaces } from "../../config/discovered_namespaces.ts";
import { DiscoveredSource } from "../../config/discovered_source.ts";
import { FactStore } from "../../config/facts/store.ts";
import type { Fact, FactKind } from "../../config/facts/types.ts";
import { ConfigStore } from "../../config/store.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { LabelSelector } from "../../config/mesh/types.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { FileAccess, readAccessText } from "../../orch/access/file_access.ts";
import { ApiClient } from "../../orch/client/client.ts";
import { TokenBucket } from "../../orch/client/token_bucket.ts";
import type { ApiFeed, FindingsListener } from "../sources/feed.ts";
import { FactFeeds } from "../sources/fact_feeds.ts";
import type { SharingApi } from "../settings/settings.ts";
import { KindFeeds } from "../sources/kind_feeds.ts";

/** The kinds that are read of a cluster before its services count. */
const SERVICES: readonly FactKind[] = [
  ...["Namespace", "Node", "Service", "EndpointSlice", "Pod"] as const,
  ...["ServiceExport", "ServiceImport"] as const,
];

/** The kinds that its proxies may be given; a reader that may not list these still has the cluster's services. */
const CREDENTIALS: readonly FactKind[] = ["Secret", "ConfigMap"];

/** How remote clusters are read. */
export interface ConnectionOptions {
  /** Requests a second; 0: no limit. */
  readonly qps: number;
  /** Requests at once. */
  readonly burst: number;
  /** Ways to prove an identity that are allowed though they run programs or read files; see `FileAccessOptions`. */
  readonly allowed: readonly string[];
  /** Only objects of this namespace are read; empty: all. */
  readonly namespace: string;
  /** Keys the hashes of facts; see `FactOptions`. */
  readonly digestKey: Uint8Array;
  readonly onFindings: FindingsListener;
  /** Workload entries are read too. */
  readonly entries: boolean;
  /** The API of exports and imports of services; undefined: they are not read. */
  readonly sharing?: SharingApi | undefined;
}

export class ClusterConnection {
  readonly client: ApiClient;
  /** The facts that were read. */
  readonly facts = new FactStore();
  /** Workload entries that were read. */
  readonly entries = new ConfigStore();
  /** Namespaces of the cluster whose objects are read. */
  readonly discovered = new DiscoveredNamespaces(this.facts, true);
  readonly #services: FactFeeds;
  readonly #credentials: FactFeeds;
  readonly #entries: KindFeeds | undefined;
  readonly #ended = Promise.withResolvers<false>();
  /** Ends of the work that stops with it. */
  readonly #stops = new Set<() => Promise<void>>();
  /** The work that it waits for at its end. */
  readonly #work = new Set<Promise<void>>();
  /** Resolves when the API does not allow to read credentials. */
  readonly #forbidden = Promise.withResolvers<void>();
  /** The same for workload entries. */
  readonly #noEntries = Promise.withResolvers<void>();

  /**
   * @param name The name of the access in messages.
   * @throws {Error} when the access is not one, naming each field at fault.
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
      new DiscoveredSource<ConfigObject>(this.entries.addSource(name, rank), this.discovered, () => true);
    this.#entries = !options.entries ? undefined : new KindFeeds({
      ...{ ...options, client: this.client, kernel, cluster, objects, kinds: ["WorkloadEntry"] },
      troubled: (error) => error.forbidden && this.#noEntries.resolve(),
    });
  }

  /** Begins. @returns whether all was read that may be, however long that takes; false: it was ended */
  async start(): Promise<boolean> {
    const credentials = Promise.race([this.#credentials.start(), this.#forbidden.promise]);
    const entries = this.#entries && Promise.race([this.#entries.start(), this.#noEntries.promise]);
    const all = Promise.all([this.#services.start(), credentials, entries]);
    return await Promise.race([all.then(() => true), this.#ended.promise]);
  }

  /** Why nothing is heard of the cluster at the moment; undefined: all is well. */
  get trouble(): string | undefined {
    return this.#services.trouble ?? this.#credentials.trouble;
  }

  /** All feeds; kinds that others are read with come first. */
  *feeds(): Generator<ApiFeed<Fact> | ApiFeed<ConfigObject>> {
    yield* this.#services.feeds();
    yield* this.#credentials.feeds();
    yield* this.#entries?.feeds() ?? [];
  }

  /** Has something ended with it, before its client closes. @returns has it not ended */
  onStop(stop: () => Promise<void>): () => void {
    this.#stops.add(stop);
    return () => void this.#stops.delete(stop);
  }

  /** Has the client stay open until something is over. */
  until(work: Promise<void>): void {
    const over = work.finally(() => this.#work.delete(over));
    this.#work.add(over);
  }

  /** Ends reading; the objects stay until nobody has this connection any more. */
  async stop(): Promise<void> {
    this.#ended.resolve(false);
    const ends = [...this.#stops].map((stop) => stop());
    const feeds = [this.#services.stop(), this.#credentials.stop(), this.#entries?.stop()];
    await Promise.all([...ends, ...this.#work, ...feeds]);
    this.client.close();
  }
}
