/**
 * How gateways reach services that ask gateways to use their waypoint, kept up to date change by change. Gateways between
 * networks use the waypoints of all services.
 *
 *     labels of services and namespaces, Gateways ──> WaypointIndex ─┐
 *     addresses of waypoints ────────────────────────────────────────┼─> way of a service
 *     policies that only waypoints enforce ──────────────────────────┘
 *
 * A change costs the services that ask for the changed waypoints.
 *
 * @module
 */
import type { Labels } from "../../registry/labels.ts";
import { type Service, type ServiceKey, serviceKey } from "../../registry/types.ts";
import type { WaypointAddress } from "./address.ts";
import { admitsNamespace, isForTraffic } from "./choice.ts";
import { asksGateways } from "./marks.ts";
import {
  closingTargets,
  type ClosingWaypoint,
  targetsOf,
  usersOf,
  WaypointPolicies,
  type WaypointPolicy,
} from "./policies.ts";

/** How gateways reach a service whose waypoint they shall use. */
export interface IngressWay {
  /** The asked waypoint, `namespace/name`. */
  readonly waypoint: string;
  /** Host of the waypoint's service; empty: no service has the waypoint's address. Undefined: the waypoint is not used. */
  readonly at?: string;
  /** Why the waypoint is not used, as a clause. Undefined: it is used. */
  readonly why?: string;
  /** Key of a policy that nobody enforces without the waypoint. */
  readonly policy?: string;
  /** Without the waypoint, gateways send nothing to the service. */
  readonly isClosed: boolean;
}

/** Where the ways look things up. */
export interface IngressSurroundings {
  /** The services that ask for a waypoint by a label of their own or of their namespace. */
  askers(waypoint: string): Iterable<Service>;
  namespaceLabels(namespace: string): Labels;
  /** The terms of a waypoint. Undefined: there is no such Gateway. */
  terms(waypoint: string): ClosingWaypoint | undefined;
  /** The host of the service with an address, in a namespace. */
  hostAt(namespace: string, ip: string): string | undefined;
}

/** The options of the ways. */
export interface IngressWayOptions {
  readonly rootNamespace: string;
  /** `MESH_WAYPOINT_FAIL_OPEN`: without the waypoint, connections go to the workloads, whatever policies are bound. */
  readonly opensWithoutWaypoint: boolean;
  /** Gateways use the waypoints of all services. Default: of services that ask gateways to use the waypoint. */
  readonly isForAll?: boolean;
}

/** The services whose waypoint gateways shall use, and the objects behind the services. */
interface Asking {
  readonly keys: ReadonlySet<ServiceKey>;
  readonly causes: ReadonlySet<string>;
}

/** The ways of all services whose waypoint gateways shall use. */
export class IngressWays {
  readonly #options: IngressWayOptions;
  readonly #around: IngressSurroundings;
  readonly #policies = new WaypointPolicies();
  #addresses: ReadonlyMap<string, WaypointAddress> = new Map();
  readonly #ways = new Map<ServiceKey, IngressWay>();
  /** By waypoint. */
  readonly #asking = new Map<string, Asking>();
  /** The waypoint of each object behind an asking service. */
  readonly #waypointOf = new Map<string, string>();
  /** Waypoints whose services may have other ways. */
  readonly #stale = new Set<string>();

  constructor(options: IngressWayOptions, around: IngressSurroundings) {
    this.#options = options;
    this.#around = around;
  }

  /** The way of a service. The same object until the way changes. Undefined: no waypoint is asked for. */
  of(key: ServiceKey): IngressWay | undefined {
    return this.#ways.get(key);
  }

  /** Takes the addresses of all waypoints, by `namespace/name`. Unchanged addresses are the same object. */
  setAddresses(all: ReadonlyMap<string, WaypointAddress>): void {
    const before = this.#addresses;
    this.#addresses = all;
    for (const waypoint of new Set([...before.keys(), ...all.keys()])) {
      if (before.get(waypoint) !== all.get(waypoint)) this.#stale.add(waypoint);
    }
  }

  /** A service with one of these addresses came, changed or went. */
  addressesMoved(addresses: Iterable<string>): void {
    const moved = new Set(addresses);
    for (const waypoint of this.#asking.keys()) {
      const at = this.#addresses.get(waypoint);
      if (at !== undefined && "ip" in at && moved.has(at.ip)) this.#stale.add(waypoint);
    }
  }

