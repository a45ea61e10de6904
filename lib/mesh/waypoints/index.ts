/**
 * The services behind each waypoint, kept up to date change by change.
 *
 *     services, labels of namespaces ──> asked waypoint ──┐
 *     Gateways of the Gateway API, their classes ─────────┴─> services of a waypoint
 *
 * A change costs the services and the waypoints that it concerns.
 *
 * @module
 */
import { GATEWAY_API_GROUP } from "../../config/spelling/spelling.ts";
import type { ConfigObject } from "../../config/types.ts";
import { isEastWestPart, type Labels } from "../../registry/labels.ts";
import { type Service, type ServiceKey, serviceKey } from "../../registry/types.ts";
import type { PlacedTarget } from "../selection/index.ts";
import type { WaypointAddress } from "./address.ts";
import { admitsNamespace, askedWaypoint, isForTraffic, waypointTerms } from "./choice.ts";
import type { IngressSurroundings } from "./ingress.ts";
import { isWaypointPart } from "./marks.ts";
import { type ClosingWaypoint, usersOf, type WaypointUser } from "./policies.ts";

/** A waypoint: a Gateway with the services that go through its proxies. */
export interface ServedWaypoint {
  /** Those that come first have an address that several have: Services of the orchestrator, then the oldest. */
  readonly services: readonly Service[];
  readonly keys: ReadonlySet<ServiceKey>;
  /** Tunnels send connections to the addresses of workloads here, too. */
  readonly forWorkloads: boolean;
  /** The Gateway and its class, as targets of policies. */
  readonly targets: readonly PlacedTarget[];
}

/** A changed waypoint. */
export interface ChangedWaypoint {
  /** `namespace/name`. */
  readonly name: string;
  /** Policies may name other objects now: the Gateway, its class, or the services behind it. */
  readonly hasOtherTargets: boolean;
  /** Services that came or went. */
  readonly moved: readonly ServiceKey[];
}

const NO_LABELS: Labels = {};
/** A waypoint without a Gateway. */
export const NO_WAYPOINT: ServedWaypoint = { services: [], keys: new Set(), forWorkloads: false, targets: [] };

/** All waypoints. */
export class WaypointIndex implements IngressSurroundings {
  readonly #rootNamespace: string;
  #namespaces: ReadonlyMap<string, Labels> = new Map();
  readonly #services = new Map<string, Map<ServiceKey, Service>>();
  /** By the service's key. */
  readonly #asked = new Map<ServiceKey, string>();
  /** By waypoint. */
  readonly #askers = new Map<string, Map<ServiceKey, Service>>();
  readonly #gateways = new Map<string, ConfigObject<"ApiGateway">>();
  readonly #classes = new Map<string, ConfigObject<"GatewayClass">>();
  #addresses: ReadonlyMap<string, WaypointAddress> = new Map();
  readonly #made = new Map<string, ServedWaypoint>();
  /** By waypoint and class. */
  readonly #targets = new Map<string, readonly PlacedTarget[]>();
  /** Changed waypoints, with the former state. */
  readonly #changed = new Map<string, ServedWaypoint>();

  constructor(rootNamespace: string) {
    this.#rootNamespace = rootNamespace;
  }

  /** The waypoint `namespace/name`. The same object until one of its services, its Gateway or the class changes. */
  of(waypoint: string): ServedWaypoint {
    return this.#made.getOrInsertComputed(waypoint, () => this.#make(waypoint));
  }

  /** The waypoint of a service. Undefined: none. */
  waypointOf(key: ServiceKey): string | undefined {
    const asked = this.#asked.get(key);
    return asked !== undefined && this.of(asked).keys.has(key) ? asked : undefined;
  }

  askers(waypoint: string): Iterable<Service> {
    return this.#askers.get(waypoint)?.values() ?? [];
  }

