/**
 * Makes the resources of one part: the workloads of an object, or the service of a host.
 *
 * @module
 */
import type { istio } from "../../proto/gen/types.ts";
import type { Fact } from "../config/facts/types.ts";
import type { AssignedAddress } from "../config/kinds/assigned_addresses.ts";
import type { ConfigObject } from "../config/types.ts";
import { canonicalIp, isIp } from "../registry/address.ts";
import { isEastWestPart, type Labels, NETWORK_LABEL } from "../registry/labels.ts";
import { nodeLocality, servingContainers } from "../registry/orch/pod.ts";
import { hostnameOf } from "../registry/orch/service.ts";
import { externalNameOf } from "../registry/orch/stand_in.ts";
import { entryResolution, resolvesNames } from "../registry/service_entry/resolution.ts";
import type { ScopedService } from "../mesh/service_scope.ts";
import type { ServiceKey } from "../registry/types.ts";
import { addressAlias, type AddressResource } from "./addresses.ts";
import { ASKING_HOST, partOf } from "./concern.ts";
import { type AmbientObjects, type AmbientSelector, hostKeys, serviceOfSlice } from "./objects.ts";
import { isWaypointPart } from "../mesh/waypoints/marks.ts";
import { closingTargets, type WaypointUser } from "../mesh/waypoints/policies.ts";
import { admissionName } from "./waypoint_admission.ts";
import { entryWorkloadPorts, podPorts, selectedEntryPorts, ServedServices, slicePorts } from "./ports.ts";
import { byAge, serviceMessage, type ServiceSurroundings } from "./services.ts";
import { chooseWaypoint, readWaypoint, sentWaypoint, type Waypoint, type WaypointChoice } from "./waypoints.ts";
import {
  type EntryWorkload,
  entryWorkload,
  hostWorkload,
  inlineWorkloads,
  podWorkload,
  sliceWorkload,
  workloadOfEntry,
  type WorkloadSurroundings,
} from "./workloads.ts";

/** Settings of the resources, and facts from other packages. */
export interface AmbientSettings {
  readonly clusterId: string;
  /** DNS suffix of services, such as `cluster.local`. */
  readonly domain: string;
  readonly systemNamespace: string;
  readonly rootNamespace: () => string;
  readonly trustDomain: () => string;
  /** Service entries select pods (`PILOT_ENABLE_SERVICEENTRY_SELECT_PODS`). */
  readonly selectPods: boolean;
  /** Services select workload entries (`PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES`). */
  readonly selectWorkloadEntries: boolean;
  /** Without a ready waypoint, connections go to the workloads even if policies need the waypoint. */
  readonly opensWithoutWaypoint: boolean;
  /** Names `namespace/name` of the policies that select a workload, sorted. */
  readonly policies: (namespace: string, labels: Labels) => readonly string[];
  /** Workloads behind a waypoint list the policy that admits the waypoint. Default false. */
  readonly admitsWaypoints?: boolean;
  /** Whether other networks reach a Service. Absent: tunnels reach only their own cluster. */
  readonly isGlobal?: (service: ScopedService) => boolean;
  /** Takes the exception of a part that cannot be made. The part stays as it was. */
  readonly failed: (part: string, error: unknown) => void;
  /** The addresses that are assigned to the hosts of a service entry. */
  readonly assigned: (entry: ConfigObject<"ServiceEntry">) => readonly AssignedAddress[];
}

/** The resources of a part, and the things that they depend on: kind and name, in turn. */
export interface MadePart {
  readonly resources: readonly AddressResource[];
  readonly reads: readonly string[];
}

const NO_ANNOTATIONS: Labels = Object.freeze({});
const NOTHING: MadePart = { resources: [], reads: [] };

/** A waypoint with the objects that it was read from. */
interface ReadWaypoint {
  readonly from: readonly [gateway: ConfigObject, ofClass: ConfigObject | undefined, network: string];
  readonly waypoint: Waypoint;
}

/** Makes parts. */
export class AddressMaker {
  readonly #settings: AmbientSettings;
  readonly #objects: AmbientObjects;
  /** Whether a policy that only a waypoint can enforce names an object. */
  readonly #isTargeted: (key: string) => boolean;
  /** The things read by the part that is being made. */
  #reads = new Map<string, readonly [kind: string, name: string]>();
  /** Waypoints by the key of their Gateway, read once for each version of the objects behind them. */
  readonly #waypoints = new Map<string, ReadWaypoint>();

