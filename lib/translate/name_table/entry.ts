/**
 * From a host to its names in the DNS table of a proxy's agent (`istio.networking.nds.v1.NameTable`).
 *
 * @module
 */
import { SHARED_DOMAIN } from "../../registry/shared_domain.ts";
import { type Endpoint, resolutionOf, type Service } from "../../registry/types.ts";
import { isDraining, isResolved, mayUse } from "../endpoint/select.ts";
import type { Reader } from "../reader/reader.ts";
import { isRange, serviceAddresses } from "../service/address.ts";

/** One name of the table, field by field as its message has them. */
export interface NameEntry {
  readonly host: string;
  readonly ips: readonly string[];
  readonly registry: string;
  /** With `namespace`, for short names: the agent derives them for services of the orchestrator. */
  readonly shortname?: string;
  readonly namespace?: string;
}

/** Word of the orchestrator's registry on the wire: agents derive short names for no other one. */
const ORCHESTRATOR = "Kubernetes";

/**
 * The names of a host, its own one last: none where no address is known, so that the workload's name servers are asked.
 * Endpoints are read of headless services alone: those of all others change nothing here.
 */
export function nameEntries(read: Reader, host: string): readonly NameEntry[] {
  const service = read.service(host);
  if (service === undefined || service.externalName !== undefined) return [];
  const addresses = serviceAddresses(read, service);
  if (addresses.length > 0) return own(service, addresses.filter((address) => !isRange(address)));
  // Endpoints that are names or balanced are no addresses of the host.
  const passes = [service, ...service.ports].every((one) => resolutionOf(service, one) === "passthrough");
  if (!service.headless && !passes) return [];
  const endpoints = headlessEndpoints(read, service);
  const { multiclusterHeadless } = read.settings;
  const inReach = endpoints.filter((e) => multiclusterHeadless || inCluster(read, e));
  return [...podEntries(read, service, endpoints), ...own(service, inReach.flatMap((e) => addressesOf(read, e)))];
}

function own(service: Service, addresses: readonly string[]): NameEntry[] {
  if (addresses.length === 0) return [];
  const entry = { host: service.hostname, ips: [...new Set(addresses)], registry: registryOf(service) };
  // Names of services that clusters share stand for themselves: short names belong to the service of the cluster.
  if (service.provider !== "Orch" || service.hostname.endsWith(`.${SHARED_DOMAIN}`)) return [entry];
  return [{ ...entry, shortname: service.name, namespace: service.namespace }];
}

function registryOf({ provider }: Service): string {
  return provider === "Orch" ? ORCHESTRATOR : provider;
}

/** Ready endpoints of the first port in the proxy's network, each workload once: clients dial them without a gateway. */
function headlessEndpoints(read: Reader, service: Service): readonly Endpoint[] {
  const [first] = service.ports;
  if (first === undefined) return [];
  const { drainingLabel } = read.settings;
  const isListed = (e: Endpoint) =>
    service.publishNotReadyAddresses === true || (e.health === "healthy" && !isDraining(e, drainingLabel));
  return read.endpoints(service.hostname).filter((e) =>
    e.portName === first.name && isListed(e) && isResolved(e.address) &&
    !e.address.startsWith("unix:") && inNetwork(read, e) && mayUse(read, e)
  );
}

function inNetwork(read: Reader, { network }: Endpoint): boolean {
  return network === "" || read.derived(`inNetwork/${network}`, (t) => t.network === "" || t.network === network);
}

function inCluster(read: Reader, { clusterId }: Endpoint): boolean {
  return clusterId === "" ||
    read.derived(`inCluster/${clusterId}`, (t) => t.clusterId === "" || t.clusterId === clusterId);
}

function addressesOf(read: Reader, { address, additionalAddresses = [] }: Endpoint): readonly string[] {
  return read.settings.dualStack ? [address, ...additionalAddresses] : [address];
}

/** Names of single pods, `<hostname>.<subdomain>.<rest of the service's host>`; of two pods that of the own cluster. */
function podEntries(read: Reader, service: Service, endpoints: readonly Endpoint[]): readonly NameEntry[] {
  const dot = service.hostname.indexOf(".");
  if (dot < 0) return [];
  const entries = new Map<string, NameEntry>();
  for (const endpoint of endpoints) {
    if (!endpoint.hostname || !endpoint.subdomain) continue;
    const shortname = `${endpoint.hostname}.${endpoint.subdomain}`;
    const host = shortname + service.hostname.slice(dot);
    if (entries.has(host) && !inCluster(read, endpoint)) continue;
    entries.set(host, {
      ...{ host, ips: addressesOf(read, endpoint), registry: registryOf(service) },
      ...(service.provider === "Orch" ? { shortname, namespace: service.namespace } : {}),
    });
  }
  return [...entries.values()];
}
