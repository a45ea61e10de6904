/**
 * Virtual services by host and by gateway.
 *
 * @module
 */
import { wildcardsOver } from "./host_match.ts";
import { hasRulesForSidecars, MESH_GATEWAY, ruledSidecars } from "./sidecar_rules.ts";
import type { EffectiveVirtualService, RuleProtocol } from "./types.ts";
import type { Distinction } from "./view/distinctions.ts";
import { isPublic, namespacesNamed, visibilityRank } from "./visibility.ts";

const nothing: readonly EffectiveVirtualService[] = [];

/**
 * The virtual services for a host that have no effect on sidecars: in every namespace, another virtual service with
 * rules of the protocol takes precedence.
 */
export interface ShadowedVirtualService {
  readonly host: string;
  readonly protocol: RuleProtocol;
  /** Key of the config object in force. */
  readonly accepted: string;
  /** Keys of the objects without effect. */
  readonly rejected: readonly string[];
}

/** All effective virtual services of the mesh. */
export class VirtualServiceIndex {
  /** Virtual services for sidecars, by host (exact or wildcard), oldest first. */
  #byHost = new Map<string, EffectiveVirtualService[]>();
  /** Virtual services by gateway (`namespace/name`), oldest first. A change makes a new array. */
  #byGateway = new Map<string, readonly EffectiveVirtualService[]>();
  #all = new Set<EffectiveVirtualService>();

  /** The number of virtual services. */
  get size(): number {
    return this.#all.size;
  }

  /** All virtual services, in no order. */
  all(): Iterable<EffectiveVirtualService> {
    return this.#all;
  }

  /** Replaces some virtual services by others. Either list may be empty. */
  update(removed: Iterable<EffectiveVirtualService>, added: Iterable<EffectiveVirtualService>): void {
    for (const vs of removed) {
      this.#all.delete(vs);
      this.#each(vs, (list) => list.filter((x) => x !== vs));
    }
    for (const vs of added) {
      this.#all.add(vs);
      this.#each(vs, (list) => [...list, vs].toSorted(oldestFirst));
    }
  }

