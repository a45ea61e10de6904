/**
 * One ADS stream: requests in, the least that brings the client up to date out.
 *
 * Order (https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol, "Eventual consistency considerations"):
 * clusters and endpoints go before listeners, routes and virtual hosts. When clusters have changed, the rest of the
 * same push waits for the client's answer to them, at most {@linkcode GATE_TIMEOUT}. On incremental streams clusters
 * that are gone are removed only after listeners and routes have settled.
 *
 * @module
 */
import type { NameSet } from "../../resource/names.ts";
import type { ResourceSet } from "../../resource/set.ts";
import { measurePush } from "../metrics.ts";
import type { ProxyView } from "../source.ts";
import {
  CLUSTER,
  ENDPOINTS,
  isKnownType,
  LISTENER,
  MAX_UNKNOWN_TYPES,
  ROUTE,
  typeRules,
  VIRTUAL_HOST,
} from "../types.ts";
import {
  countLayers,
  findInLayers,
  layerBlocks,
  type Layers,
  layersDigest,
  NO_LAYERS,
  stack,
  type Step,
  stepTowards,
} from "./layers.ts";
import { HostLayers } from "./host_layers.ts";
import type { StreamContext } from "./stream_types.ts";
import type { AdsRequest } from "./request.ts";
import { assemble, type ResponseHead } from "./response.ts";
import { Watch } from "./watch.ts";

/** Longest time in milliseconds that listeners and routes wait for the answer to clusters. */
export const GATE_TIMEOUT = 1000;
/** Layer that keeps clusters that are gone until routes no longer use them. */
const LEAVING = "leaving";

/** A stream after its first request. Call {@linkcode AdsStream.reconcile} when sets may have changed. */
export class AdsStream {
  readonly watches = new Map<string, Watch>();
  #order: Watch[] = [];
  #unknownTypes = 0;
  readonly #rejecting = new Set<Watch>();
  #responses = 0;
  #gate: ReturnType<typeof setTimeout> | undefined;
  #gateOpen = false;
  #closed = false;
  /** The view's revision at which all watches were brought up to date. */
  #revision: number | undefined;
  readonly #layers = new Map<string, { sets: readonly ResourceSet[]; layers: Layers }>();
  readonly #hosts: HostLayers;
  /** Clusters that are gone are kept at the client for listeners and routes that may use them. */
  #keeping = false;
  /** Endpoints without which the client keeps clusters warming, until it has acknowledged them. */
  #warming: NameSet;

  /**
   * @param id prefix of nonces, unique among all streams
   * @param owed what an earlier stream of this client owed when it ended, see {@linkcode AdsStream.owed}
   */
  constructor(
    readonly id: string,
    readonly view: ProxyView,
    private readonly context: StreamContext,
    owed: NameSet = context.names.empty,
  ) {
    this.#warming = owed;
    this.#hosts = new HostLayers(view);
  }

  /**
   * Endpoints that the client waits for with a cluster warming. A client that comes back says that it knows their
   * versions (it does, from before the cluster changed), and would wait for its fetch timeout.
   */
  get owed(): NameSet {
    return this.#warming;
  }

  /** Applies a request and sends what it calls for. */
  request(request: AdsRequest): void {
    const known = this.watches.get(request.typeUrl);
    const watch = known ?? this.#newWatch(request.typeUrl);
    if (watch === undefined) return this.context.onIgnored(request.typeUrl);
    const isNew = known === undefined;
    this.#apply(watch, this.#withKeptText(request), isNew);
    if (request.typeUrl === ROUTE && request.names.size > 0 && this.context.delta) this.#renewHosts(request);
    this.#update(watch);
    // Virtual hosts are those of the routes that are wanted.
    if (request.typeUrl === ROUTE) this.#updateHosts();
    if (request.typeUrl === ENDPOINTS && isNew) watch.forget(this.#warming);
    this.reconcile();
  }

  /** Undefined: the client asks for too many types. */
  #newWatch(typeUrl: string): Watch | undefined {
    if (!isKnownType(typeUrl) && ++this.#unknownTypes > MAX_UNKNOWN_TYPES) return undefined;
    const watch = new Watch(typeUrl, typeRules(typeUrl), this.context.delta, this.context.names);
    this.watches.set(typeUrl, watch);
    const at = this.#order.findLastIndex((other) => other.rules.rank <= watch.rules.rank);
    this.#order.splice(at + 1, 0, watch);
    return watch;
  }

  #withKeptText(request: AdsRequest): AdsRequest {
    const { error } = request;
    if (error === undefined) return request;
    return { ...request, error: { code: error.code, message: this.context.texts.unique(error.message) } };
  }

