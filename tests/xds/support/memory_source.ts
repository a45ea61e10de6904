/**
 * A resource source in memory, for tests and benchmarks: sets by type shared by all proxies, sets of single proxies,
 * virtual hosts by route configuration.
 * @module
 */
import { type EncodedResource, encodeResource, type ResourceFacts } from "../../../lib/resource/encoded.ts";
import { type ResourceSet, ResourceTable } from "../../../lib/resource/set.ts";
import type {
  ConnectRequest,
  ProxyView,
  PushedObject,
  PushEvent,
  ResourceSource,
} from "../../../lib/xds/protocol/source.ts";

const text = new TextEncoder();

/** A resource whose message is the UTF-8 text; good enough where nobody decodes the message. */
export function textResource(typeUrl: string, name: string, value: string, facts?: ResourceFacts): EncodedResource {
  return encodeResource(typeUrl, name, text.encode(value), facts);
}

export class MemorySource implements ResourceSource {
  ready = true;
  /** Counts changes of sets. */
  revision = 0;
  readonly table = new ResourceTable();
  readonly shared = new Map<string, ResourceSet>();
  readonly hosts = new Map<string, ResourceSet>();
  readonly views: MemoryView[] = [];
  readonly closed: string[] = [];
  refuse: ((request: ConnectRequest) => void) | undefined;
  #listeners = new Set<(push: PushEvent) => void>();
  #pushes = 0;

  /** Makes a type served, if only without resources. */
  serve(...typeUrls: string[]): this {
    this.revision++;
    for (const typeUrl of typeUrls) if (!this.shared.has(typeUrl)) this.shared.set(typeUrl, this.table.empty);
    return this;
  }

  /** Changes the shared set; nothing is pushed yet. */
  change(typeUrl: string, upserts: Iterable<EncodedResource>, removed: Iterable<string> = []): this {
    this.revision++;
    this.shared.set(typeUrl, (this.shared.get(typeUrl) ?? this.table.empty).with(upserts, removed));
    return this;
  }

  /** Changes the virtual hosts of a route configuration. */
  changeHosts(routes: string, upserts: Iterable<EncodedResource>, removed: Iterable<string> = []): this {
    this.revision++;
    this.hosts.set(routes, (this.hosts.get(routes) ?? this.table.empty).with(upserts, removed));
    return this;
  }

  /** Announces changed sets to the server. */
  push(reasons: Record<string, number> = { config: 1 }, objects: PushedObject[] = []): number {
    const push = { id: ++this.#pushes, reasons, objects, full: true, startedAt: Date.now() };
    for (const listener of this.#listeners) listener(push);
    return push.id;
  }

  connect(request: ConnectRequest): MemoryView {
    this.refuse?.(request);
    const view = new MemoryView(this, request.node.id!);
    this.views.push(view);
    return view;
  }

  onPush(listener: (push: PushEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Sets by type, with a notice at each change. */
class OwnSets extends Map<string, ResourceSet> {
  constructor(private readonly changed: () => void) {
    super();
  }

  override set(typeUrl: string, set: ResourceSet): this {
    this.changed();
    return super.set(typeUrl, set);
  }

  override delete(typeUrl: string): boolean {
    this.changed();
    return super.delete(typeUrl);
  }
}

/** A single proxy's view: the shared set and the proxy's own set. */
export class MemoryView implements ProxyView {
  readonly own: Map<string, ResourceSet> = new OwnSets(() => this.source.revision++);
  /** How often the wire has asked for sets. */
  readonly reads = { count: 0 };
  readonly #resourceSets = new Map<string, readonly ResourceSet[]>();
  readonly #hosts = new Map<string, readonly ResourceSet[]>();

  constructor(private readonly source: MemorySource, readonly id: string) {}

  get revision(): number {
    return this.source.revision;
  }

  resourceSets(typeUrl: string): readonly ResourceSet[] | undefined {
    this.reads.count++;
    const shared = this.source.shared.get(typeUrl);
    const own = this.own.get(typeUrl);
    if (shared === undefined) return undefined;
    const last = this.#resourceSets.get(typeUrl);
    if (last !== undefined && last[0] === shared && last[1] === own) return last;
    const sets = own === undefined ? [shared] : [shared, own];
    this.#resourceSets.set(typeUrl, sets);
    return sets;
  }

  virtualHosts(routeConfiguration: string): readonly ResourceSet[] {
    this.reads.count++;
    const set = this.source.hosts.get(routeConfiguration);
    const last = this.#hosts.get(routeConfiguration) ?? [];
    if (last[0] === set) return last;
    const sets = set === undefined ? [] : [set];
    this.#hosts.set(routeConfiguration, sets);
    return sets;
  }

  close(): void {
    this.source.closed.push(this.id);
  }
}
