/**
 * Explains requests in a mesh of texts.
 *
 * @module
 */
import type { Finding } from "../../finding/finding.ts";
import type { OfflineMesh } from "../offline_mesh.ts";
import { refusedLookup } from "../../config/refused/refused_keys.ts";
import type { ServiceIndex } from "../../mesh/service_index.ts";
import type { Aggregate } from "../../registry/aggregate.ts";
import { serviceTargets } from "../../registry/inbound.ts";
import type { EndpointIndex } from "../../registry/endpoint_index.ts";
import type { Service } from "../../registry/types.ts";
import { serviceKey } from "../../registry/types.ts";
import { canonicalIp } from "../../registry/address.ts";
import { isServedBy } from "../../config/kinds/gateway/workloads.ts";
import { FactIndex } from "../../config/facts/fact_index.ts";
import type { FactStore } from "../../config/facts/store.ts";
import type { ProxyOnWay } from "../../debug/explanation.ts";
import { resourcesForRequest } from "../../simulate/for_request.ts";
import type { FieldPlaces } from "../field_place.ts";
import { encodedTables } from "../proxy_resources.ts";
import { type ImpliedProxy, NO_ADDRESS } from "../workloads.ts";
import { hiddenObjects } from "./hidden.ts";
import { ManifestServices } from "./manifest.ts";
import type { Resolver } from "./resolve.ts";
import { folderSecrets } from "./secrets.ts";
import type { TunnelWorld } from "./tunnel.ts";
import { tunnelWorldOf } from "./tunnel_mesh.ts";
import type { ExplainWorld } from "./world.ts";
import { profileOf } from "../../translate/reader/proxy_profile.ts";

/** Whether a Gateway of a workload names a Secret, `namespace/name`, that the workload may then read. */
function givesRight({ store }: OfflineMesh, secret: string, workload: Parameters<typeof isServedBy>[1]): boolean {
  return store.list("Gateway").some((gateway) =>
    gateway.spec.internal?.secrets.includes(secret) && isServedBy(gateway, workload)
  );
}

/** The world of explanations, from a mesh and its implied proxies. */
export function worldOf(mesh: OfflineMesh, proxies: readonly ImpliedProxy[], places: FieldPlaces): ExplainWorld {
  const byId = new Map(proxies.map((proxy) => [proxy.node.id, proxy]));
  const isRefused = refusedLookup({ store: mesh.store, findings: () => mesh.index.findings() as Finding[] });
  // Made on the first question about a workload without a proxy.
  let tunnels: { readonly made: TunnelWorld | undefined } | undefined;
  return {
    resolver: resolverOf({
      domain: mesh.domain,
      services: mesh.pipeline.aggregate,
      index: mesh.pipeline.translator.mesh.services,
      endpoints: mesh.pipeline.endpoints,
      facts: mesh.facts,
      trustDomain: mesh.pipeline.translator.mesh.config.trustDomain,
    }),
    resources: ({ id, namespace, labels }, request) => {
      const node = byId.get(id)?.node ?? { id, metadata: { NAMESPACE: namespace, LABELS: labels } };
      const resources = resourcesForRequest(encodedTables(mesh.join(node)), request);
      const isPermitted = (secret: string) => givesRight(mesh, secret, { namespace, labels });
      const secrets = folderSecrets({ facts: mesh.facts, isRefused, isPermitted }, namespace);
      return Promise.resolve({ ...resources, secrets });
    },
    workloadAt: (address) => {
      const found = proxies.find((proxy) => proxy.address !== NO_ADDRESS && proxy.address === canonicalIp(address));
      return found && onWay(found);
    },
    workloadOf: (key) => {
      const found = proxies.find(({ cause }) => cause === key);
      return found && onWay(found);
    },
    tunnels: () => (tunnels ??= { made: tunnelWorldOf(mesh) }).made,
    hidden: (host, client) =>
      hiddenObjects(host, client, { mesh: mesh.pipeline.translator.mesh, object: (key) => mesh.objects.get(key) }),
    object: (key) => mesh.objects.get(key),
    place: (origin, field) => places.of(origin, field),
  };
}

/** An implied proxy as a proxy on the way of a request. */
export function onWay({ type, namespace, name, address, labels, node, account, runs }: ImpliedProxy): ProxyOnWay {
  return {
    ...{ type, namespace, name, address, labels, id: node.id },
    ...(account === undefined ? {} : { account }),
    // The workload of a gateway is itself a proxy.
    ...(profileOf(type).gateways ? { runs: true } : runs === undefined ? {} : { runs }),
  };
}

/** Where a resolver looks. */
export interface ResolverSources {
  readonly domain: string;
  readonly services: Pick<Aggregate, "service" | "services" | "workloadsAt">;
  readonly index: Pick<ServiceIndex, "visible">;
  readonly endpoints: Pick<EndpointIndex, "endpoints" | "byAddress">;
  readonly facts: FactStore;
  readonly trustDomain: string;
}

/** A resolver over the services of a mesh. */
export function resolverOf(
  { domain, services, index, endpoints, facts, trustDomain }: ResolverSources,
): Resolver {
  const identityStart = (namespace: string) => `spiffe://${trustDomain}/ns/${namespace}/sa/`;
  const accountAt = (address: string, namespace: string) =>
    endpoints.byAddress(address).find(({ endpoint }) =>
      endpoint.namespace === namespace && endpoint.serviceAccount !== ""
    )?.endpoint.serviceAccount;
  return {
    domain,
    manifests: new ManifestServices(new FactIndex(facts, domain)),
    services: (host, namespace) => {
      const found = index.visible(host, namespace) ??
        wildcardOf(host, [...services.services()], (name) => index.visible(name, namespace));
      return found === undefined ? [] : [found];
    },
    serviceAt: (ip, namespace) => {
      const found = [...services.services()].filter((service) => service.addresses.includes(ip));
      return found.find((service) => index.visible(service.hostname, namespace) === service) ?? found[0];
    },
    servedBy: ({ address, namespace }) =>
      serviceTargets({ addresses: [address], namespace, clusterId: "" }, endpoints, services),
    identityOf: ({ account, address, namespace }) => {
      const known = account ?? accountAt(address, namespace);
      return known === undefined ? undefined : identityStart(namespace) + known;
    },
    identityStart,
    endpoints: (service) => endpoints.endpoints(serviceKey(service)),
  };
}

/** The service whose wildcard covers a host. The longest wildcard wins. */
function wildcardOf(
  host: string,
  services: readonly Service[],
  visible: (hostname: string) => Service | undefined,
): Service | undefined {
  const hosts = services.map(({ hostname }) => hostname)
    .filter((hostname) => hostname.startsWith("*.") && host.endsWith(hostname.slice(1)))
    .sort((a, b) => b.length - a.length);
  return hosts.map(visible).find((service) => service !== undefined);
}
