/**
 * The virtual hosts and clusters of a sidecar that asks for what its workload calls.
 *
 * The sidecar asks for the virtual host of a request's host (VHDS), and for a request's cluster if the cluster is missing
 * (CDS). It then holds the virtual hosts of the asked hosts. Of the clusters that belong to hosts, it holds those that
 * one of its resources names. A sidecar that has asked for many hosts gets the whole route configuration, as other
 * sidecars do, and asks no more.
 *
 * Before it asks, the sidecar gets what other proxies of its workload have asked for.
 *
 * @module
 */
import { sameItems } from "../../incremental/same_items.ts";
import { WeakTable } from "../../incremental/weak_table.ts";
import { type EncodedResource, encodeResource } from "../../resource/encoded.ts";
import type { NameSet } from "../../resource/name_set.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { ProxyState } from "../../translate/machine/per_proxy/proxy_state.ts";
import type { AskedHosts } from "../../translate/route/asked_hosts.ts";
import { EXTENSION_CONFIG, LISTENER, ROUTE, VIRTUAL_HOST, WILDCARD } from "../../xds/protocol/types.ts";
import type { CallRecord } from "../calls/call_memory.ts";
import { clustersNamedBy, clustersNamedIn, isHostCluster } from "../../translate/encode/named_clusters.ts";
import { FREE_UNKNOWN, type UnknownHolder, UnknownHosts } from "./unknown_hosts.ts";

/** Most hosts that a sidecar asks for in a route configuration before it gets the whole route configuration. */
export const MAX_ASKED = 512;

/**
 * Most names of hosts that are kept for a route configuration. An Envoy may have sent questions before it got the whole
 * route configuration, and each question needs an answer.
 */
const MAX_NAMES = 4 * MAX_ASKED;

/**
 * Most characters of the asked hosts before the sidecar gets the whole route configuration, and most that are kept. The
 * host of a request may be as long as the headers of a request.
 */
const MAX_ASKED_LENGTH = 256 * MAX_ASKED;
const MAX_LENGTH = 256 * MAX_NAMES;

/** Most virtual hosts that a sidecar gets without a question. */
const MAX_HANDED = 4 * MAX_ASKED;

/** Most kept names of asked clusters. Each question of an Envoy is for a cluster of a route that Envoy has. */
const MAX_CLUSTERS = 10_000;

/** Most characters of a cluster's name: a host has 253, a subset 63. */
const MAX_CLUSTER_LENGTH = 512;

/** Most characters of a route configuration's name with slashes: the path of a socket has 107 characters at most. */
const MAX_SOCKET_ROUTE = 128;

/** The part of a proxy's state that answers questions. */
export type AskedState = Pick<ProxyState, "askedHosts" | "hostClusters" | "resourceSets">;

type AnswerSets = readonly ResourceSet[];

/** A route configuration: the asked and the handed hosts, and the last answer. */
interface AskedRoute {
  readonly name: string;
  readonly names: Set<string>;
  /** Virtual hosts that the sidecar gets without a question, by the names of their resources. */
  readonly handed: Set<string>;
  /** Characters of all names. */
  length: number;
  /** Virtual hosts of hosts outside of the mesh in the last answer. */
  unknown: number;
  /** There were too many of them among all sidecars. */
  isCrowded: boolean;
  /** The virtual hosts and the numbers of names of the last answer. */
  of: AskedHosts | undefined;
  size: number;
  sets: AnswerSets;
  /** The virtual hosts of the asked hosts, and the handed virtual hosts. */
  chosen: readonly EncodedResource[];
  /** The resources for each name, from the virtual hosts of the last answer. */
  readonly found: Map<string, readonly EncodedResource[]>;
}

/** An answer about clusters, and its inputs. */
interface ClusterAnswer {
  readonly inputs: AnswerSets;
  readonly chosen: ResourceSet;
  readonly sets: AnswerSets;
}

const NONE: AnswerSets = [];

/** Types of resources that may name clusters, beside clusters and virtual hosts. */
const NAMING = [LISTENER, ROUTE, EXTENSION_CONFIG];

/** Beside the state of a sidecar that asks. */
export interface OnDemandParts {
  /** The workload's memory. Default: nothing is remembered. */
  readonly record?: CallRecord | undefined;
  /** The bound that all sidecars share. Default: a bound of this sidecar's own. */
  readonly unknown?: UnknownHosts | undefined;
  /** The proven namespace of the sidecar. Default: nothing is proven. */
  readonly namespace?: string | undefined;
  /** Called when a route configuration becomes whole because of other sidecars. */
  readonly gaveUp?: (() => void) | undefined;
}

