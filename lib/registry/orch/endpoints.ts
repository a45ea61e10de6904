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

/** Where endpoints look up other objects. */
export interface EndpointSurroundings {
  readonly options: OrchRegistryOptions;
  /** The pod with this name; undefined: unknown, or ended. */
  pod(id: string): OrchPod | undefined;
  /** A pod of a namespace at an address. */
  podAt(namespace: string, address: string): OrchPod | undefined;
  /** Locality of a node, or empty. */
  locality(node: string | undefined): string;
  /** Network of an address without a pod. */
  network(address: string): string;
}

/** Endpoints, and the addresses of missing endpoints. */
export interface BuiltEndpoints {
  readonly endpoints: readonly Endpoint[];
  /** Addresses of unknown pods. The endpoints are left out until the pod comes. */
  readonly waiting: readonly string[];
}

const NO_LABELS: Labels = Object.freeze({});

/**
 * The endpoints of a list.
 *
 * @param family Of the addresses: `IPv4`, `IPv6`, or empty for both.
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
      // The slice of the other family has this endpoint.
      if (addresses.length > 1 && family === "IPv6") continue;
      const place = pod === undefined ? bare(address, data) : placed(pod);
      const [main = address, ...additionalAddresses] = addresses;
      for (const { name, port } of ports) {
        if (port === undefined) continue;
        // A spread in the first place is a copy for the runtime; in any other place a spread costs three times as much.
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
  // Clusters of such a service get only addresses.
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
 * Health by the conditions of an endpoint; undefined: the endpoint is ending and takes no requests. An ending endpoint
 * drains if the service has sticky sessions and the endpoint still answers.
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
    ...(workload.isCaptured ? { isCaptured: true as const } : {}),
    ...(hostname === undefined ? {} : { hostname }),
    ...(subdomain === undefined ? {} : { subdomain }),
    ...(nodeName === undefined ? {} : { nodeName }),
  };
}

/**
 * Endpoints written by hand. Only the endpoint's address is known, and its node if the endpoint names a node. Endpoints
 * in the same place share their facts.
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

/** The pod's addresses, the main address first, if clients may use both families. */
function addressesOf(
  address: string,
  pod: OrchPod | undefined,
  of: OrchService,
  { dualStack }: OrchRegistryOptions,
): readonly string[] {
  const addresses = pod?.workload.addresses ?? [];
  return dualStack && of.dualStack && addresses.length > 1 ? addresses : [address];
}

/**
 * Joins slices and the entries that a service selects. An endpoint that moves between slices is in both slices for a
 * while, perhaps with the old and the new port, so a slice's endpoint is an address and the name of a port. Entries are
 * written by hand, and each process on a machine may have an entry with a port of its own. So entries differ by port
 * and network, too.
 */
export function onceEach(
  slices: readonly (readonly Endpoint[])[],
  entries: readonly Endpoint[],
): readonly Endpoint[] {
  const joined = distinct(slices.flat(), ({ address, portName }) => `${address}|${portName}`);
  return entries.length === 0 ? joined : distinct(
    [...joined, ...entries],
    ({ address, portName, port, network }) => `${address}|${portName}|${port}|${network}`,
  );
}

function distinct(list: readonly Endpoint[], idOf: (one: Endpoint) => string): readonly Endpoint[] {
  const seen = new Set<string>();
  return list.filter((one) => {
    const id = idOf(one);
    return !seen.has(id) && seen.add(id);
  });
}
