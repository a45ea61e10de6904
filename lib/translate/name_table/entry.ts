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

/** A name of the table, with the fields of its message. */
export interface NameEntry {
  readonly host: string;
  readonly ips: readonly string[];
  readonly registry: string;
  /** Set with `namespace` for services of the orchestrator, for which the agent derives short names. */
  readonly shortname?: string;
  readonly namespace?: string;
}

/** Name of the orchestrator's registry on the wire. Agents derive short names only for this registry. */
const ORCHESTRATOR = "Kubernetes";

/**
 * The names of a host, the host itself last. Empty when no address is known: the workload's name servers then answer.
 * Endpoints are read only for headless services, because endpoints of other services change no entry.
 */
export function nameEntries(read: Reader, host: string): readonly NameEntry[] {
  const service = read.service(host);
  if (service === undefined || service.externalName !== undefined) return [];
  const addresses = serviceAddresses(read, service);
  if (addresses.length > 0) return own(service, addresses.filter((address) => !isRange(address)));
  // An endpoint's name, or a balanced endpoint, is not an address of the host.
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
  // A service shared between clusters has no short names: short names belong to the service of the cluster.
  if (service.provider !== "Orch" || service.hostname.endsWith(`.${SHARED_DOMAIN}`)) return [entry];
  return [{ ...entry, shortname: service.name, namespace: service.namespace }];
}

function registryOf({ provider }: Service): string {
  return provider === "Orch" ? ORCHESTRATOR : provider;
}

/**
 * Ready endpoints of the first port in the proxy's network, each workload once. Clients dial these without a gateway.
 */
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

/**
 * Names of single pods, `<hostname>.<subdomain>.<rest of the service's host>`. Of two pods with one name, the pod of
 * the own cluster counts.
 */
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