/** The answers to one sidecar. */
export class OnDemandResources implements UnknownHolder {
  readonly #state: AskedState;
  readonly #routes = new Map<string, AskedRoute>();
  readonly #clusters = new Set<string>();
  /** Clusters from an earlier stream. Clusters of virtual hosts, until the sidecar has named its hosts again. */
  #had = new Set<string>();
  #answer: ClusterAnswer | undefined;
  #clustersAreCurrent = false;
  /** The workload's memory. Undefined: nothing is remembered. */
  readonly #record: CallRecord | undefined;
  readonly #unknown: UnknownHosts;
  /** Names from the workload's memory. Undefined: not looked up yet. */
  #handed: readonly string[] | undefined;
  #isBack = false;

  readonly namespace: string;
  readonly #gaveUp: () => void;

  constructor(state: AskedState, { record, unknown, namespace = "", gaveUp = () => {} }: OnDemandParts = {}) {
    this.#state = state;
    this.#record = record;
    this.#unknown = unknown ?? new UnknownHosts();
    this.namespace = namespace;
    this.#gaveUp = gaveUp;
  }

  /** The sidecar is gone. */
  close(): void {
    for (const route of this.#routes.values()) {
      this.#unknown.change(this, route.unknown, 0);
      route.unknown = 0;
    }
  }

  /** The route configuration with the most virtual hosts of unknown hosts. */
  #mostUnknown(): AskedRoute | undefined {
    let found: AskedRoute | undefined;
    for (const route of this.#routes.values()) if (route.unknown > (found?.unknown ?? FREE_UNKNOWN)) found = route;
    return found;
  }

  get unknown(): number {
    return this.#mostUnknown()?.unknown ?? 0;
  }

  giveUp(): number {
    const route = this.#mostUnknown();
    if (route === undefined) return 0;
    const { unknown } = route;
    Object.assign(route, { isCrowded: true, of: undefined, unknown: 0 });
    this.#answer = undefined;
    this.#gaveUp();
    return unknown;
  }

  /** Whether no virtual host changed since the last answer about clusters. */
  get clustersAreCurrent(): boolean {
    return this.#clustersAreCurrent;
  }

  /** The sidecar gets what its workload has called. Later, it is known whether the sidecar comes back. */
  #hand(): void {
    if (this.#handed !== undefined) return;
    this.#handed = this.#record?.handed(this.#isBack) ?? [];
    for (const name of this.#handed) {
      if (isHostCluster(name)) this.#clusters.add(name);
      else this.#handHost(name);
    }
  }