  #each(
    vs: EffectiveVirtualService,
    change: (list: readonly EffectiveVirtualService[]) => EffectiveVirtualService[],
  ): void {
    const put = (index: Map<string, readonly EffectiveVirtualService[]>, key: string) => {
      const next = change(index.get(key) ?? nothing);
      if (next.length > 0) index.set(key, next);
      else index.delete(key);
    };
    for (const gateway of vs.gateways) {
      if (gateway !== MESH_GATEWAY) put(this.#byGateway, gateway);
      else for (const host of vs.hosts) put(this.#byHost as Map<string, readonly EffectiveVirtualService[]>, host);
    }
  }

  /** The virtual services for sidecars with exactly this host (or wildcard), oldest first, visible or not. */
  forHost(host: string): readonly EffectiveVirtualService[] {
    return this.#byHost.get(host) ?? nothing;
  }

  /** Hosts of virtual services for sidecars. */
  hosts(): Iterable<string> {
    return this.#byHost.keys();
  }

  /**
   * The virtual service in force for a host on sidecars of a namespace: the most specific host; among equals a private
   * virtual service, then a virtual service exported to the namespace by name, then the oldest.
   *
   * @param protocol Only virtual services with rules of this kind for sidecars: the HTTP rules of a host may stand in
   * another object than the TCP rules, and rules only for gateways hide no rules of another object. Undefined: any.
   * @param accept Narrows further (to the imports of a Sidecar).
   * @param at Number of skipped virtual services, with rules for other workloads or ports. 0: none.
   */
  visible(
    host: string,
    namespace: string,
    protocol: RuleProtocol | undefined,
    accept?: (vs: EffectiveVirtualService) => boolean,
    at = 0,
  ): EffectiveVirtualService | undefined {
    if (this.#byHost.size === 0) return undefined;
    const wanted = (vs: EffectiveVirtualService) =>
      (protocol === undefined || hasRulesForSidecars(vs, protocol)) && (accept === undefined || accept(vs));
    let before = at;
    for (const pattern of hostAndWildcards(host)) {
      const best = this.#best(pattern, namespace, wanted);
      if (best === undefined) continue;
      if (before === 0) return best;
      const all = this.#ranked(pattern, namespace, wanted);
      const found = all[before];
      if (found !== undefined) return found;
      before -= all.length;
    }
    return undefined;
  }

  /** The visible virtual services of a host, in order of precedence. */
  #ranked(host: string, namespace: string, wanted: (vs: EffectiveVirtualService) => boolean) {
    return (this.#byHost.get(host) ?? nothing)
      .map((vs) => ({ vs, rank: visibilityRank(vs, namespace) }))
      .filter(({ vs, rank }) => rank >= 0 && wanted(vs))
      .toSorted((a, b) => a.rank - b.rank)
      .map(({ vs }) => vs);
  }

  #best(host: string, namespace: string, wanted: (vs: EffectiveVirtualService) => boolean) {
    let best: EffectiveVirtualService | undefined;
    let bestRank = 3;
    for (const vs of this.#byHost.get(host) ?? nothing) {
      const rank = visibilityRank(vs, namespace);
      if (rank < 0 || rank >= bestRank || !wanted(vs)) continue;
      best = vs;
      bestRank = rank;
    }
    return best;
  }

  /** The unused virtual services. The cost is a look at each host with several virtual services. */
  *shadowed(): Iterable<ShadowedVirtualService> {
    for (const [host, list] of this.#byHost) {
      if (list.length < 2) continue;
      for (const protocol of PROTOCOLS) {
        const first = new Map<string, string>();
        for (const vs of list) {
          // A virtual service for chosen workloads, ports or services hides nothing elsewhere.
          if (!hasRulesForSidecars(vs, protocol)) continue;
          const audience = audienceOf(vs);
          const own = vs.serviceNamespace === undefined ? audience : `${audience} of ${vs.serviceNamespace}`;
          const accepted = first.get(audience) ?? first.get(own);
          if (accepted !== undefined) yield { host, protocol, accepted, rejected: vs.causes };
          else if (ruledSidecars(vs, protocol) === "all") first.set(own, vs.causes[0] ?? "");
        }
      }
    }
  }

  /**
   * The virtual services of a gateway, oldest first, exported or not. The same array until a virtual service changes.
   */
  forGateway(gateway: string): readonly EffectiveVirtualService[] {
    return this.#byGateway.get(gateway) ?? nothing;
  }
}

function* hostAndWildcards(host: string): Iterable<string> {
  yield host;
  yield* wildcardsOver(host);
}

/** The namespaces with another view of a virtual service than an unnamed namespace. */
export function virtualServiceDistinctions(vs: EffectiveVirtualService): Map<string, Distinction> {
  const found = new Map<string, Distinction>();
  if (isPublic(vs) || !vs.gateways.includes(MESH_GATEWAY)) return found;
  for (const namespace of namespacesNamed(vs)) {
    found.set(namespace, { kind: "virtualServices", hosts: vs.hosts, how: String(visibilityRank(vs, namespace)) });
  }
  return found;
}

const PROTOCOLS: readonly RuleProtocol[] = ["http", "tls", "tcp"];

/** Whether every namespace sees both, with the same rank, or neither. */
export function sharesAudience(a: EffectiveVirtualService, b: EffectiveVirtualService): boolean {
  return audienceOf(a) === audienceOf(b);
}

/** Equal for two objects if every namespace sees both, with the same rank, or neither. */
function audienceOf({ namespace, exportTo }: EffectiveVirtualService): string {
  return exportTo.length === 0 || exportTo.includes("*") ? "*" : `${namespace}:${[...exportTo].sort().join()}`;
}

/** The order of precedence in a clash: oldest first, then by namespace and name. */
export function oldestFirst(
  a: { readonly creationTimestamp: number; readonly namespace: string; readonly name: string },
  b: { readonly creationTimestamp: number; readonly namespace: string; readonly name: string },
): number {
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp - b.creationTimestamp;
  const x = `${a.namespace}/${a.name}`;
  const y = `${b.namespace}/${b.name}`;
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Every destination host of a virtual service: of routes, mirrors, and tcp and tls rules. */
export function destinationHosts(vs: EffectiveVirtualService): Set<string> {
  const hosts = new Set<string>();
  for (const http of vs.spec.http ?? []) {
    for (const { destination, internal } of http.route ?? []) {
      if (internal && "unresolved" in internal) continue;
      hosts.add(destination.host);
      if (internal) hosts.add(internal.picker.host);
    }
    if (http.mirror) hosts.add(http.mirror.host);
    for (const mirror of http.mirrors ?? []) hosts.add(mirror.destination.host);
  }
  for (const rule of [...vs.spec.tls ?? [], ...vs.spec.tcp ?? []]) {
    for (const { destination, internal } of rule.route ?? []) if (!internal) hosts.add(destination.host);
  }
  return hosts;
}