  #apply(watch: Watch, request: AdsRequest, isNew: boolean): void {
    const { error } = request;
    const repeated = error !== undefined && watch.lastError === error.message;
    const answer = this.context.delta ? watch.applyDelta(request, isNew) : watch.applySotw(request);
    if (answer === "stale") this.context.metrics.count("pilot_xds_expired_nonce", 1, { type: watch.rules.short });
    if (answer !== "nack" || error === undefined) return;
    this.#rejecting.add(watch);
    this.context.onReject({
      typeUrl: request.typeUrl,
      code: error.code,
      message: error.message,
      repeated,
      resources: watch.blamed.map((resource) => resource.name),
      causes: [...new Set(watch.blamed.flatMap((resource) => resource.causes))],
    });
  }

  /** Looks at all sets again; true when something may have to be sent. Sends nothing. */
  refresh(): boolean {
    if (this.#revision !== this.view.revision) {
      this.#revision = this.view.revision;
      for (const watch of this.#order) this.#update(watch);
    }
    const dirty = this.#order.some((watch) => watch.dirty);
    if (!dirty) this.#settled();
    return dirty;
  }

  /** Sends what differs, in order. */
  reconcile(): void {
    if (this.#closed || !this.refresh()) return;
    for (const watch of this.#order) {
      if (watch.inFlight !== undefined || !watch.dirty || this.#gated(watch)) continue;
      this.#send(watch);
    }
    this.#sendLeaving();
    this.#settled();
  }

  /** Removes clusters that were kept for listeners and routes, once these have turned out to be settled. */
  #sendLeaving(): void {
    const clusters = this.watches.get(CLUSTER);
    if (!this.#keeping || clusters === undefined || clusters.inFlight !== undefined) return;
    if (this.#usersSettled()) this.#send(clusters);
  }

  /** The stream is over. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#gate);
  }

  #settled(): void {
    const endpoints = this.watches.get(ENDPOINTS);
    if (endpoints?.established && endpoints.clean && this.watches.get(CLUSTER)?.clean) {
      this.#warming = this.context.names.empty;
    }
    for (const watch of this.#rejecting) {
      if (watch.rejecting || !watch.clean) continue;
      this.#rejecting.delete(watch);
      this.context.onAccept(watch.typeUrl);
    }
    if (this.#order.every((watch) => watch.clean)) this.context.onSettled();
  }

  #updateHosts(): void {
    const hosts = this.watches.get(VIRTUAL_HOST);
    if (hosts !== undefined) this.#update(hosts);
  }

  #update(watch: Watch): void {
    if (watch.typeUrl === VIRTUAL_HOST) return watch.update(this.#virtualHosts());
    const sets = this.view.layers(watch.typeUrl);
    // A type that nobody serves is remembered and never answered, as clients of this field expect.
    if (sets === undefined) return watch.settle();
    const known = this.#layers.get(watch.typeUrl);
    if (known?.sets === sets) return watch.update(known.layers);
    const layers = stack(sets);
    this.#layers.set(watch.typeUrl, { sets, layers });
    watch.update(layers);
  }

  #virtualHosts(): Layers {
    const routes = this.watches.get(ROUTE)?.names;
    if (routes === undefined) return NO_LAYERS;
    // Hosts of a route configuration that the client no longer wants are gone with it; nothing needs to be said.
    this.watches.get(VIRTUAL_HOST)?.forgetLayers((key) => !routes.has(HostLayers.routeOf(key)));
    return this.#hosts.of(routes);
  }

  /** A route configuration that is subscribed again needs its virtual hosts again. */
  #renewHosts(request: AdsRequest): void {
    const watch = this.watches.get(VIRTUAL_HOST);
    if (watch === undefined) return;
    watch.forgetLayers((key) => request.names.has(HostLayers.routeOf(key)));
    if (watch.wildcard) watch.owes = true;
  }

  #gated(watch: Watch): boolean {
    if (watch.rules.rank < 2 || !watch.established || this.#gateOpen || watch.owes) return false;
    const clusters = this.watches.get(CLUSTER);
    if (clusters?.inFlight === undefined || clusters.inFlight.count === 0 || !clusters.established) return false;
    this.#gate ??= setTimeout(() => {
      this.#gateOpen = true;
      this.reconcile();
      this.#gateOpen = false;
      this.#gate = undefined;
    }, GATE_TIMEOUT);
    return true;
  }

  #send(watch: Watch): void {
    const { delta, maxResponseBytes } = this.context;
    const started = performance.now();
    const { want, owes } = watch;
    const whole = watch.rules.whole;
    // Clusters and listeners come whole: a client takes the first response of these types for all there is.
    const limit = whole ? Infinity : watch.rules.single ? 1 : maxResponseBytes;
    let step = stepTowards(watch.sent, want, delta ? "delta" : "sotw", limit);
    if (delta && watch.typeUrl === CLUSTER && step.removed.length > 0) step = this.#keepLeaving(watch, step);
    const missing = delta ? watch.missing() : [];
    const removed = missing.length === 0 ? step.removed : [...new Set([...step.removed, ...missing])];
    // Without whole responses the variant has no way to say that something is gone.
    const nothing = step.count === 0 && (removed.length === 0 || (!delta && !whole));
    if (nothing && !owes) {
      if (step.next === want) watch.settle();
      return;
    }
    const blocks = !delta && whole ? layerBlocks(want, "sotw") : step.blocks;
    const nonce = `${this.id}-${(++this.#responses).toString(36)}`;
    const head: ResponseHead = {
      delta,
      version: layersDigest(want),
      typeUrl: watch.typeUrl,
      nonce,
      removed,
      controlPlane: this.#responses === 1 ? this.context.controlPlane : "",
    };
    const { parts, plainBytes, compressed } = assemble(head, blocks, this.context.gzip);
    const count = !delta && whole ? countLayers(want) : step.count;
    watch.dispatched({ nonce, changed: step.changed, count, sentAt: started }, step.next);
    if (watch.typeUrl === CLUSTER) this.#warm(step);
    measurePush(this.context.metrics, watch.rules.short, started, plainBytes);
    this.context.onResponse({
      typeUrl: watch.typeUrl,
      resources: count,
      removed: removed.length,
      bytes: parts.reduce((sum, part) => sum + part.length, 0),
      asked: owes,
    });
    this.context.send(parts, compressed, () => {
      this.context.metrics.observe("pilot_xds_send_time", (performance.now() - started) / 1000);
    });
  }

  /** Keeps clusters that are gone at the client while listeners or routes that may use them are not settled. */
  #keepLeaving(watch: Watch, step: Step): Step {
    this.#keeping = !this.#usersSettled();
    if (!this.#keeping) return step;
    const leaving = step.removed.map((name) => findInLayers(watch.sent, name)).filter((found) => found !== undefined);
    const set = this.context.resources.from(leaving);
    return { ...step, removed: [], next: [...step.next, { key: LEAVING, set }] };
  }

  #usersSettled(): boolean {
    return [LISTENER, ROUTE, VIRTUAL_HOST].every((type) => this.watches.get(type)?.clean ?? true);
  }

  /** A client keeps a changed cluster warming until its endpoints come, even when they have not changed. */
  #warm(step: Step): void {
    const { names } = this.context;
    const endpoints = this.watches.get(ENDPOINTS);
    for (const diff of step.diffs) {
      if (diff.changed.length === 0) continue;
      const warms = diff.warms(names);
      this.#warming = names.union(this.#warming, warms);
      endpoints?.forget(warms);
    }
  }
}
