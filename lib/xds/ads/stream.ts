/**
 * An ADS stream: takes requests, and sends the smallest responses that bring the client up to date.
 *
 * Order (https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol, "Eventual consistency considerations"):
 * clusters and endpoints go before listeners, routes and virtual hosts. After a change of clusters, the rest of the
 * same push waits for the client's answer to the clusters, at most {@linkcode GATE_TIMEOUT}. On incremental streams,
 * removed clusters are taken away only after listeners and routes have settled.
 *
 * Policies of node tunnels go before the workloads that list them: a tunnel passes over a listed policy that it does not
 * have.
 *
 * @module
 */
import type { NameSet } from "../../resource/name_set.ts";
import { measurePush } from "../protocol/metrics.ts";
import type { ProxyView } from "../protocol/source.ts";
import {
  ADDRESS,
  AUTHORIZATION,
  CLUSTER,
  ENDPOINTS,
  LISTENER,
  ROUTE,
  VIRTUAL_HOST,
  WORKLOAD,
} from "../protocol/types.ts";
import type { RecentTexts } from "./recent_texts.ts";
import { StreamRefusals } from "./refusals.ts";
import type { AdsRequest } from "./request.ts";
import { assemble, emptyResources, type ResponseHead } from "./response.ts";
import { findInStack, stackBlocks, stackSize } from "./set_stack.ts";
import { stepTowards, type StreamStep } from "./step.ts";
import type { StreamContext } from "./stream_types.ts";
import { ViewStacks } from "./view_stacks.ts";
import { hearsWants, Wants } from "./wants.ts";
import type { Watch } from "./watch.ts";
import { Watches } from "./watches.ts";

/** The beginning of the message dump that Envoy puts before the reason: hundreds of lines for one cluster. */
const DUMP = "goo.gle/debug";
/** The end of the dump. */
const REASON = "\n: ";

/** A client's words without the dump of the rejected message. The resource's name is reported beside the words. */
function readableWords(text: string): string {
  const from = text.indexOf(DUMP);
  const to = text.lastIndexOf(REASON);
  return from < 0 || to < from ? text : text.slice(0, from) + text.slice(to + REASON.length);
}

/** A request with readable words in the rejection. @param texts keeps equal words once */
function withReadableWords(request: AdsRequest, texts: RecentTexts): AdsRequest {
  const { error } = request;
  if (error === undefined) return request;
  return { ...request, error: { ...error, message: texts.unique(readableWords(error.message)) } };
}

/**
 * Longest time in milliseconds that listeners and routes wait for the answer to clusters, and that the first workloads
 * wait for the client's request for policies.
 */
const GATE_TIMEOUT = 1000;
/** Key of the set of removed clusters that the client keeps until routes no longer use the clusters. */
const LEAVING = "leaving";

/** A stream after the first request. Call {@linkcode AdsStream.reconcile} when sets may have changed. */
export class AdsStream {
  readonly watches = new Watches();
  /** The client's rejections. */
  readonly refusals: StreamRefusals;
  /** Undefined: the view does not ask for the client's subscriptions. */
  readonly #wants: Wants | undefined;
  /** Watches to update although the view's revision stays. */
  readonly #stale = new Set<Watch>();
  #responses = 0;
  #gate: ReturnType<typeof setTimeout> | undefined;
  #gateOpen = false;
  #closed = false;
  /** The view's revision at the last update of all watches. */
  #revision: number | undefined;
  readonly #stacks: ViewStacks;
  /** The client keeps removed clusters for listeners and routes that may use the clusters. */
  #keeping = false;
  /** Endpoints that the client has not acknowledged yet and without which the client keeps clusters warming. */
  #warming: NameSet;

  readonly #context: StreamContext;