  /** Replaces policies by others. */
  updatePolicies(removed: readonly WaypointPolicy[], added: readonly WaypointPolicy[]): void {
    for (const { key } of removed) this.#retarget(key, []);
    for (const policy of added) this.#retarget(policy.key, targetsOf(policy, this.#options.rootNamespace));
  }

  #retarget(key: string, targets: readonly string[]): void {
    for (const target of this.#policies.put(key, targets)) {
      const [kind = "", namespace = "", name = ""] = target.split("/");
      if (kind === "GatewayClass") { for (const waypoint of this.#asking.keys()) this.#stale.add(waypoint); }
      else if (kind === "ApiGateway") this.#stale.add(`${namespace}/${name}`);
      else {
        const waypoint = this.#waypointOf.get(target);
        if (waypoint !== undefined) this.#stale.add(waypoint);
      }
    }
  }

  /**
   * Looks at changed waypoints again.
   *
   * @param changed Waypoints with another Gateway or class, or with other services.
   * @returns The services with another way.
   */
  settle(changed: Iterable<string>): readonly ServiceKey[] {
    const moved = new Set<ServiceKey>();
    for (const waypoint of new Set([...this.#stale, ...changed])) this.#look(waypoint, moved);
    this.#stale.clear();
    return [...moved];
  }

  #look(waypoint: string, moved: Set<ServiceKey>): void {
    const before = this.#asking.get(waypoint);
    const { isForAll } = this.#options;
    const asking = [...this.#around.askers(waypoint)].filter(({ labels, namespace }) =>
      isForAll || asksGateways(labels, this.#around.namespaceLabels(namespace))
    );
    const keys = new Set(asking.map(serviceKey));
    const causes = new Set(asking.flatMap(({ cause, otherCauses = [] }) => [cause, ...otherCauses]));
    for (const key of before?.keys ?? []) {
      // A service that asks for another waypoint now may have its new way already.
      if (!keys.has(key) && this.#ways.get(key)?.waypoint === waypoint) {
        this.#ways.delete(key);
        moved.add(key);
      }
    }
    for (const cause of before?.causes ?? []) {
      if (!causes.has(cause) && this.#waypointOf.get(cause) === waypoint) this.#waypointOf.delete(cause);
    }
    for (const cause of causes) this.#waypointOf.set(cause, waypoint);
    if (keys.size > 0) this.#asking.set(waypoint, { keys, causes });
    else this.#asking.delete(waypoint);
    for (const service of asking) {
      const [key, way] = [serviceKey(service), this.#wayOf(service, waypoint)];
      if (JSON.stringify(way) === JSON.stringify(this.#ways.get(key))) continue;
      this.#ways.set(key, way);
      moved.add(key);
    }
  }

  #wayOf(service: Service, waypoint: string): IngressWay {
    const terms = this.#around.terms(waypoint);
    const why = this.#whyNot(service.namespace, waypoint, terms);
    const targets = usersOf(service).flatMap((user) => closingTargets(user, waypoint, terms));
    const policy = targets.map((target) => this.#policies.first(target)).find((one) => one !== undefined);
    return {
      waypoint,
      ...why === undefined ? { at: this.#hostOf(waypoint) } : { why },
      ...policy === undefined ? {} : { policy },
      isClosed: policy !== undefined && !this.#options.opensWithoutWaypoint,
    };
  }

  #whyNot(namespace: string, waypoint: string, terms: ClosingWaypoint | undefined): string | undefined {
    const gateway = `Gateway ${waypoint}`;
    if (terms === undefined) return `${gateway} does not exist`;
    if (!this.#addresses.has(waypoint)) return `${gateway} has no address in its status`;
    if (!admitsNamespace(terms, namespace, this.#around.namespaceLabels(namespace))) {
      return `no listener for tunnels of ${gateway} admits the namespace ${namespace}`;
    }
    return isForTraffic(terms, "service") ? undefined : `${gateway} is not for the traffic of services`;
  }

  #hostOf(waypoint: string): string {
    const address = this.#addresses.get(waypoint);
    if (address === undefined) return "";
    if ("hostname" in address) return address.hostname;
    return this.#around.hostAt(waypoint.slice(0, waypoint.indexOf("/")), address.ip) ?? "";
  }
}
