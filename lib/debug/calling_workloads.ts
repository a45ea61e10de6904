/**
 * Workloads as sources of calls: their connected proxies, and what their sidecars have asked for.
 *
 * Only sidecars with on-demand discovery ask. What other sidecars call is not known.
 *
 * @module
 */
import type { EncodedResource } from "../resource/encoded.ts";
import { parseOutboundClusterName } from "../translate/destination/names.ts";
import { clustersNamedBy } from "../translate/encode/named_clusters.ts";
import type { ProxyState } from "../translate/machine/per_proxy/proxy_state.ts";
import { profileOf } from "../translate/reader/proxy_profile.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "../xds/protocol/types.ts";
import type { DebugView } from "./view.ts";

/** A workload with its proxies and calls. */
export interface CallingWorkloadView {
  readonly namespace: string;
  readonly workload: string;
  /** Proven service accounts of the calls; empty text: nothing is proven. */
  readonly accounts: readonly string[];
  /** The last call by the name of the virtual host or cluster, in milliseconds since the epoch. */
  readonly calls: ReadonlyMap<string, number>;
  /** Connected sidecars that ask. */
  readonly asking: readonly ProxyState[];
  /** Connected sidecars with the configuration of the whole mesh. */
  readonly whole: readonly ProxyState[];
}

/** A workload while its proxies and calls are gathered. */
interface GatheredWorkload extends CallingWorkloadView {
  readonly accounts: string[];
  readonly calls: Map<string, number>;
  readonly asking: ProxyState[];
  readonly whole: ProxyState[];
}

/** The workloads with connected sidecars or remembered calls, by namespace and name. */
export function callingWorkloads(
  { translator, calls }: Pick<DebugView, "translator" | "calls">,
): CallingWorkloadView[] {
  const found = new Map<string, GatheredWorkload>();
  const of = (namespace: string, workload: string) =>
    found.getOrInsertComputed(`${namespace}/${workload}`, () => ({
      ...{ namespace, workload, accounts: [], calls: new Map(), asking: [], whole: [] },
    }));
  for (const state of translator.proxies()) {
    const { namespace, workload, properties } = state.proxy;
    if (!profileOf(properties.type).sidecarsApply || profileOf(properties.type).library) continue;
    const { asking, whole } = of(namespace, workload);
    (properties.onDemand ? asking : whole).push(state);
  }
  for (const { workload: { namespace, account, name }, calls: last } of calls() ?? []) {
    const { accounts, calls } = of(namespace, name);
    accounts.push(account);
    for (const [called, at] of last) calls.set(called, at);
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** The host in the name of a cluster, load assignment or virtual host. Undefined: the resource belongs to no host. */
export function hostIn(name: string): string | undefined {
  const cluster = parseOutboundClusterName(name);
  if (cluster !== undefined) return cluster.host;
  const [from, to] = [name.indexOf("/") + 1, name.lastIndexOf(":")];
  const host = from > 0 && to > from ? name.slice(from, to) : undefined;
  return host === "unknown" ? undefined : host;
}

/** The hosts behind called names. */
export interface CalledHosts {
  /** Also hosts to which routes of the called virtual hosts lead. */
  readonly hosts: ReadonlySet<string>;
  /** The virtual services of the called virtual hosts, as `namespace/host`. */
  readonly rules: ReadonlySet<string>;
}

/** The hosts behind called names, for a proxy of the workload. */
export function calledHosts(names: Iterable<string>, state: ProxyState): CalledHosts {
  const hosts = new Set<string>();
  const rules = new Set<string>();
  const clusters = state.resourceSets(CLUSTER) ?? [];
  for (const name of names) {
    const host = hostIn(name);
    if (host !== undefined) hosts.add(host);
    const route = name.slice(0, Math.max(0, name.indexOf("/")));
    const resource = state.virtualHosts(route).map((set) => set.get(name)).find((found) => found !== undefined);
    for (const cause of resource?.causes ?? []) {
      const [kind, namespace] = cause.split("/");
      if (kind === "VirtualService" && host !== undefined) rules.add(`${namespace}/${host}`);
    }
    for (const cluster of resource ? clustersNamedBy(resource) : []) {
      const target = hostIn(cluster);
      if (target !== undefined && clusters.some((set) => set.has(cluster))) hosts.add(target);
    }
  }
  return { hosts, rules };
}

/** Bytes of configuration. */
export interface ConfigurationBytes {
  /** Of the whole mesh, as far as the proxy may see it. */
  readonly everything: number;
  /** Of the hosts that the workload has called, and of resources without a host, such as listeners. */
  readonly called: number;
}

/** The bytes of a configuration by host. */
interface SizedConfiguration {
  readonly everything: number;
  /** Bytes of listeners, and of other resources without a host. */
  readonly rest: number;
  readonly byHost: ReadonlyMap<string, number>;
}

/** The bytes of the configurations of proxies. Proxies of one class are measured once. */
export class ConfigurationSizes {
  readonly #known = new Map<ProxyState["proxyClass"], SizedConfiguration>();

  /** @param hosts The called hosts. */
  of(state: ProxyState, hosts: ReadonlySet<string>): ConfigurationBytes {
    const { everything, rest, byHost } = this.#known.getOrInsertComputed(state.proxyClass, () => sized(state));
    const called = Iterator.from(hosts).reduce((sum, host) => sum + (byHost.get(host) ?? 0), rest);
    return { everything, called };
  }
}

function sized(state: ProxyState): SizedConfiguration {
  const byHost = new Map<string, number>();
  let [everything, rest] = [0, 0];
  for (const { name, typeUrl, value: { length } } of resourcesOf(state)) {
    everything += length;
    const host = typeUrl === LISTENER ? undefined : hostIn(name);
    if (host === undefined) rest += length;
    else byHost.set(host, (byHost.get(host) ?? 0) + length);
  }
  return { everything, rest, byHost };
}

function* resourcesOf(state: ProxyState): Iterable<EncodedResource> {
  for (const type of [CLUSTER, ENDPOINTS, LISTENER, ROUTE]) {
    for (const set of state.resourceSets(type) ?? []) yield* set;
  }
  for (const { name } of (state.resourceSets(ROUTE) ?? []).flatMap((set) => [...set])) {
    for (const set of state.virtualHosts(name)) yield* set;
  }
}