  constructor(settings: AmbientSettings, objects: AmbientObjects, isTargeted: (key: string) => boolean) {
    this.#settings = settings;
    this.#objects = objects;
    this.#isTargeted = isTargeted;
  }

  /** Makes a part again. */
  make(part: string): MadePart {
    this.#reads = new Map();
    const resources = part.startsWith(partOf.host(""))
      ? this.#host(part.slice(partOf.host("").length))
      : this.#of(part);
    if (resources.length === 0 && this.#reads.size === 0) return NOTHING;
    return { resources, reads: [...this.#reads.values()].flat() };
  }

  #of(key: string): AddressResource[] {
    const object = this.#objects.at(key);
    switch (object?.kind) {
      case "Pod": {
        const message = podWorkload(object, this.#servicesOfPod(object), this.#aroundWorkload());
        if (message === undefined) return [];
        const isWaypoint = isWaypointPart(object.spec.labels);
        return [workload(isWaypoint ? message : this.#admitting(message, object.spec.labels))];
      }
      case "WorkloadEntry": {
        const services = this.#servicesOfEntry(object);
        return this.#entry(workloadOfEntry(object, this.#settings.clusterId), services, object);
      }
      case "ServiceEntry":
        return this.#listed(object);
      case "EndpointSlice":
        return this.#slice(object);
      default:
        return [];
    }
  }

  #host(host: string): AddressResource[] {
    const slash = host.indexOf("/");
    const [namespace, hostname] = [host.slice(0, slash), host.slice(slash + 1)];
    const own = this.#serviceOf(namespace, hostname);
    const entries = this.#objects.entriesOf(host);
    const message = serviceMessage({ hostname, service: own, entries }, this.#aroundService());
    if (message === undefined) return [];
    const aliases = (message.addresses ?? []).flatMap(({ network = "", address, length }) =>
      length === undefined ? [addressAlias(network, address!)] : []
    );
    const causes = entries.map(({ key }) => key);
    const isGlobal = own !== undefined && this.#isGlobal(own);
    return [{ name: host, aliases, message: { service: message }, causes, ...isGlobal ? { isGlobal } : {} }];
  }

  #isGlobal({ meta: { namespace, labels } }: Fact<"Service">): boolean {
    const { isGlobal } = this.#settings;
    if (isGlobal === undefined) return false;
    this.#read("Namespace", namespace);
    const namespaceLabels = this.#objects.get("Namespace", "", namespace)?.meta.labels;
    return isGlobal({ labels, namespaceLabels });
  }

  #servicesOfPod(pod: Fact<"Pod">): ServedServices {
    const services = new ServedServices();
    const containers = servingContainers(pod.spec);
    for (const selector of this.#selecting(pod.key)) {
      const object = this.#objects.at(selector.key);
      if (object?.kind === "Service") services.add(this.#keyOf(object), podPorts(object.spec.ports, containers));
      if (object?.kind === "ServiceEntry" && this.#settings.selectPods) {
        for (const host of hostKeys(object)) {
          services.add(host as ServiceKey, entryWorkloadPorts(object.spec.ports ?? []));
        }
      }
    }
    for (const slice of this.#objects.slicesWith(pod.key)) {
      const service = this.#objects.at(serviceOfSlice(slice));
      if (service?.kind !== "Service" || externalNameOf(service.spec) !== undefined) continue;
      services.add(this.#keyOf(service), slicePorts(service.spec.ports, slice.spec.ports));
    }
    return services;
  }

  #servicesOfEntry(entry: ConfigObject<"WorkloadEntry">): ServedServices {
    const services = new ServedServices();
    for (const selector of this.#selecting(entry.key)) {
      const object = this.#objects.at(selector.key);
      if (object?.kind === "ServiceEntry") {
        const ports = entryWorkloadPorts(object.spec.ports ?? [], entry.spec.ports);
        for (const host of hostKeys(object)) services.add(host as ServiceKey, ports);
      }
      if (object?.kind === "Service" && this.#settings.selectWorkloadEntries) {
        services.add(this.#keyOf(object), selectedEntryPorts(object.spec.ports, entry.spec.ports ?? {}));
      }
    }
    return services;
  }

  /** Services first, then entries by age. */
  #selecting(key: string): readonly AmbientSelector[] {
    const selectable = this.#objects.selectable(key);
    if (selectable === undefined) return [];
    const all = [...this.#objects.selecting(selectable)];
    return all.length < 2 ? all : all.sort((a, b) => {
      if (a.kind !== b.kind) return a.kind === "Service" ? -1 : 1;
      if (a.kind === "Service") return a.key < b.key ? -1 : 1;
      return byAge(this.#entryAt(a.key), this.#entryAt(b.key));
    });
  }

  #entryAt(key: string): ConfigObject<"ServiceEntry"> {
    return this.#objects.at(key) as ConfigObject<"ServiceEntry">;
  }

  /** The workloads that an entry lists, or the workloads that stand for its hosts. */
  #listed(entry: ConfigObject<"ServiceEntry">): AddressResource[] {
    const { spec: { endpoints = [], ports = [], resolution, workloadSelector } } = entry;
    const { clusterId } = this.#settings;
    if (workloadSelector !== undefined) return [];
    const hosts = hostKeys(entry);
    if (endpoints.length > 0) {
      return inlineWorkloads(entry, clusterId).flatMap((listed) => {
        const services = new ServedServices();
        for (const host of hosts) services.add(host as ServiceKey, entryWorkloadPorts(ports, listed.spec.ports));
        return this.#entry(listed, services, entry);
      });
    }
    if (!resolvesNames(entryResolution(resolution))) return [];
    return hosts.flatMap((key) => {
      const host = key.slice(key.indexOf("/") + 1);
      if (host.startsWith("*")) return [];
      const services = new ServedServices();
      services.add(key as ServiceKey, entryWorkloadPorts(ports));
      return this.#entry(hostWorkload(entry, host, clusterId), services, entry);
    });
  }

  #entry(entry: EntryWorkload, services: ServedServices, { key }: ConfigObject): AddressResource[] {
    const message = entryWorkload(entry, services, this.#aroundWorkload());
    return message === undefined ? [] : [workload(this.#admitting(message, entry.asking), [key])];
  }

  /** The endpoints of a slice that are no pods. */
  #slice(slice: Fact<"EndpointSlice">): AddressResource[] {
    const service = this.#objects.at(serviceOfSlice(slice));
    if (service?.kind !== "Service" || externalNameOf(service.spec) !== undefined) return [];
    const services = new ServedServices();
    services.add(this.#keyOf(service), slicePorts(service.spec.ports, slice.spec.ports));
    const around = this.#aroundWorkload();
    const found = new Map<string, AddressResource>();
    for (const endpoint of slice.spec.endpoints) {
      if (endpoint.pod !== undefined) continue;
      for (const address of endpoint.addresses.filter(isIp).map(canonicalIp)) {
        const made = workload(sliceWorkload(slice, endpoint, address, services, around));
        if (!found.has(made.name)) found.set(made.name, made);
      }
    }
    return [...found.values()];
  }

  /** A workload with the policies that admit its waypoints. @param asking labels that ask for a waypoint */
  #admitting(message: istio.workload.Workload, asking: Labels): istio.workload.Workload {
    if (!this.#settings.admitsWaypoints) return message;
    const { namespace = "", services = {}, authorization_policies = [] } = message;
    const users: WaypointUser[] = [
      { namespace, labels: asking, sort: "workload" },
      ...Object.keys(services).flatMap((host) => this.#userOf(host) ?? []),
    ];
    const names = new Set(users.flatMap((user) => {
      const choice = this.#choice(user);
      return choice.state === "bound" && this.#gateway(choice.waypoint)?.takesTunnels
        ? [admissionName(choice.waypoint)]
        : [];
    }));
    if (names.size === 0) return message;
    return { ...message, authorization_policies: [...authorization_policies, ...[...names].sort()] };
  }

  /** The object behind a host that asks for a waypoint: the Service, else the oldest entry. */
  #userOf(host: string): WaypointUser | undefined {
    this.#read(ASKING_HOST, host);
    const slash = host.indexOf("/");
    const [namespace, hostname] = [host.slice(0, slash), host.slice(slash + 1)];
    const service = this.#serviceOf(namespace, hostname);
    const object = service ?? this.#objects.entriesOf(host).toSorted(byAge)[0];
    if (object === undefined) return undefined;
    const { key, meta: { labels } } = object;
    const isGateway = service !== undefined && (isWaypointPart(labels) || isEastWestPart(labels));
    return isGateway ? undefined : { key, namespace, labels, sort: "service" };
  }

  #serviceOf(namespace: string, hostname: string): Fact<"Service"> | undefined {
    const service = this.#objects.get("Service", namespace, hostname.slice(0, Math.max(0, hostname.indexOf("."))));
    return service !== undefined && hostnameOf(service, this.#settings) === hostname ? service : undefined;
  }

  #keyOf(service: Fact<"Service">): ServiceKey {
    return `${service.meta.namespace}/${hostnameOf(service, this.#settings)}`;
  }

  get #network(): string {
    return this.#objects.namespaceLabels(this.#settings.systemNamespace)[NETWORK_LABEL] ?? "";
  }

  #aroundWorkload(): WorkloadSurroundings {
    const { clusterId, systemNamespace, policies, trustDomain } = this.#settings;
    return {
      ...{ clusterId, systemNamespace, policies, network: this.#network, trustDomain: trustDomain() },
      locality: (node) => this.#locality(node),
      waypoint: (user) => this.#waypoint(user),
      gateway: (namespace, name) => this.#gateway(`${namespace}/${name}`),
    };
  }

  #aroundService(): ServiceSurroundings {
    return {
      network: this.#network,
      namespaceAnnotations: (namespace) => {
        this.#read("Namespace", namespace);
        return this.#objects.get("Namespace", "", namespace)?.meta.annotations ?? NO_ANNOTATIONS;
      },
      waypoint: (user) => this.#waypoint(user),
      assigned: this.#settings.assigned,
    };
  }

  #read(kind: string, name: string): void {
    this.#reads.set(`${kind}/${name}`, [kind, name]);
  }

  #locality(node: string | undefined): string {
    if (node === undefined) return "";
    this.#read("Node", node);
    return nodeLocality(this.#objects.get("Node", "", node));
  }

  #gateway(key: string): Waypoint | undefined {
    this.#read("ApiGateway", key);
    const [namespace = "", name = ""] = key.split("/");
    const gateway = this.#objects.get("ApiGateway", namespace, name);
    if (gateway === undefined) {
      this.#waypoints.delete(key);
      return undefined;
    }
    const { gatewayClassName } = gateway.spec;
    this.#read("GatewayClass", gatewayClassName);
    const ofClass = this.#objects.get("GatewayClass", "", gatewayClassName);
    const from = [gateway, ofClass, this.#network] as const;
    const known = this.#waypoints.get(key);
    if (known?.from.every((one, at) => one === from[at])) return known.waypoint;
    const waypoint = readWaypoint(gateway, ofClass?.meta, this.#network);
    this.#waypoints.set(key, { from, waypoint });
    return waypoint;
  }

  #choice(user: WaypointUser): WaypointChoice {
    this.#read("Namespace", user.namespace);
    return chooseWaypoint(user, {
      namespaceLabels: (namespace) => this.#objects.namespaceLabels(namespace),
      waypoint: (key) => this.#gateway(key),
    });
  }

  #waypoint(user: WaypointUser): istio.workload.GatewayAddress | undefined {
    const choice = this.#choice(user);
    if (choice.state !== "unbound") return sentWaypoint(choice, false, this.#settings.domain);
    return sentWaypoint(choice, this.#isClosed(user, choice), this.#settings.domain);
  }

  /** Whether a policy is bound that only the waypoint can enforce. */
  #isClosed(user: WaypointUser, { waypoint }: Extract<WaypointChoice, { state: "unbound" }>): boolean {
    if (this.#settings.opensWithoutWaypoint) return false;
    return closingTargets(user, waypoint, this.#gateway(waypoint)).some(this.#isTargeted);
  }
}

function workload(message: istio.workload.Workload, causes: readonly string[] = []): AddressResource {
  const { uid = "", network = "", addresses = [], network_mode } = message;
  // The address of a node belongs to no single workload.
  const aliases = network_mode === 1 ? [] : addresses.map((address) => addressAlias(network, address));
  return { name: uid, aliases, message: { workload: message }, causes };
}