  #handHost(resource: string): void {
    const route = this.#routeOf(resource);
    if (route !== undefined && route.handed.size < MAX_HANDED) route.handed.add(resource);
  }

  /** The asked hosts by route configuration. */
  get hosts(): ReadonlyMap<string, ReadonlySet<string>> {
    const asked = [...this.#routes].filter(([, { names }]) => names.size > 0);
    return new Map(asked.map(([route, { names }]) => [route, names]));
  }

  /** What the sidecar got from the workload's memory. */
  get handed(): readonly string[] {
    return this.#handed ?? [];
  }

  /** The route configurations that the sidecar has whole, with the reason. */
  get whole(): ReadonlyMap<string, string> {
    return new Map(
      [...this.#routes].flatMap(([route, asked]) => {
        const hosts = this.#state.askedHosts(route);
        const why = hosts && whyWhole(hosts, asked);
        return why === undefined ? [] : [[route, why]];
      }),
    );
  }

  /** Takes names of clusters that the sidecar asks for. */
  wantClusters(names: NameSet): void {
    const asked: string[] = [];
    for (const name of names) {
      const isPossible = name !== WILDCARD && name.length <= MAX_CLUSTER_LENGTH;
      if (!isPossible || this.#clusters.size >= MAX_CLUSTERS) continue;
      this.#clusters.add(name);
      if (this.#state.hostClusters?.has(name)) asked.push(name);
    }
    this.#record?.called(asked);
    this.#answer = undefined;
  }

  /** Takes names `ROUTE CONFIGURATION/HOST` that the sidecar asks for. */
  wantHosts(names: NameSet): void {
    for (const name of names) if (name !== WILDCARD) this.#wantHost(name);
    this.#forgetHad();
    this.#answer = undefined;
  }

  /**
   * The sidecar has named its hosts: of the clusters from an earlier stream, the clusters that virtual hosts name stay or
   * go with the virtual hosts. Others may have open connections of TCP proxies.
   */
  #forgetHad(): void {
    if (this.#had.size === 0) return;
    const sets = [...this.#routes.keys()].flatMap((route) => this.#state.askedHosts(route)?.set ?? []);
    const ofHosts = sets.map(clustersNamedIn);
    this.#had = new Set([...this.#had].filter((name) => !ofHosts.some((named) => named.has(name))));
  }

  /** Keeps the host of a name `ROUTE CONFIGURATION/HOST`. */
  #wantHost(name: string): void {
    const asked = this.#routeOf(name);
    if (asked === undefined) return;
    const host = name.slice(asked.name.length + 1);
    const length = asked.length + host.length;
    if (asked.names.size >= MAX_NAMES || length > MAX_LENGTH || asked.names.has(host)) return;
    asked.names.add(host);
    asked.length = length;
  }

  /** The route configuration of a virtual host's name. Undefined: the sidecar asks for none of that name. */
  #routeOf(name: string): AskedRoute | undefined {
    for (const route of possibleRoutes(name)) {
      if (this.#state.askedHosts(route) !== undefined) return this.#route(route);
    }
    return undefined;
  }

  /** Takes the names of clusters that the sidecar has from an earlier stream: they stay while routes may use them. */
  had(clusters: Iterable<string>): void {
    this.#isBack = true;
    for (const name of clusters) this.#had.add(name);
    this.#answer = undefined;
  }

  /** Takes the names of virtual hosts that the sidecar has from an earlier stream: it may have got them unasked. */
  hadHosts(names: Iterable<string>): void {
    this.#isBack = true;
    for (const name of names) this.#handHost(name);
    this.#answer = undefined;
  }

  /** The virtual hosts of a route configuration. */
  virtualHosts(routeConfiguration: string): AnswerSets {
    const hosts = this.#state.askedHosts(routeConfiguration);
    if (hosts === undefined) return NONE;
    this.#hand();
    const route = this.#route(routeConfiguration);
    const size = route.names.size + route.handed.size;
    if (route.of === hosts && route.size === size) return route.sets;
    if (route.of !== hosts) route.found.clear();
    const { chosen, set, called } = this.#chosen(hosts, route);
    this.#record?.called(called);
    route.chosen = chosen;
    route.of = hosts;
    route.size = size;
    if (route.sets[0]?.digest !== set.digest) {
      route.sets = [set];
      this.#clustersAreCurrent = false;
    }
    return route.sets;
  }

  #chosen(hosts: AskedHosts, route: AskedRoute): ChosenHosts {
    let chosen = chosenHosts(route.name, hosts, route);
    if (!this.#unknown.change(this, route.unknown, chosen.unknown)) {
      route.isCrowded = true;
      chosen = chosenHosts(route.name, hosts, route);
      this.#unknown.change(this, route.unknown, chosen.unknown);
    }
    route.unknown = chosen.unknown;
    return chosen;
  }

  #route(name: string): AskedRoute {
    return this.#routes.getOrInsertComputed(name, () => ({
      ...{ name, names: new Set(), handed: new Set(), length: 0, of: undefined, size: 0, sets: NONE, chosen: [] },
      ...{ found: new Map(), unknown: 0, isCrowded: false },
    }));
  }

  /** The clusters of the sidecar. @param all The same with the clusters of all hosts. */
  clusters(all: AnswerSets): AnswerSets {
    const hosts = this.#state.hostClusters;
    if (hosts === undefined) return all;
    this.#hand();
    const naming = [
      ...all.filter((set) => set !== hosts),
      ...NAMING.flatMap((type) => this.#state.resourceSets(type) ?? NONE),
    ];
    const held = [...this.#routes.keys()].flatMap((route) => this.virtualHosts(route));
    this.#clustersAreCurrent = true;
    const inputs = [hosts, ...naming, ...held];
    const before = this.#answer;
    if (before !== undefined && sameItems(before.inputs, inputs)) return before.sets;
    const names = new Set([...this.#clusters, ...this.#had]);
    for (const set of naming) for (const name of clustersNamedIn(set)) names.add(name);
    for (const name of this.#namedByHosts()) names.add(name);
    const set = hosts.table.from(withClustersBehind(hosts, names));
    const chosen = before?.chosen.digest === set.digest ? before.chosen : set;
    const sets = all.map((one) => one === hosts ? chosen : one);
    this.#answer = { inputs, chosen, sets: before && sameItems(before.sets, sets) ? before.sets : sets };
    return this.#answer.sets;
  }

  /**
   * The clusters that virtual hosts name. The sidecar may hold virtual hosts without having asked for them, and asks for
   * the cluster of a request. With the asked cluster it needs the other clusters of the virtual host, such as mirrors.
   */
  *#namedByHosts(): Iterable<string> {
    for (const { chosen, sets } of this.#routes.values()) {
      for (const resource of chosen) yield* clustersNamedBy(resource);
      if (this.#clusters.size === 0) continue;
      for (const resource of sets.flatMap((set) => [...set])) {
        const named = clustersNamedBy(resource);
        if (named.some((name) => this.#clusters.has(name))) yield* named;
      }
    }
  }
}

/**
 * The route configurations to which a virtual host's name may belong: `80/a.example` is of `80`, `unix:///path/a.example`
 * is of `unix:///path`. A Host header may hold slashes, too: only the path of a socket makes a second slash possible, so
 * that a name of thousands of slashes costs one look.
 */
function* possibleRoutes(name: string): Iterable<string> {
  const most = name.startsWith("unix:") ? MAX_SOCKET_ROUTE : Infinity;
  for (let at = name.indexOf("/"); at >= 0 && at <= most; at = name.indexOf("/", at + 1)) {
    yield name.slice(0, at);
    if (most === Infinity) return;
  }
}

/**
 * The named clusters, and the clusters that they name in turn: patches make clusters of other clusters.
 *
 * @param names Grows by the names of the further clusters.
 */
function withClustersBehind(hosts: ResourceSet, names: Set<string>): EncodedResource[] {
  const found: EncodedResource[] = [];
  for (const name of names) {
    const cluster = hosts.get(name);
    if (cluster === undefined) continue;
    found.push(cluster);
    for (const behind of clustersNamedBy(cluster)) names.add(behind);
  }
  return found;
}

/** Why a sidecar gets a route configuration whole. Undefined: the sidecar gets what it asks for. */
function whyWhole(
  hosts: AskedHosts,
  { names, length, isCrowded }: Pick<AskedRoute, "names" | "length" | "isCrowded">,
): string | undefined {
  if (!hosts.canAsk) return "a virtual host takes the requests to all hosts";
  if (isCrowded) return "the sidecars of this server have called too many hosts outside of the mesh";
  if (names.size > MAX_ASKED) return `the workload has called more than ${MAX_ASKED} hosts`;
  return length > MAX_ASKED_LENGTH
    ? `the names of the hosts that the workload has called have more than ${MAX_ASKED_LENGTH} characters`
    : undefined;
}

/** The virtual hosts for a sidecar. */
interface ChosenHosts extends Pick<AskedRoute, "chosen"> {
  readonly set: ResourceSet;
  /** The virtual hosts of the mesh that the sidecar has asked for. */
  readonly called: readonly string[];
  /** The number of virtual hosts of hosts outside of the mesh. */
  readonly unknown: number;
}

/**
 * The virtual hosts of the asked hosts, each with the asked names as aliases, so that Envoy knows the answer, and the
 * handed virtual hosts.
 */
function chosenHosts(route: string, hosts: AskedHosts, asked: AskedRoute): ChosenHosts {
  const { names, handed, found } = asked;
  const isWhole = whyWhole(hosts, asked) !== undefined;
  const aliases = new Map<string, string[]>();
  const byName = new Map<string, EncodedResource>();
  const answers = new Set<readonly EncodedResource[]>();
  for (const name of names) {
    const answer = isWhole ? hosts.of(name, true) : found.getOrInsertComputed(name, () => hosts.of(name));
    const [owner] = answer;
    if (owner === undefined) continue;
    // Hosts of one wildcard have one answer, which may be long.
    if (!answers.has(answer)) { for (const resource of answer) byName.set(resource.name, resource); }
    answers.add(answer);
    aliases.getOrInsertComputed(owner.name, () => []).push(`${route}/${name}`);
  }
  for (const name of handed) for (const resource of hosts.named(name)) byName.set(resource.name, resource);
  const called = [...aliases.keys()].filter((name) => hosts.set.has(name));
  const unknown = isWhole ? 0 : aliases.size - called.length;
  if (isWhole) found.clear();
  const chosen = [...byName.values()].map((resource) => aliased(resource, aliases.get(resource.name) ?? []));
  return {
    chosen,
    called,
    unknown,
    set: isWhole ? hosts.whole.with(chosen) : hosts.set.table.from([hosts.placeholder, ...chosen]),
  };
}

const variants = new WeakMap<EncodedResource, WeakTable<string, EncodedResource>>();

/** A virtual host under further names. Sidecars with the same questions share the resource. */
function aliased(resource: EncodedResource, aliases: readonly string[]): EncodedResource {
  if (aliases.length === 0) return resource;
  const sorted = aliases.toSorted();
  const known = variants.getOrInsertComputed(resource, () => new WeakTable());
  const key = sorted.join("\n");
  const found = known.get(key);
  if (found !== undefined) return found;
  const { name, value, causes, parts } = resource;
  return known.shared(key, encodeResource(VIRTUAL_HOST, name, value, { causes, parts, aliases: sorted }));
}
