/**
 * The destinations of listeners and routes of proxies. A cluster has no effect unless some listener or route leads to
 * the cluster.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { Scope } from "../mesh/scope.ts";
import type { ResourceBucket, ResourceSet } from "../resource/set.ts";
import { parseOutboundClusterName } from "../translate/destination/names.ts";
import { TYPE } from "../translate/encode/encode.ts";
import type { ProxyState } from "../translate/machine/per_proxy/proxy_state.ts";
import { profileOf } from "../translate/reader/proxy_profile.ts";
import type { AskedRoutes } from "./asked_routes.ts";

/** The destinations of the listeners and the asked-for routes of some proxies. */
export interface ScopeDestinations {
  /** Hosts of clusters. */
  readonly hosts: ReadonlySet<string>;
  /** The destinations with their ports, as `host:port`. */
  readonly targets: ReadonlySet<string>;
  /** Keys of the objects behind these listeners and routes. */
  readonly causes: ReadonlySet<string>;
  /**
   * A cache of the imports in force: `listener.host`, and `all of listener.host` for an import with all ports in force.
   * Valid while the other fields stay the same.
   */
  readonly used: Set<string>;
}

/** The beginning of a cluster's name. */
const BEGIN = "outbound|";
/** The length of the shortest possible name. A smaller number before a name is the second byte of the name's length. */
const SHORTEST = BEGIN.length + 3;

interface BucketTargets {
  readonly names: ReadonlySet<string>;
  readonly causes: ReadonlySet<string>;
}

interface KnownTargets {
  readonly of: ReadonlySet<readonly ResourceSet[]>;
  readonly targets: ScopeDestinations;
}

/**
 * Finds the destinations. Each distinct bucket is read once, and the targets of a scope are kept while its resources
 * stay the same.
 */
export class DestinationFinder {
  readonly #asked: AskedRoutes;
  readonly #byBucket = new WeakMap<ResourceBucket, BucketTargets>();
  readonly #byScope = new WeakMap<Scope, KnownTargets>();

  constructor(asked: AskedRoutes) {
    this.#asked = asked;
  }

  /**
   * For a single look at the proxies: a function that gives the targets of a scope's proxies. Undefined: the scope has
   * no proxy, or at least one of its proxies is a gRPC library. A library asks for resources by name.
   */
  look(states: readonly ProxyState[]): (scope: Scope) => ScopeDestinations | undefined {
    let byScope: Map<Scope, ProxyState[]> | undefined;
    return (scope) => {
      byScope ??= grouped(states);
      const of = byScope.get(scope);
      const isKnown = of?.every(({ proxy: { properties } }) => profileOf(properties.type).outbound);
      return of && isKnown ? this.#of(scope, of) : undefined;
    };
  }

  #of(scope: Scope, states: readonly ProxyState[]): ScopeDestinations {
    const arrays = new Set(
      states.flatMap((state) =>
        [TYPE.cluster, TYPE.listener, TYPE.route].flatMap((type) => {
          const sets = state.resourceSets(type);
          return sets === undefined ? [] : [sets];
        })
      ),
    );
    const known = this.#byScope.get(scope);
    if (known !== undefined && arrays.symmetricDifference(known.of).size === 0) return known.targets;
    const targets = this.#read(states);
    this.#byScope.set(scope, { of: arrays, targets });
    return targets;
  }

  #read(states: readonly ProxyState[]): ScopeDestinations {
    const sets = new Set(states.flatMap((state) => [...this.#leading(state)]));
    const found = { hosts: new Set<string>(), targets: new Set<string>(), causes: new Set<string>() };
    for (const bucket of new Set([...sets].flatMap(({ buckets }) => buckets))) {
      const { names, causes } = this.#byBucket.getOrInsertComputed(bucket, readBucket);
      for (const cause of causes) found.causes.add(cause);
      for (const name of names) {
        const of = parseOutboundClusterName(name);
        if (of === undefined) continue;
        found.hosts.add(of.host);
        found.targets.add(`${of.host}:${of.port}`);
      }
    }
    return { ...found, used: new Set() };
  }

  *#leading(state: ProxyState): Iterable<ResourceSet> {
    const listeners = state.resourceSets(TYPE.listener) ?? [];
    yield* listeners;
    const routes = state.resourceSets(TYPE.route) ?? [];
    yield* routes;
    const names = new Set(listeners.flatMap((set) => [...this.#asked.of(set)]));
    for (const set of routes) {
      for (const { name } of set) if (names.has(name)) yield* state.virtualHosts(name);
    }
  }
}

function grouped(states: readonly ProxyState[]): Map<Scope, ProxyState[]> {
  const byScope = new Map<Scope, ProxyState[]>();
  for (const state of states) byScope.getOrInsertComputed(state.proxyClass.scope, () => []).push(state);
  return byScope;
}

/**
 * Finds the names in the bytes of resources. Decoding would be expensive: resources may be large, and every resource is
 * read.
 */
function readBucket({ resources }: ResourceBucket): BucketTargets {
  const names = new Set<string>();
  // A route configuration repeats the objects of its virtual hosts. The virtual hosts are read as resources of their own.
  const causes = new Set(resources.flatMap(({ typeUrl, causes }) => typeUrl === TYPE.route ? [] : causes));
  for (const { value } of resources) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
    for (let at = bytes.indexOf(BEGIN); at >= 0; at = bytes.indexOf(BEGIN, at + 1)) {
      const last = bytes[at - 1] ?? 0;
      const length = last >= SHORTEST ? last : ((bytes[at - 2] ?? 0) & 127) | last << 7;
      names.add(bytes.toString("utf8", at, at + length));
    }
  }
  return { names, causes };
}
