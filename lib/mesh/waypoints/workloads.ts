/**
 * The workloads behind each waypoint, kept up to date change by change.
 *
 *     workloads, labels of namespaces ──> asked waypoint ──┐
 *     Gateways, their classes (WaypointIndex) ─────────────┴─> workloads of a waypoint
 *
 * Of pods and WorkloadEntries, only those that ask for a waypoint are kept. A change costs the changed workload and its
 * waypoints. An entry may name any address, so a waypoint is told which addresses are those of pods of other namespaces.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import { canBeService, canonicalIp } from "../../registry/address.ts";
import { isHboneEndpoint, type Labels, NETWORK_LABEL } from "../../registry/labels.ts";
import { SmallMultimap } from "../../registry/small_multimap.ts";
import type { Workload } from "../../registry/types.ts";
import { admitsNamespace, askedWaypoint, isForTraffic, type WaypointTerms } from "./choice.ts";
import { isWaypointPart } from "./marks.ts";
import type { WaypointUser } from "./policies.ts";

/** A workload behind a waypoint, with the facts that the waypoint needs. */
export interface ServedWorkload {
  /** IP addresses, in one spelling. */
  readonly addresses: readonly string[];
  /** The workload takes connections by HBONE, by itself or through the tunnel of its node. */
  readonly takesHbone: boolean;
  /** `ns/NAMESPACE/sa/ACCOUNT`; empty: the account is not known. */
  readonly account: string;
  readonly namespace: string;
  /** The orchestrator gave the workload its addresses. Otherwise an object names them. */
  readonly isPod: boolean;
  readonly network: string;
  readonly clusterId: string;
  /** Addresses that pods of other namespaces have, too. Absent: none. */
  readonly ofOthers?: readonly PodAddress[];
}

/** An address of a pod. */
interface PodAddress {
  readonly address: string;
  /** Network of the pod. */
  readonly network: string;
}

/** Workloads that ask for a waypoint together: a pod, a WorkloadEntry, or the endpoints that a ServiceEntry lists. */
interface AskingWorkloads {
  readonly namespace: string;
  /** Labels that may ask for a waypoint. */
  readonly labels: Labels;
  readonly workloads: readonly ServedWorkload[];
}

/** Where the index looks things up. */
interface AskingSurroundings {
  namespaceLabels(namespace: string): Labels;
  /** The terms of a waypoint. Undefined: there is no such Gateway. */
  terms(waypoint: string): WaypointTerms | undefined;
}

/** All workloads of the registries. */
interface AllWorkloads {
  workloads?(): Iterable<readonly [id: string, workload: Workload]>;
  /** The workloads at an address in one spelling. */
  workloadsAt?(address: string): readonly Workload[];
}

const NO_WORKLOADS: readonly ServedWorkload[] = Object.freeze([]);

/** The workloads of all waypoints. */
export class WaypointWorkloads {
  readonly #around: AskingSurroundings;
  readonly #source: AllWorkloads;
  /** The asked waypoint and the workloads, by id. */
  readonly #asking = new Map<string, { readonly waypoint: string; readonly of: AskingWorkloads }>();
  /** The ServiceEntries, by key: their namespace may ask for a waypoint later. */
  readonly #entries = new Map<string, ConfigObject<"ServiceEntry">>();
  /** Ids by waypoint. */
  readonly #askers = new Map<string, Set<string>>();
  readonly #made = new Map<string, readonly ServedWorkload[]>();
  readonly #touched = new Set<string>();
  /** The waypoints whose workloads name an address and are no pods, by the address. */
  readonly #named = new SmallMultimap<string, string>();
  /** The same addresses by waypoint. */
  readonly #namedAt = new Map<string, ReadonlySet<string>>();
  /** Waypoints with addresses that pods of other namespaces have. */
  readonly #disputed = new Set<string>();

  /** @param source Asked for the workloads of a namespace that asks for a waypoint from now on. */
  constructor(around: AskingSurroundings, source: AllWorkloads = {}) {
    this.#around = around;
    this.#source = source;
  }

  /** The workloads of the waypoint `namespace/name`. The same array until a fact about them changes. */
  of(waypoint: string): readonly ServedWorkload[] {
    return this.#made.get(waypoint) ?? NO_WORKLOADS;
  }

  /** All workloads that ask for a waypoint, by waypoint. */
  *users(): Iterable<readonly [waypoint: string, users: Iterable<WaypointUser>]> {
    for (const { waypoint, of: { namespace, labels } } of this.#asking.values()) {
      yield [waypoint, [{ namespace, labels, sort: "workload" }]];
    }
  }

