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

/** One that no sidecar acts on for a host: another with rules of the protocol goes first wherever it is seen. */
export interface ShadowedVirtualService {
  readonly host: string;
  readonly protocol: RuleProtocol;
  /** Key of the config object in force. */
  readonly accepted: string;
  /** Keys of the objects that are not. */
  readonly rejected: readonly string[];
}

/** All effective virtual services of the mesh. */
export class VirtualServiceIndex {
  /** Those for sidecars, by host (exact or wildcard), oldest first. */
  #byHost = new Map<string, EffectiveVirtualService[]>();
  /** Those for a gateway (`namespace/name`), oldest first; a new array whenever one of them changes. */
  #byGateway = new Map<string, readonly EffectiveVirtualService[]>();
  #all = new Set<EffectiveVirtualService>();

  /** How many there are. */
  get size(): number {
    return this.#all.size;
  }

  /** Every one, in no order. */
  all(): Iterable<EffectiveVirtualService> {
    return this.#all;
  }

  /** Replaces some by others (either list may be empty). */
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

  /** Those for sidecars that name exactly that host (or wildcard), oldest first, visible or not. */
  forHost(host: string): readonly EffectiveVirtualService[] {
    return this.#byHost.get(host) ?? nothing;
  }

  /** Hosts that some virtual service for sidecars names. */
  hosts(): Iterable<string> {
    return this.#byHost.keys();
  }

  /**
   * The one in force for a host on sidecars of a namespace: the most specific host; among equals a private one, then
   * one exported to the namespace by name, then the oldest.
   *
   * @param protocol Only those with rules of this kind for sidecars: the HTTP rules of a host may stand in another object
   *   than its TCP rules, and rules for gateways alone hide no rules of another object. Undefined: any.
   * @param accept Narrows further (to the imports of a Sidecar).
   * @param at How many go before the one that is asked for: those whose rules are for other workloads or ports.
   *   0: none.
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

  /** Those of one host that a namespace sees, in the order in which they go before one another. */
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

  /** Those that are never used. Costs a look at each host that several name. */
  *shadowed(): Iterable<ShadowedVirtualService> {
    for (const [host, list] of this.#byHost) {
      if (list.length < 2) continue;
      for (const protocol of PROTOCOLS) {
        const first = new Map<string, string>();
        for (const vs of list) {
          // One for chosen workloads or ports hides nothing elsewhere.
          if (!hasRulesForSidecars(vs, protocol)) continue;
          const audience = audienceOf(vs);
          const accepted = first.get(audience);
          if (accepted !== undefined) yield { host, protocol, accepted, rejected: vs.causes };
          else if (ruledSidecars(vs, protocol) === "all") first.set(audience, vs.causes[0] ?? "");
        }
      }
    }
  }

  /** Those bound to a gateway, oldest first, exported or not. Identity-stable while none of them changes. */
  forGateway(gateway: string): readonly EffectiveVirtualService[] {
    return this.#byGateway.get(gateway) ?? nothing;
  }
}

function* hostAndWildcards(host: string): Iterable<string> {
  yield host;
  yield* wildcardsOver(host);
}

/** The namespaces that see a virtual service otherwise than one that it does not name. */
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

/** The order in which clashes are decided: oldest first, then by namespace and name. */
export function oldestFirst(
  a: { readonly creationTimestamp: number; readonly namespace: string; readonly name: string },
  b: { readonly creationTimestamp: number; readonly namespace: string; readonly name: string },
): number {
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp - b.creationTimestamp;
  const x = `${a.namespace}/${a.name}`;
  const y = `${b.namespace}/${b.name}`;
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Every host that a virtual service sends traffic to: routes, mirrors, and its tcp and tls rules. */
export function destinationHosts(vs: EffectiveVirtualService): Set<string> {
  const hosts = new Set<string>();
  for (const http of vs.spec.http ?? []) {
    for (const route of http.route ?? []) hosts.add(route.destination.host);
    if (http.mirror) hosts.add(http.mirror.host);
    for (const mirror of http.mirrors ?? []) hosts.add(mirror.destination.host);
  }
  for (const rule of [...vs.spec.tls ?? [], ...vs.spec.tcp ?? []]) {
    for (const route of rule.route ?? []) hosts.add(route.destination.host);
  }
  return hosts;
}
