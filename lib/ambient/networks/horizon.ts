/**
 * What a tunnel sees of several clusters and networks: the resources of all clusters, as seen from the network of the
 * server's own cluster.
 *
 *     workloads of the own network ─────────────────────────────> sent one by one
 *     workloads of remote clusters in other networks ──counted──> one workload for each global service and network
 *     services ──merged by name─────────────────────────────────> one service
 *     gateways ─────────────────────────────────────────────────> one workload each
 *
 * A workload that an object of the own cluster puts into another network is sent by itself, with the gateway of that
 * network. Without a gateway a tunnel refuses connections to it.
 *
 * @module
 */
import type { istio } from "../../../proto/gen/types.ts";
import { SmallMultimap } from "../../registry/small_multimap.ts";
import type { AddressResource } from "../addresses.ts";
import type { AddressChanges } from "../index.ts";
import { gatewayAddress, gatewayWorkload, type TunnelGateway } from "./gateways.ts";
import { mergedService, type MeshService, splitWorkload, withIdentities } from "./merged_service.ts";

/** Units made in a single step. */
const UNITS_A_STEP = 100;
const UNHEALTHY = 1;

/** A workload that is not sent as its cluster made it. */
interface ForeignWorkload {
  readonly cluster: string;
  readonly network: string;
  readonly services: readonly string[];
  /** The weight; 0: the workload takes no connections now. */
  readonly capacity: number;
  readonly identity: string;
  /** Absent: only the workload of its service and network is sent. */
  readonly resource?: AddressResource;
}

/** Settings and facts. All are read again after {@linkcode Horizon.touchAll}. */
export interface HorizonSettings {
  /** Name of the server's cluster. */
  readonly own: string;
  /** Network of the server's cluster; empty: the default network. */
  readonly network: () => string;
  readonly trustDomain: () => string;
  /** Takes the exception of a unit that cannot be made. The unit stays as it was. */
  readonly failed: (unit: string, error: unknown) => void;
}

/** Names of units: what is made together. */
const unitOf = {
  service: (name: string): string => `service ${name}`,
  workload: (uid: string): string => `workload ${uid}`,
  gateways: "gateways",
};

/** The view. All calls are synchronous. */
export class Horizon {
  readonly #settings: HorizonSettings;
  /** By name of the service and cluster. */
  readonly #services = new Map<string, Map<string, AddressResource>>();
  readonly #foreign = new Map<string, ForeignWorkload>();
  readonly #foreignOf = new SmallMultimap<string, string>();
  #gateways: readonly TunnelGateway[] = [];
  /** The gateway of each other network. */
  #gatewayOf: ReadonlyMap<string, TunnelGateway> = new Map();
  readonly #dirty = new Set<string>();
  /** Names of the resources of each unit. */
  readonly #names = new Map<string, readonly string[]>();

  constructor(settings: HorizonSettings) {
    this.#settings = settings;
  }

  /** Number of units to be made again. */
  get dirty(): number {
    return this.#dirty.size;
  }