  /** All services that ask for a waypoint, by waypoint. */
  *users(): Iterable<readonly [waypoint: string, users: Iterable<WaypointUser>]> {
    for (const [waypoint, services] of this.#askers) yield [waypoint, services.values().flatMap(usersOf)];
  }

  namespaceLabels(namespace: string): Labels {
    return this.#namespaces.get(namespace) ?? NO_LABELS;
  }

  terms(waypoint: string): ClosingWaypoint | undefined {
    const gateway = this.#gateways.get(waypoint);
    if (gateway === undefined) return undefined;
    const className = gateway.spec.gatewayClassName;
    return { ...waypointTerms(gateway, this.#classes.get(className)?.meta), className };
  }

  hostAt(namespace: string, ip: string): string | undefined {
    for (const service of this.#services.get(namespace)?.values() ?? []) {
      if (serviceAddresses(service).includes(ip)) return service.hostname;
    }
    return undefined;
  }

  /**
   * Host of the service in front of a waypoint's pods: the host name of its address, else the name that a deployed
   * waypoint has. Undefined: the waypoint has no address.
   *
   * @param domain DNS suffix of services.
   */
  hostOf(waypoint: string, domain: string): string | undefined {
    const address = this.#addresses.get(waypoint);
    if (address === undefined) return undefined;
    if ("hostname" in address) return address.hostname;
    const [namespace = "", name = ""] = waypoint.split("/");
    return `${name}.${namespace}.svc.${domain}`;
  }

  /** Takes the addresses of all waypoints, by `namespace/name`. Unchanged addresses are the same object. */
  setAddresses(all: ReadonlyMap<string, WaypointAddress>): void {
    const before = this.#addresses;
    this.#addresses = all;
    for (const waypoint of new Set([...before.keys(), ...all.keys()])) {
      if (before.get(waypoint) !== all.get(waypoint)) this.#touch(waypoint);
    }
  }

  /** Puts or removes a service. */
  set(key: ServiceKey, service: Service | undefined): void {
    const namespace = key.slice(0, key.indexOf("/"));
    const there = this.#services.getOrInsertComputed(namespace, () => new Map<ServiceKey, Service>());
    if (service === undefined) there.delete(key);
    else there.set(key, service);
    if (there.size === 0) this.#services.delete(namespace);
    this.#place(key, service);
  }

  /** Takes the labels of all namespaces. @returns The namespaces with other labels. */
  setNamespaces(all: ReadonlyMap<string, Labels>): ReadonlySet<string> {
    const before = this.#namespaces;
    this.#namespaces = all;
    for (const [namespace, services] of this.#services) {
      if (before.get(namespace) === all.get(namespace)) continue;
      for (const [key, service] of services) this.#place(key, service);
    }
    return new Set([...before.keys(), ...all.keys()].filter((name) => before.get(name) !== all.get(name)));
  }

  /** Replaces Gateways by others. */
  updateGateways(
    removed: readonly ConfigObject<"ApiGateway">[],
    added: readonly ConfigObject<"ApiGateway">[],
  ): void {
    for (const { meta, spec } of removed) {
      this.#gateways.delete(keyOf(meta));
      this.#targets.delete(`${keyOf(meta)} ${spec.gatewayClassName}`);
    }
    for (const gateway of added) this.#gateways.set(keyOf(gateway.meta), gateway);
    for (const { meta } of [...removed, ...added]) this.#touch(keyOf(meta));
  }

  /** Replaces classes by others. */
  updateClasses(
    removed: readonly ConfigObject<"GatewayClass">[],
    added: readonly ConfigObject<"GatewayClass">[],
  ): void {
    for (const { meta } of removed) this.#classes.delete(meta.name);
    for (const one of added) this.#classes.set(one.meta.name, one);
    const names = new Set([...removed, ...added].map(({ meta }) => meta.name));
    if (names.size === 0) return;
    for (const [key, { spec }] of this.#gateways) if (names.has(spec.gatewayClassName)) this.#touch(key);
  }

  /** The waypoints that changed since the last call. */
  takeChanged(): readonly ChangedWaypoint[] {
    const changed = [...this.#changed].map(([name, before]): ChangedWaypoint => {
      const now = this.of(name);
      const moved = [...before.keys.symmetricDifference(now.keys)];
      return { name, hasOtherTargets: targetsText(before) !== targetsText(now), moved };
    });
    this.#changed.clear();
    return changed;
  }

  #place(key: ServiceKey, service: Service | undefined): void {
    const before = this.#asked.get(key);
    const now = service === undefined || !mayHaveWaypoint(service)
      ? undefined
      : askedWaypoint(service, this.namespaceLabels(service.namespace));
    if (before !== undefined) {
      this.#askers.get(before)?.delete(key);
      this.#touch(before);
    }
    if (now === undefined || service === undefined) {
      this.#asked.delete(key);
      return;
    }
    this.#asked.set(key, now);
    this.#askers.getOrInsertComputed(now, () => new Map<ServiceKey, Service>()).set(key, service);
    this.#touch(now);
  }

  #touch(waypoint: string): void {
    if (!this.#changed.has(waypoint)) this.#changed.set(waypoint, this.#made.get(waypoint) ?? NO_WAYPOINT);
    this.#made.delete(waypoint);
    if (this.#askers.get(waypoint)?.size === 0) this.#askers.delete(waypoint);
  }

  #make(waypoint: string): ServedWaypoint {
    const gateway = this.#gateways.get(waypoint);
    const terms = this.terms(waypoint);
    if (gateway === undefined || terms === undefined) return NO_WAYPOINT;
    const { namespace, name } = gateway.meta;
    const isFor = isForTraffic(terms, "service");
    const services = [...this.#askers.get(waypoint)?.values() ?? []].sort(byRight)
      .filter(({ namespace: of }) => isFor && admitsNamespace(terms, of, this.namespaceLabels(of)));
    const group = GATEWAY_API_GROUP;
    // The same object while the names stay: policies are remembered by targets.
    const targets = this.#targets.getOrInsertComputed(`${waypoint} ${terms.className}`, () => [
      { namespace, group, kind: "Gateway", name },
      { namespace: this.#rootNamespace, group, kind: "GatewayClass", name: terms.className },
    ]);
    return {
      services,
      keys: new Set(services.map(serviceKey)),
      forWorkloads: isForTraffic(terms, "workload"),
      targets,
    };
  }
}

/** The API gives Services their addresses. A ServiceEntry may name an address before a Service gets it. */
function byRight(a: Service, b: Service): number {
  const [first, second] = [a, b].map(({ provider }) => provider === "Orch");
  if (first !== second) return first ? -1 : 1;
  return a.creationTimestamp - b.creationTimestamp || (serviceKey(a) < serviceKey(b) ? -1 : 1);
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

/** An alias leads to another service. Waypoints and gateways between networks have no waypoint of their own. */
function mayHaveWaypoint({ externalName, labels }: Service): boolean {
  return externalName === undefined && !isWaypointPart(labels) && !isEastWestPart(labels);
}

function targetsText({ services, targets }: ServedWaypoint): string {
  return JSON.stringify([targets, ...services.map(({ cause, otherCauses = [] }) => [cause, ...otherCauses])]);
}

/** Groups under which policies name a ServiceEntry. */
const ENTRY_GROUPS = ["networking.mesh.io", "networking.istio.io"] as const;

/** A service as a target of policies of its namespace: by each object that makes the service. */
export function serviceTargets({ cause, otherCauses = [] }: Service): PlacedTarget[] {
  return [cause, ...otherCauses].flatMap((key) => {
    const [kind = "", namespace = "", name = ""] = key.split("/");
    if (kind === "Service") return [{ namespace, group: "", kind, name }];
    return kind === "ServiceEntry" ? ENTRY_GROUPS.map((group) => ({ namespace, group, kind, name })) : [];
  });
}

/** The addresses of a service in all clusters. */
export function serviceAddresses({ addresses, clusterAddresses = {} }: Service): readonly string[] {
  return [...addresses, ...Object.values(clusterAddresses).flat()];
}
