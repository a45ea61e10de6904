/**
 * A node tunnel's answer to a question about a name, from the services that the tunnel has. Pure.
 *
 * @module
 */
import { IPFamilies } from "../../../proto/gen/enums.ts";
import {
  chosenService,
  textOf,
  type TunnelAddresses,
  type TunnelService,
  type TunnelWorkload,
} from "../../../lib/simulate/tunnel/addresses.ts";

/** A type of records with addresses. The tunnel answers no other type itself. */
export type AddressType = "A" | "AAAA";

/** What the tunnel knows about names. */
export interface KnownNames {
  /** DNS suffix of the cluster. */
  readonly domain: string;
  readonly addresses: TunnelAddresses;
  servicesNamed(host: string): readonly TunnelService[];
}

/** The answer. No addresses: the name exists without records of the type. */
export interface NameAnswer {
  /** The name without search domain, if the question had a search domain. */
  readonly canonical: string | undefined;
  readonly addresses: readonly string[];
}

/** A name that is looked up in place of the question's name. */
interface Alias {
  readonly name: string;
  readonly stripped?: string;
}

/** Answers a question of a pod. Undefined: the tunnel has no such name, and a name server is asked. */
export function resolveName(
  question: { readonly name: string; readonly type: AddressType },
  client: TunnelWorkload,
  known: KnownNames,
): NameAnswer | undefined {
  const namespace = client.namespace ?? "";
  for (const { name, stripped } of aliases(question.name.toLowerCase(), namespace, known.domain)) {
    for (const host of [name, ...wildcards(name)]) {
      const services = known.servicesNamed(host).filter((one) => hasAnswer(one, known.domain));
      const service = chosenService(services, namespace);
      if (service === undefined) continue;
      const canonical = host.startsWith("*") ? undefined : stripped;
      return { canonical, addresses: addressesOf(service, question.type, client, known.addresses) };
    }
  }
  return undefined;
}

/** A service without address is a headless service of the cluster, or a host that only name servers know. */
function hasAnswer({ addresses = [], hostname = "" }: TunnelService, domain: string): boolean {
  return addresses.length > 0 || hostname.endsWith(`.svc.${domain}`);
}

/** The name as asked, its forms in the cluster, and both without each search domain of a pod. */
function aliases(name: string, namespace: string, domain: string): readonly Alias[] {
  const found = [name, ...clusterNames(name, namespace, domain)].map((one): Alias => ({ name: one }));
  for (const search of [`${namespace}.svc.${domain}`, `svc.${domain}`, domain]) {
    if (!name.endsWith(`.${search}`)) continue;
    const stripped = name.slice(0, -search.length - 1);
    for (const one of [stripped, ...clusterNames(stripped, namespace, domain)]) found.push({ name: one, stripped });
  }
  return found;
}

/** Full names in the cluster that a short name may stand for. */
function clusterNames(name: string, namespace: string, domain: string): readonly string[] {
  const labels = name.split(".");
  const isBeforeDomain = labels.at(-1) === "svc";
  const [ofNamespace, ofCluster] = [`${name}.${namespace}.svc.${domain}`, `${name}.svc.${domain}`];
  if (labels.length === 1) return [ofNamespace];
  if (labels.length === 2) return [ofCluster, ofNamespace];
  if (labels.length === 3) return isBeforeDomain ? [`${name}.${domain}`, ofCluster] : [ofCluster];
  return labels.length === 4 && isBeforeDomain ? [`${name}.${domain}`] : [];
}

/** Wildcards that cover a name, the longest first. */
function wildcards(name: string): readonly string[] {
  const labels = name.split(".");
  return labels.slice(1).map((_, at) => `*.${labels.slice(at + 1).join(".")}`);
}

function addressesOf(
  service: TunnelService,
  type: AddressType,
  { network = "" }: TunnelWorkload,
  known: TunnelAddresses,
): readonly string[] {
  const { addresses = [], ip_families } = service;
  const other = type === "A" ? IPFamilies.IPV6_ONLY : IPFamilies.IPV4_ONLY;
  if (ip_families === other) return [];
  const isWanted = (ip: string) => ip !== "" && ip.includes(":") === (type === "AAAA");
  if (addresses.length > 0) {
    return addresses.filter((one) => (one.network ?? "") === network).map(({ address }) => textOf(address))
      .filter(isWanted);
  }
  return known.endpoints(service).flatMap(({ workload }) =>
    (workload.addresses ?? []).map((bytes) => textOf(bytes)).filter(isWanted).slice(0, 1)
  );
}
