/**
 * Endpoints of the orchestrator in the terms of registries.
 *
 * @module
 */
import type { EndpointData, EndpointSubsetData } from "../../config/facts/types.ts";
import { canonicalIp, isIp } from "../address.ts";
import { type Labels, withPlace } from "../labels.ts";
import { endpointAt } from "../service_entry/convert.ts";
import type { Endpoint, Health, Workload } from "../types.ts";
import type { OrchRegistryOptions } from "./options.ts";
import type { OrchPod } from "./pod.ts";
import type { OrchService } from "./service.ts";

/** The surroundings in which endpoints are looked up. */
export interface EndpointSurroundings {
  readonly options: OrchRegistryOptions;
  /** The pod of that name, unless it is unknown or has ended. */
  pod(id: string): OrchPod | undefined;
  /** A pod of a namespace at an address. */
  podAt(namespace: string, address: string): OrchPod | undefined;
  /** Locality of a node, or empty. */
  locality(node: string | undefined): string;
  /** Network of an address without a pod. */
  network(address: string): string;
}

/** Endpoints, and the addresses of those that are missing. */
export interface BuiltEndpoints {
  readonly endpoints: readonly Endpoint[];
  /** Addresses whose pod is unknown: they are left out until it comes. */
  readonly waiting: readonly string[];
}

const NO_LABELS: Labels = Object.freeze({});

/**
 * The endpoints of a list of such.
 *
 * @param family Of the addresses: `IPv4`, `IPv6`, or empty where both may be among them.
 */
export function buildEndpoints(
  { endpoints, ports }: EndpointSubsetData,
  family: string,
  of: OrchService,
  around: EndpointSurroundings,
): BuiltEndpoints {
  const found: Endpoint[] = [];
  const waiting: string[] = [];
  const bare = bareWorkloads(of, around);
  const { clusterId } = around.options;
  for (const data of endpoints) {
    const health = healthOf(data, of.sticky);
    if (health === undefined) continue;
    for (const written of data.addresses) {
      if (!isIp(written)) continue;
      const address = canonicalIp(written);
      const pod = data.pod === undefined
        ? around.podAt(of.namespace, address)
        : around.pod(`${of.namespace}/${data.pod}`);
      if (pod === undefined && data.pod !== undefined) {
        waiting.push(address);
        continue;
      }
      const addresses = data.pod === undefined ? [address] : addressesOf(address, pod, of, around.options);
      // The slice of the other family has it.
      if (addresses.length > 1 && family === "IPv6") continue;
      const place = pod === undefined ? bare(address, data) : placed(pod);
      const [main = address, ...additionalAddresses] = addresses;
      for (const { name, port } of ports) {
        if (port === undefined) continue;
        // A spread in the first place is a copy for the runtime; in any other it costs three times that.
        const endpoint = { ...place, address: main, port, portName: name, clusterId, weight: 1, health };
        found.push(additionalAddresses.length === 0 ? endpoint : { ...endpoint, additionalAddresses });
      }
    }
  }
  return { endpoints: found, waiting };
}

/** The endpoints of a workload entry that a service selects. */
export function entryEndpoints(workload: Workload, labels: Labels, of: OrchService): Endpoint[] {
  const [address] = workload.addresses;
  // Clusters of such a service get addresses alone.
  if (address === undefined || !isIp(address)) return [];
  return of.ports.flatMap((port): Endpoint[] => {
    const byName = typeof port.targetPort === "string" ? port.targetPort : undefined;
    const own = workload.ports[byName ?? port.name];
    if (own === undefined && byName !== undefined) return [];
    const number = own || Number(port.targetPort) || port.port;
    return [endpointAt(workload, labels, { address, port: number, portName: port.name })];
  });
}

/**
 * Health by the conditions of an endpoint; undefined: it ends, and takes nothing. One that ends drains where sessions
 * stick to it and it still answers.
 */
function healthOf({ ready, serving, terminating }: EndpointData, sticky: boolean): Health | undefined {
  if (ready) return "healthy";
  if (terminating !== true) return "unhealthy";
  return sticky && serving !== false ? "draining" : undefined;
}

type EndpointWorkload = Omit<
  Endpoint,
  "address" | "additionalAddresses" | "port" | "portName" | "weight" | "health" | "clusterId"
>;

function placed({ workload, labels, hostname, subdomain, nodeName }: OrchPod): EndpointWorkload {
  return {
    labels,
    locality: workload.locality,
    network: workload.network,
    serviceAccount: workload.serviceAccount,
    namespace: workload.namespace,
    workloadName: workload.name,
    tlsMode: workload.tlsMode,
    ...(hostname === undefined ? {} : { hostname }),
    ...(subdomain === undefined ? {} : { subdomain }),
    ...(nodeName === undefined ? {} : { nodeName }),
  };
}

/**
 * Endpoints that somebody wrote by hand: all that is known of one is its address, and its node if it names one. Those of
 * one place share the known facts.
 */
function bareWorkloads(of: OrchService, around: EndpointSurroundings) {
  const { clusterId } = around.options;
  const known = new Map<string, EndpointWorkload>();
  return (address: string, { nodeName }: EndpointData): EndpointWorkload => {
    const network = around.network(address);
    const key = `${nodeName ?? ""}|${network}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const place = {
      locality: around.locality(nodeName),
      network,
      ...(nodeName === undefined ? {} : { nodeName }),
    };
    const made = {
      labels: withPlace(NO_LABELS, { ...place, clusterId }),
      serviceAccount: "",
      namespace: of.namespace,
      workloadName: "",
      tlsMode: "disabled",
      ...place,
    } as const;
    known.set(key, made);
    return made;
  };
}

/** The pod's addresses, the main one first, where clients may use both families. */
function addressesOf(
  address: string,
  pod: OrchPod | undefined,
  of: OrchService,
  { dualStack }: OrchRegistryOptions,
): readonly string[] {
  const addresses = pod?.workload.addresses ?? [];
  return dualStack && of.dualStack && addresses.length > 1 ? addresses : [address];
}

/** Lists as one: an endpoint moves from one slice to another by being in both for a while. */
export function onceEach(lists: readonly (readonly Endpoint[])[]): readonly Endpoint[] {
  const seen = new Set<string>();
  return lists.flatMap((list) =>
    list.filter(({ address, portName }) => {
      const id = `${address}|${portName}`;
      return !seen.has(id) && seen.add(id);
    })
  );
}