  /** Takes workloads that appeared or changed, and workloads that went (undefined), by id. */
  update(workloads: Iterable<readonly [id: string, workload: Workload | undefined]>): void {
    for (const [id, one] of workloads) {
      this.#set(id, one && askingWorkload(one));
      for (const address of one?.addresses ?? []) {
        for (const waypoint of this.#named.get(canonicalIp(address))) this.#touched.add(waypoint);
      }
      // Disputes are rare, and nobody keeps the former address of a pod.
      for (const waypoint of this.#disputed) this.#touched.add(waypoint);
    }
  }

  #set(id: string, of: AskingWorkloads | undefined): void {
    const before = this.#asking.get(id);
    const waypoint = of && askedWaypoint(of, this.#around.namespaceLabels(of.namespace));
    if (before !== undefined) {
      this.#touched.add(before.waypoint);
      const askers = this.#askers.get(before.waypoint);
      askers?.delete(id);
      if (askers?.size === 0) this.#askers.delete(before.waypoint);
    }
    if (of === undefined || waypoint === undefined) {
      this.#asking.delete(id);
      return;
    }
    this.#touched.add(waypoint);
    this.#asking.set(id, { waypoint, of });
    this.#askers.getOrInsertComputed(waypoint, () => new Set()).add(id);
  }

  /** Replaces ServiceEntries by others. */
  updateEntries(
    removed: readonly ConfigObject<"ServiceEntry">[],
    added: readonly ConfigObject<"ServiceEntry">[],
  ): void {
    for (const { key } of removed) {
      this.#entries.delete(key);
      this.#set(key, undefined);
    }
    for (const entry of added) {
      this.#entries.set(entry.key, entry);
      this.#set(entry.key, askingEndpoints(entry));
    }
  }

  /** Looks at the workloads of namespaces with other labels again. */
  relabelled(namespaces: ReadonlySet<string>): void {
    if (namespaces.size === 0) return;
    for (const [id, { of }] of [...this.#asking]) if (namespaces.has(of.namespace)) this.#set(id, of);
    for (const [id, one] of this.#source.workloads?.() ?? []) {
      if (namespaces.has(one.namespace)) this.#set(id, askingWorkload(one));
    }
    for (const [key, entry] of this.#entries) {
      if (namespaces.has(entry.meta.namespace)) this.#set(key, askingEndpoints(entry));
    }
  }

  /**
   * Brings the waypoints up to date.
   *
   * @param changed Waypoints with another Gateway or class.
   * @returns The waypoints with other workloads.
   */
  settle(changed: Iterable<string>): readonly string[] {
    const others: string[] = [];
    for (const waypoint of new Set([...this.#touched, ...changed])) {
      const now = this.#make(waypoint);
      if (JSON.stringify(now) === JSON.stringify(this.of(waypoint))) continue;
      if (now.length === 0) this.#made.delete(waypoint);
      else this.#made.set(waypoint, now);
      others.push(waypoint);
    }
    this.#touched.clear();
    return others;
  }

  #make(waypoint: string): readonly ServedWorkload[] {
    const served = this.#served(waypoint);
    this.#note(waypoint, new Set(served.flatMap((one) => one.isPod ? [] : one.addresses)));
    const now = served.map((one) => {
      const ofOthers = one.isPod ? [] : one.addresses.flatMap((address) => this.#podsAt(address, one.namespace));
      return ofOthers.length === 0 ? one : { ...one, ofOthers };
    });
    if (now.some(({ ofOthers }) => ofOthers !== undefined)) this.#disputed.add(waypoint);
    else this.#disputed.delete(waypoint);
    return now;
  }

  #served(waypoint: string): readonly ServedWorkload[] {
    const terms = this.#around.terms(waypoint);
    if (terms === undefined || !isForTraffic(terms, "workload")) return NO_WORKLOADS;
    // In one order, so that a workload that is set anew changes nothing.
    return [...this.#askers.get(waypoint) ?? []].sort().flatMap((id) => {
      const { namespace, workloads } = this.#asking.get(id)!.of;
      return admitsNamespace(terms, namespace, this.#around.namespaceLabels(namespace)) ? workloads : [];
    });
  }

  #note(waypoint: string, addresses: ReadonlySet<string>): void {
    const before = this.#namedAt.get(waypoint) ?? new Set();
    for (const address of before.difference(addresses)) this.#named.delete(address, waypoint);
    for (const address of addresses.difference(before)) this.#named.add(address, waypoint);
    if (addresses.size === 0) this.#namedAt.delete(waypoint);
    else this.#namedAt.set(waypoint, addresses);
  }

  /** The pods of other namespaces at an address. */
  #podsAt(address: string, namespace: string): PodAddress[] {
    const found = this.#source.workloadsAt?.(address) ?? [];
    return found.filter((one) => one.kind === "pod" && one.namespace !== namespace)
      .map(({ network }) => ({ address, network }));
  }
}

/** A workload of a registry. Undefined: the workload can have no waypoint, or no address is its own. */
function askingWorkload(workload: Workload): AskingWorkloads | undefined {
  const { namespace, labels, serviceAccount, network, clusterId, sharesNode, kind } = workload;
  const addresses = ownAddresses(workload.addresses);
  if (addresses.length === 0 || sharesNode || isWaypointPart(labels)) return undefined;
  const takesHbone = isHboneEndpoint(workload);
  const account = accountOf(namespace, serviceAccount);
  const place = { namespace, isPod: kind === "pod", network, clusterId };
  return { namespace, labels, workloads: [{ addresses, takesHbone, account, ...place }] };
}

/** The endpoints that a ServiceEntry lists. Undefined: none with an address of its own. */
function askingEndpoints(
  { meta: { namespace, labels }, spec: { endpoints = [], workloadSelector } }: ConfigObject<"ServiceEntry">,
): AskingWorkloads | undefined {
  if (workloadSelector !== undefined) return undefined;
  const workloads = endpoints.flatMap(({ address = "", labels: own = {}, serviceAccount = "", network }) => {
    const addresses = ownAddresses([address]);
    if (addresses.length === 0) return [];
    const place = { namespace, isPod: false, network: network || own[NETWORK_LABEL] || "", clusterId: "" };
    const account = accountOf(namespace, serviceAccount);
    return [{ addresses, takesHbone: isHboneEndpoint({ labels: own }), account, ...place }];
  });
  return workloads.length === 0 ? undefined : { namespace, labels, workloads };
}

/**
 * The addresses by which clients on other machines reach a workload. A waypoint must not dial the loopback addresses of
 * its own pod, where Envoy's administration listens.
 */
function ownAddresses(addresses: readonly string[]): readonly string[] {
  return [...new Set(addresses.filter(canBeService).map(canonicalIp))];
}

function accountOf(namespace: string, account: string): string {
  return account === "" ? "" : `ns/${namespace}/sa/${account}`;
}
