/**
 * The domains of a virtual host: every way in which a client may name a service in the Host header.
 *
 * @module
 */
import { bracketed } from "../values/host.ts";
import { isIp } from "../../registry/address.ts";
import type { Service } from "../../registry/types.ts";
import { isRange, serviceAddresses } from "../service/address.ts";
import type { Reader } from "../reader/reader.ts";

/**
 * Domains without ports in lower case, as Envoy compares them, each once, the full name first: the host, its other names (short forms valid in the proxy's
 * DNS domain, the absolute name with a trailing dot), names of single pods, virtual addresses.
 *
 * @param service Absent: only a virtual service has the host, and the host itself is the only domain.
 */
export function hostDomains(read: Reader, host: string, service: Service | undefined): string[] {
  if (!service) return [bracketed(host).toLowerCase()];
  const names = [bracketed(host), ...otherNames(read, host)].map((name) => name.toLowerCase());
  // Clients of a headless service also name single pods: `pod-0.db.default.svc.cluster.local`.
  const pods = service.headless && service.provider === "Orch" ? names.map((name) => `*.${name}`) : [];
  const addresses = service.externalName ? [] : serviceAddresses(read, service);
  return [...new Set([...names, ...pods, ...addresses.flatMap(addressDomain)])];
}

/**
 * The names of a host that no other host of the mesh has, the full name first: short forms of the orchestrator's DNS,
 * and the absolute name. Addresses and names of single pods are excluded.
 */
export function ownNames(read: Reader, host: string): string[] {
  const others = hasOrchestratorsDomain(read) ? otherNames(read, host) : [];
  // A short form may be the host of another service.
  return [host, ...others.filter((name) => read.service(name) === undefined)];
}

/** The same domains with the port, in the form for a proxy port. Clients omit port 80. */
export function withPort(domains: readonly string[], port: number): string[] {
  return domains.flatMap((domain) => port === 80 ? [domain, `${domain}:80`] : [`${domain}:${port}`]);
}

/** Name of the virtual host of a host and port, `host:port`, with an IPv6 address in brackets. */
export function virtualHostName(host: string, port: number): string {
  return `${bracketed(host)}:${port}`;
}

/**
 * Short forms of a host for a client in a DNS domain.
 *
 * In a domain like `ns.svc.cluster.local`: hosts under `.svc.cluster.local` also without this suffix, and hosts of the
 * same namespace also by the first label alone. In other domains: the host without the suffix shared with the domain.
 * Empty for hosts without a shared suffix.
 */
export function shortForms(host: string, dnsDomain: string): string[] {
  if (isOrchestrators(dnsDomain)) return orchestratorForms(host, nearness(domainOf(host), dnsDomain));
  const own = host.split(".");
  const near = dnsDomain.split(".");
  let shared = 0;
  while (shared < Math.min(own.length, near.length) && own.at(-1 - shared) === near.at(-1 - shared)) shared++;
  const rest = own.slice(0, own.length - shared);
  if (!shared || !rest.length) return [];
  const short = rest.join(".");
  return rest.length === 2 ? [short, `${short}.${own[rest.length]}`] : [short];
}

type Nearness = "same namespace" | "same mesh" | "elsewhere";

function isOrchestrators(dnsDomain: string): boolean {
  return dnsDomain.includes(".svc.");
}

function domainOf(host: string): string {
  return host.slice(host.indexOf(".") + 1);
}

function nearness(domain: string, dnsDomain: string): Nearness {
  if (domain === dnsDomain) return "same namespace";
  const suffix = dnsDomain.slice(dnsDomain.indexOf(".svc."));
  return domain.endsWith(suffix) ? "same mesh" : "elsewhere";
}

function orchestratorForms(host: string, near: Nearness): string[] {
  const inside = host.slice(0, Math.max(host.indexOf(".svc."), 0));
  if (near === "elsewhere" || !inside.includes(".")) return [];
  const forms = [inside, `${inside}.svc`];
  return near === "same namespace" ? [host.slice(0, host.indexOf(".")), ...forms] : forms;
}

/**
 * A query is about a namespace, not about a host. So a proxy gets one query per namespace, and all proxies of a
 * namespace give the same answers.
 */
function otherNames(read: Reader, host: string): string[] {
  if (isIp(host)) return [];
  const absolute = read.settings.enableAbsoluteFqdnVhostDomain ? [`${host}.`] : [];
  if (!hasOrchestratorsDomain(read)) {
    return [...absolute, ...shortForms(host, read.property("dnsDomain"))];
  }
  if (!isOrchestrators(host)) return absolute;
  const domain = domainOf(host);
  const near = read.derived<Nearness>(`nearness=${domain}`, (t) => nearness(domain, t.dnsDomain));
  return [...absolute, ...orchestratorForms(host, near)];
}

function hasOrchestratorsDomain(read: Reader): boolean {
  return read.derived("orchestratorDnsDomain", (t) => isOrchestrators(t.dnsDomain));
}

/** A range is not a name, and the unspecified address belongs to no host. */
function addressDomain(address: string): string[] {
  return isRange(address) || address === "0.0.0.0" || address === "::" ? [] : [bracketed(address)];
}