  /**
   * @param id prefix of nonces, unique among all streams
   * @param owed the endpoints that an earlier stream of this client owed when it ended, see {@linkcode AdsStream.owed}
   */
  constructor(
    readonly id: string,
    readonly view: ProxyView,
    context: StreamContext,
    owed: NameSet = context.names.empty,
  ) {
    this.#context = context;
    this.#warming = owed;
    this.#stacks = new ViewStacks(view);
    this.refusals = new StreamRefusals(view, context.later, (watches) => this.#offer(watches));
    if (hearsWants(view)) this.#wants = new Wants(view, context.wantTimeout, () => this.#giveUp());
  }

  /**
   * Endpoints that the client waits for while a cluster is warming. A client that comes back names the versions of
   * these endpoints, from before the cluster changed, and would wait until the fetch timeout.
   */
  get owed(): NameSet {
    return this.#warming;
  }

  /** Applies a request and sends the responses. */
  request(request: AdsRequest): void {
    const known = this.watches.get(request.typeUrl);
    const { delta, names: table } = this.#context;
    const { typeUrl } = request;
    const isChosen = () => this.view.choosesItself?.(typeUrl) === true;
    const watch = known ?? this.watches.add(typeUrl, delta, table, this.view.byName, isChosen);
    if (watch === undefined) return this.#context.onIgnored(request.typeUrl);
    const isNew = known === undefined;
    const { names } = watch;
    this.#apply(watch, withReadableWords(request, this.#context.texts), isNew);
    const { initialVersions } = request;
    if (isNew && initialVersions !== undefined) this.view.had?.(typeUrl, () => initialVersions.names());
    const change = watch.takeChange();
    if (change !== undefined) {
      this.watches.checkSize();
      this.#wants?.report(watch, change);
    }
    // After a mere acknowledgement the client already has everything that was due before.
    if (isNew || change !== undefined || request.error !== undefined) this.#update(watch);
    if (request.typeUrl === ROUTE) this.#updateHosts(request, names);
    if (request.typeUrl === ENDPOINTS && isNew) watch.resources.forget(this.#warming);
    this.reconcile();
  }

  /**
   * The source has decided about wanted names; {@linkcode AdsStream.reconcile} is due.
   *
   * @param names undefined: all pending names of the type
   */
  answered(typeUrl: string, names: Iterable<string> | undefined): void {
    const watch = this.watches.get(typeUrl);
    if (watch === undefined || this.#closed) return;
    this.#wants?.answered(watch, names);
    if (typeUrl === VIRTUAL_HOST) this.#stacks.hostsAnswered();
    this.#stale.add(watch);
  }

  #giveUp(): void {
    this.#wants?.giveUp(this.watches.order);
    this.#context.onAnswered();
  }

  #apply(watch: Watch, request: AdsRequest, isNew: boolean): void {
    const { error } = request;
    const { resources } = watch;
    const repeated = error !== undefined && resources.lastError === error.message;
    const answer = this.#context.delta ? watch.applyDelta(request, isNew) : watch.applySotw(request);
    if (answer === "ack") this.view.accepted?.(watch.typeUrl, (name) => findInStack(resources.sent, name));
    if (answer === "stale") this.#context.metrics.count("pilot_xds_expired_nonce", 1, { type: watch.rules.short });
    if ((answer !== "nack" && answer !== "late nack") || error === undefined) return;
    this.#context.onReject(this.refusals.take(watch, error, { isLate: answer === "late nack", repeated }));
  }

  /** Offers rejected resources again. */
  #offer(watches: Iterable<Watch>): void {
    for (const watch of watches) this.#update(watch);
    this.reconcile();
  }

