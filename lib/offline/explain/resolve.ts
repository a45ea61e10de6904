/**
 * The address dialled by a client for a host, as the client's resolver would answer.
 *
 * @module
 */
import { fullHost } from "../../mesh/names.ts";
import type { ServiceFact } from "../../config/facts/view.ts";
import { canonicalIp, dialledAddress, isIp } from "../../registry/address.ts";
import type { ProxyOnWay } from "../../debug/explanation.ts";
import type { ServiceTarget } from "../../registry/inbound.ts";
import type { Endpoint, Protocol, Service } from "../../registry/types.ts";
import { addressOf, type ManifestServices, protocolOf } from "./manifest.ts";
import type { DialledAddress } from "./question.ts";

/** The meaning of a host for a client: a service or an address. */
export interface ResolvedHost extends DialledAddress {
  /** The service; undefined: no known service has the host or address. */
  readonly service?: Service;
  /** The service of a manifest, where proxies know none. */
  readonly manifest?: ServiceFact;
  /** A sentence about the address, unless the address is the service's own. */
  readonly note?: string;
}

/** Where services and endpoints are looked up. */
export interface Resolver {
  readonly domain: string;
  /** The services of a host visible to a namespace, best first. */
  services(host: string, namespace: string): readonly Service[];
  /** The service that has an address. */
  serviceAt(ip: string, namespace: string): Service | undefined;
  /** The endpoints of a service, healthy or not. */
  endpoints(service: Service): readonly Endpoint[];
  /** The ports of services served by a workload, in the order in which the services get a port of the workload. */
  servedBy(workload: Pick<ProxyOnWay, "address" | "namespace">): readonly ServiceTarget[];
  /** SPIFFE ID of a workload, by its service account; undefined: not known. */
  identityOf(workload: Pick<ProxyOnWay, "account" | "address" | "namespace">): string | undefined;
  /** The beginning of the SPIFFE IDs of a namespace's workloads, up to the account. */
  identityStart(namespace: string): string;
  /** Services known from manifests. */
  readonly manifests: ManifestServices;
}

/** An address for documentation (RFC 5737), in place of the unknown address of a named host. */
export const UNKNOWN_ADDRESS = "198.51.100.1";

/** Resolves a host for a client. */
export function resolveHost(
  host: string,
  port: number,
  { namespace, address }: Pick<ProxyOnWay, "namespace" | "address">,
  resolver: Resolver,
): ResolvedHost {
  if (isIp(host)) {
    const ip = canonicalIp(host);
    const service = resolver.serviceAt(ip, namespace);
    if (service !== undefined) return { ip, port, http: carriesHttp(protocolAt(service, port)), service };
    const manifest = resolver.manifests.at(ip);
    if (manifest !== undefined) return { ...resolveManifest(manifest, port, resolver), ip };
    return { ip, port, http: false };
  }
  const names = namesOf(host, namespace, resolver.domain);
  const service = names.flatMap((name) => resolver.services(name, namespace))[0];
  if (service === undefined) {
    const manifest = names.flatMap((name) => resolver.manifests.find(name) ?? [])[0];
    if (manifest !== undefined) return resolveManifest(manifest, port, resolver);
    const note =
      `no service has the host ${host} for namespace ${namespace}; its address is taken as ${UNKNOWN_ADDRESS}`;
    return { ip: UNKNOWN_ADDRESS, port, http: false, note };
  }
  const common = { port, http: carriesHttp(protocolAt(service, port)), service };
  const own = dialledAddress(service.addresses, address);
  if (!service.ports.some((one) => one.port === port)) {
    const ports = service.ports.map((one) => one.port).join(", ");
    return { ...common, ip: own ?? UNKNOWN_ADDRESS, note: `${service.hostname} has no port ${port}; it has ${ports}` };
  }
  if (own !== undefined) return { ...common, ip: own };
  const [allocated] = service.autoAllocatedAddresses ?? [];
  const endpoint = resolver.endpoints(service)[0]?.address;
  if (endpoint !== undefined && isIp(endpoint)) {
    const note = `${service.hostname} has no address of its own; ${endpoint} of an endpoint is dialled`;
    return { ...common, ip: endpoint, note };
  }
  const ip = allocated ?? UNKNOWN_ADDRESS;
  return { ...common, ip, note: `${service.hostname} has no address of its own; it is taken as ${ip}` };
}

/** A headless service resolves to its endpoints. */
function resolveManifest(manifest: ServiceFact, port: number, { manifests }: Resolver): ResolvedHost {
  const [endpoint] = manifests.endpoints(manifest, port);
  const own = addressOf(manifest);
  const ip = own ?? (manifest.headless ? endpoint?.address : undefined) ?? UNKNOWN_ADDRESS;
  const http = carriesHttp(protocolOf(manifest, port));
  const { ports } = manifest.fact.spec;
  if (!ports.some((one) => one.port === port)) {
    const note = `${manifest.host} has no port ${port}; it has ${ports.map((one) => one.port).join(", ")}`;
    return { ip, port, http, manifest, note };
  }
  if (own !== undefined) return { ip, port, http, manifest };
  return { ip, port, http, manifest, note: `${manifest.host} has no address in its manifest; ${ip} is dialled` };
}

/** The names that a resolver tries for a host with the search list of a workload. */
export function namesOf(host: string, namespace: string, domain: string): string[] {
  const dots = host.split(".").length - 1;
  const names = [host];
  if (dots === 0) names.push(fullHost(host, namespace, domain));
  if (dots === 1) names.push(`${host}.svc.${domain}`);
  if (dots === 2 && host.endsWith(".svc")) names.push(`${host}.${domain}`);
  return names;
}

function protocolAt({ ports }: Service, port: number): Protocol | undefined {
  return ports.find((one) => one.port === port)?.protocol;
}

function carriesHttp(protocol: Protocol | undefined): boolean {
  // The protocol of an undeclared port is detected. A person who names a host and such a port means an HTTP request.
  return protocol !== undefined && ["HTTP", "HTTP2", "GRPC", "GRPC-Web", "Unsupported"].includes(protocol);
}