  /** Takes the changes of a cluster. @returns the changes that tunnels get unchanged */
  take(cluster: string, { made, gone }: AddressChanges): AddressChanges {
    const passed: { made: AddressResource[]; gone: string[] } = { made: [], gone: [] };
    const present = new Set(made.map(({ name }) => name));
    for (const name of gone) {
      // A resource may move from one part to another.
      if (!present.has(name)) this.#remove(cluster, name, passed.gone);
    }
    for (const resource of made) {
      if (resource.message.service) this.#putService(cluster, resource);
      else if (!this.#putWorkload(cluster, resource)) passed.made.push(resource);
    }
    return passed;
  }

  /** Takes all gateways, the preferred gateway of each network first. */
  setGateways(gateways: readonly TunnelGateway[]): void {
    const before = this.#gatewayOf;
    this.#gateways = gateways;
    this.#chooseGateways();
    this.#dirty.add(unitOf.gateways);
    const changed = new Set(
      [...before.keys(), ...this.#gatewayOf.keys()].filter((network) =>
        !isSame(before.get(network), this.#gatewayOf.get(network))
      ),
    );
    if (changed.size === 0) return;
    for (const [uid, workload] of this.#foreign) if (changed.has(workload.network)) this.#touch(uid, workload);
  }

  /** Forgets a cluster. */
  drop(cluster: string): void {
    const gone: string[] = [];
    for (const [name, versions] of this.#services) if (versions.has(cluster)) gone.push(name);
    for (const [uid, workload] of this.#foreign) if (workload.cluster === cluster) gone.push(uid);
    for (const name of gone) this.#remove(cluster, name, []);
  }

  /** Settings differ. The changes of all clusters must be taken again. */
  touchAll(): void {
    this.#chooseGateways();
    this.#dirty.add(unitOf.gateways);
  }

  /** Makes what differs, in steps of some milliseconds. */
  *settle(): Generator<void, AddressChanges> {
    const units = [...this.#dirty];
    this.#dirty.clear();
    const made: AddressResource[] = [];
    const gone: string[] = [];
    let count = 0;
    for (const unit of units) {
      try {
        this.#remake(unit, made, gone);
      } catch (error) {
        this.#settings.failed(unit, error);
      }
      if (++count % UNITS_A_STEP === 0) yield;
    }
    return { made, gone };
  }

  #remake(unit: string, made: AddressResource[], gone: string[]): void {
    const resources = this.#make(unit);
    const names = new Set(resources.map(({ name }) => name));
    for (const name of this.#names.get(unit) ?? []) if (!names.has(name)) gone.push(name);
    if (names.size === 0) this.#names.delete(unit);
    else this.#names.set(unit, [...names]);
    made.push(...resources);
  }

  #putService(cluster: string, resource: AddressResource): void {
    const { name } = resource;
    this.#services.getOrInsertComputed(name, () => new Map()).set(cluster, resource);
    this.#touchService(name);
  }

  /** @returns false: the workload is sent unchanged */
  #putWorkload(cluster: string, resource: AddressResource): boolean {
    const { own, network } = this.#settings;
    const workload = resource.message.workload!;
    const isHere = (workload.network ?? "") === network();
    const uid = resource.name;
    const before = this.#foreign.get(uid);
    if (cluster === own && isHere) {
      if (before !== undefined) this.#removeForeign(uid, before);
      return false;
    }
    const now: ForeignWorkload = {
      ...{ cluster, network: workload.network ?? "", services: Object.keys(workload.services ?? {}) },
      capacity: workload.status === UNHEALTHY ? 0 : workload.capacity?.value ?? 1,
      identity: this.#identityOf(workload),
      ...cluster === own || isHere ? { resource } : {},
    };
    if (before !== undefined) this.#removeForeign(uid, before);
    this.#foreign.set(uid, now);
    for (const service of now.services) this.#foreignOf.add(service, uid);
    this.#touch(uid, now);
    return true;
  }

  #remove(cluster: string, name: string, passed: string[]): void {
    const versions = this.#services.get(name);
    if (versions?.delete(cluster)) {
      if (versions.size === 0) this.#services.delete(name);
      return this.#touchService(name);
    }
    const workload = this.#foreign.get(name);
    if (workload !== undefined) this.#removeForeign(name, workload);
    else if (cluster === this.#settings.own) passed.push(name);
  }

  #removeForeign(uid: string, workload: ForeignWorkload): void {
    this.#foreign.delete(uid);
    for (const service of workload.services) this.#foreignOf.delete(service, uid);
    this.#touch(uid, workload);
  }

  /** What a workload is part of is made again. */
  #touch(uid: string, { network, services }: ForeignWorkload): void {
    this.#dirty.add(unitOf.workload(uid));
    if (network === this.#settings.network()) return;
    for (const service of services) this.#dirty.add(unitOf.service(service));
  }

  #touchService(name: string): void {
    this.#dirty.add(unitOf.service(name));
    // Workloads of remote clusters in the own network name only services that they share.
    for (const uid of this.#foreignOf.get(name)) {
      if (this.#foreign.get(uid)?.resource !== undefined) this.#dirty.add(unitOf.workload(uid));
    }
  }

  #make(unit: string): AddressResource[] {
    if (unit === unitOf.gateways) return this.#gatewayWorkloads();
    const name = unit.slice(unit.indexOf(" ") + 1);
    return unit === unitOf.service(name) ? this.#service(name) : this.#workload(name);
  }

  #gatewayWorkloads(): AddressResource[] {
    const made = new Map<string, AddressResource>();
    for (const gateway of this.#gateways) {
      if (gateway.network === this.#settings.network()) continue;
      const resource = gatewayWorkload(gateway, this.#settings.trustDomain());
      if (!made.has(resource.name)) made.set(resource.name, resource);
    }
    return [...made.values()];
  }

  /** A service, and the workloads that stand for its workloads in other networks. */
  #service(name: string): AddressResource[] {
    const merged = this.#merged(name);
    if (merged === undefined) return [];
    const capacities = new Map<string, number>();
    const identities = new Set<string>();
    for (const uid of this.#foreignOf.get(name)) {
      const { cluster, network, capacity, identity } = this.#foreign.get(uid)!;
      if (network === this.#settings.network() || !this.#gatewayOf.has(network)) continue;
      if (!this.#isShared(name, cluster, merged)) continue;
      // A tunnel that reaches another network accepts the identities that the service names, and no other.
      identities.add(identity);
      if (cluster !== this.#settings.own) capacities.set(network, (capacities.get(network) ?? 0) + capacity);
    }
    const service = withIdentities(merged.resource, identities);
    const trustDomain = this.#settings.trustDomain();
    const split = [...capacities].filter(([, capacity]) => capacity > 0).map(([network, capacity]) =>
      splitWorkload(service, this.#gatewayOf.get(network)!, capacity, trustDomain)
    );
    return [service, ...split];
  }

  #workload(uid: string): AddressResource[] {
    const foreign = this.#foreign.get(uid);
    if (foreign?.resource === undefined) return [];
    const { cluster, network, resource } = foreign;
    const { services: all, ...workload } = resource.message.workload!;
    if (cluster === this.#settings.own) {
      const gateway = this.#gatewayOf.get(network);
      if (gateway === undefined) return [resource];
      const behind = { ...resource.message.workload!, network_gateway: gatewayAddress(gateway) };
      return [{ ...resource, message: { workload: behind } }];
    }
    const shared = Object.entries(all ?? {}).filter(([name]) => {
      const merged = this.#merged(name);
      return merged !== undefined && this.#isShared(name, cluster, merged);
    });
    const services = shared.length === 0 ? {} : { services: Object.fromEntries(shared) };
    return [{ ...resource, message: { workload: { ...workload, ...services } } }];
  }

  #merged(name: string): MeshService | undefined {
    const versions = this.#services.get(name);
    if (versions === undefined) return undefined;
    return mergedService([...versions].map(([cluster, resource]) => ({ cluster, resource })), this.#settings.own);
  }

  /** Whether the workloads of a cluster are behind a service of the mesh. */
  #isShared(name: string, cluster: string, { isGlobal }: MeshService): boolean {
    if (cluster === this.#settings.own) return true;
    return isGlobal && this.#services.get(name)?.get(cluster)?.isGlobal === true;
  }

  #chooseGateways(): void {
    const chosen = new Map<string, TunnelGateway>();
    for (const gateway of this.#gateways) {
      const { network } = gateway;
      if (network !== this.#settings.network() && !chosen.has(network)) chosen.set(network, gateway);
    }
    this.#gatewayOf = chosen;
  }

  #identityOf({ namespace = "", service_account }: istio.workload.Workload): string {
    return `spiffe://${this.#settings.trustDomain()}/ns/${namespace}/sa/${service_account || "default"}`;
  }
}

function isSame(a: TunnelGateway | undefined, b: TunnelGateway | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.address === b.address && a.port === b.port && a.cluster === b.cluster && a.namespace === b.namespace &&
    a.name === b.name;
}