  /** Looks at all sets again; true when something may have to be sent. Sends nothing. */
  refresh(): boolean {
    if (this.#revision !== this.view.revision) {
      this.#revision = this.view.revision;
      for (const watch of this.watches.order) this.#update(watch);
      if (this.#stale.size > 0) this.#stale.clear();
    }
    for (const watch of this.#stale) {
      if (watch.resources.inFlight !== undefined) continue; // until the client has answered
      this.#update(watch);
      this.#stale.delete(watch);
    }
    const { dirty } = this.watches;
    if (!dirty) this.#settled();
    return dirty;
  }

  /** Sends the differences, in order. */
  reconcile(): void {
    if (this.#closed || !this.refresh()) return;
    for (const watch of this.watches.order) {
      if (watch.resources.inFlight !== undefined || !watch.dirty || watch.held || this.#gated(watch)) continue;
      this.#send(watch);
    }
    this.#sendLeaving();
    this.#settled();
  }

  /** Removes the kept clusters once listeners and routes have settled. */
  #sendLeaving(): void {
    const clusters = this.watches.get(CLUSTER);
    if (!this.#keeping || clusters === undefined || clusters.resources.inFlight !== undefined) return;
    if (this.#usersSettled()) this.#send(clusters);
  }

  /** The stream is over. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#gate);
    this.#wants?.close();
    this.refusals.close();
  }

  #settled(): void {
    const endpoints = this.watches.get(ENDPOINTS);
    if (endpoints?.resources.established && endpoints.clean && this.watches.get(CLUSTER)?.clean) {
      this.#warming = this.#context.names.empty;
    }
    for (const { typeUrl } of this.refusals.takeAccepted()) this.#context.onAccept(typeUrl);
    if (this.watches.clean) this.#context.onSettled();
  }

  #update(watch: Watch): void {
    const { typeUrl } = watch;
    const stack = typeUrl === VIRTUAL_HOST
      ? this.#stacks.virtualHosts(this.watches.get(ROUTE)?.names ?? this.#context.names.empty)
      : this.#stacks.stack(typeUrl);
    // A type that this server does not serve is remembered and never answered, as xDS clients expect.
    if (stack === undefined) return watch.settle();
    const known = watch.update(stack);
    if (known !== undefined) this.#wants?.reportKnown(watch, known);
  }

  /**
   * The client has changed its subscription of route configurations from `before`, or repeated a part of the
   * subscription.
   */
  #updateHosts({ names, unsubscribe }: AdsRequest, before: NameSet): void {
    const hosts = this.watches.get(VIRTUAL_HOST);
    const routes = this.watches.get(ROUTE)!.names;
    if (hosts === undefined) return;
    const { delta } = this.#context;
    // Virtual hosts of an unsubscribed route configuration are gone with the route configuration; the client needs no
    // removal. A route configuration that is subscribed again needs its virtual hosts again.
    hosts.resources.forgetGroups((route) => !routes.has(route));
    if (delta) hosts.sendGroupsAgain((route) => names.has(route));
    if (delta && names.size > 0 && hosts.wildcard) hosts.owes = true;
    if (delta) this.#stacks.routesChanged(routes, names, unsubscribe);
    else if (before !== routes) this.#stacks.routesChanged(routes, before, routes);
    this.#update(hosts);
  }

  #gated(watch: Watch): boolean {
    if (watch.typeUrl === ADDRESS || watch.typeUrl === WORKLOAD) return this.#waitsForPolicies(watch);
    if (watch.rules.rank < 2 || !watch.resources.established || this.#gateOpen || watch.owes) return false;
    const clusters = this.watches.get(CLUSTER)?.resources;
    if (clusters?.inFlight === undefined || clusters.inFlight.count === 0 || !clusters.established) return false;
    return this.#waitAtGate();
  }

  /**
   * Policies that wait for the client's answer to earlier policies hold the workloads back. The first workloads wait a
   * moment for a client that has not asked for policies yet: a client that comes back has workloads already.
   */
  #waitsForPolicies({ resources }: Watch): boolean {
    const policies = this.watches.get(AUTHORIZATION);
    if (policies !== undefined) return policies.dirty;
    return !resources.established && !this.#gateOpen && this.#waitAtGate();
  }

  #waitAtGate(): true {
    this.#gate ??= setTimeout(() => {
      this.#gateOpen = true;
      this.reconcile();
      this.#gateOpen = false;
      this.#gate = undefined;
    }, GATE_TIMEOUT);
    return true;
  }

  #send(watch: Watch): void {
    const { delta, maxResponseBytes } = this.#context;
    const started = performance.now();
    const { owes, resources: { sent, want, portion, hasUnknown }, rules: { whole, single, lasting } } = watch;
    // Clusters and listeners come whole: a client takes the first response of these types for the whole set. After a
    // rejection the client no longer waits.
    const limit = whole ? portion : single ? 1 : Math.min(maxResponseBytes, portion);
    let step = stepTowards(sent, want, { form: delta ? "delta" : "sotw", maxBytes: limit, table: this.#context.diffs });
    if (delta && watch.typeUrl === CLUSTER && step.removed.length > 0) step = this.#keepLeaving(watch, step);
    const gone = lasting ? [] : step.removed;
    // A kept cluster is not reported as absent: should it come back unchanged, nothing would be sent.
    const missing = watch.missing().filter((name) => findInStack(step.next, name) === undefined);
    const removed = missing.length === 0 || !delta ? gone : [...new Set([...gone, ...missing])];
    const empty = delta ? [] : missing;
    // Without whole responses the variant has no way to report a removal.
    const nothing = step.count === 0 && empty.length === 0 && (removed.length === 0 || (!delta && !whole));
    // A whole response takes away what the client has from an earlier stream, and no difference shows that.
    if (nothing && !owes && !(whole && hasUnknown)) {
      if (step.next === want) watch.settle();
      return;
    }
    const found = !delta && whole ? stackBlocks(want, "sotw") : step.blocks;
    const blocks = empty.length === 0 ? found : [...found, emptyResources(watch.typeUrl, empty)];
    const nonce = `${this.id}-${(++this.#responses).toString(36)}`;
    const head: ResponseHead = {
      delta,
      version: this.#context.digests.of(want),
      typeUrl: watch.typeUrl,
      nonce,
      removed,
      controlPlane: this.#responses === 1 ? this.#context.controlPlane : "",
    };
    const { parts, bytes, plainBytes, compressed } = assemble(head, blocks, this.#context.gzip);
    const count = (!delta && whole ? stackSize(want) : step.count) + empty.length;
    watch.dispatched({ nonce, changed: step.changed, count, sentAt: started }, step.next);
    if (watch.typeUrl === CLUSTER) this.#warm(step);
    measurePush(this.#context.metrics, watch.rules.short, started, plainBytes);
    const { typeUrl } = watch;
    this.#context.onResponse({ typeUrl, resources: count, removed: removed.length, bytes, asked: owes });
    this.#context.send(parts, compressed, () => {
      this.#context.metrics.observe("pilot_xds_send_time", (performance.now() - started) / 1000);
    });
  }

  /** Lets the client keep removed clusters while listeners or routes that may use the clusters are not settled. */
  #keepLeaving(watch: Watch, step: StreamStep): StreamStep {
    this.#keeping = !this.#usersSettled();
    if (!this.#keeping) return step;
    const { sent } = watch.resources;
    const leaving = step.removed.map((name) => findInStack(sent, name)).filter((found) => found !== undefined);
    const set = this.#context.resources.from(leaving);
    return { ...step, removed: [], next: [...step.next, { group: "", key: LEAVING, set }] };
  }

  #usersSettled(): boolean {
    return [LISTENER, ROUTE, VIRTUAL_HOST].every((type) => this.watches.get(type)?.clean ?? true);
  }

  /** A client keeps a changed cluster warming until the endpoints come, even unchanged endpoints. */
  #warm(step: StreamStep): void {
    const { names } = this.#context;
    const endpoints = this.watches.get(ENDPOINTS);
    const wereRejected = endpoints?.resources.rejecting === true;
    for (const diff of step.diffs) {
      if (diff.changed.length === 0) continue;
      const warms = diff.warms(names);
      this.#warming = names.union(this.#warming, warms);
      endpoints?.awaitAgain(warms);
    }
    // Some that the client has rejected may be offered again.
    if (wereRejected) this.#update(endpoints);
  }
}
