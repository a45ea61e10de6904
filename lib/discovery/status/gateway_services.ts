/**
 * The Services of a Gateway as its status needs them: ports, addresses and endpoints.
 *
 * @module
 */
import type { Fact, FactKind } from "../../config/facts/types.ts";
import type { GatewayView, NamespacedName } from "../../gateway_api/attach/types.ts";
import type { GatewayService } from "../../gateway_api/status/assignment.ts";

/** Reads facts. */
export interface ServiceFactReader {
  get<K extends FactKind>(kind: K, namespace: string, name: string): Fact<K> | undefined;
  list<K extends FactKind>(kind: K, namespace?: string): readonly Fact<K>[];
}

/** Label of an EndpointSlice that names its Service. */
const SERVICE_NAME = "kubernetes.io/service-name";

/** The existing Services of a Gateway. */
export function servicesOfGateway(
  { addressing }: Pick<GatewayView, "addressing">,
  facts: ServiceFactReader,
): GatewayService[] {
  if (addressing.by === "remote") return [];
  const named = addressing.by === "managed"
    ? [{ ...addressing.service, host: addressing.host }]
    : addressing.hosts.map((host) => ({ ...nameOfHost(host), host }));
  return named.flatMap((one) => serviceState(one, facts) ?? []);
}

function nameOfHost(host: string): NamespacedName {
  const [name = "", namespace = ""] = host.split(".");
  return { namespace, name };
}

function serviceState(
  { namespace, name, host }: NamespacedName & { readonly host: string },
  facts: ServiceFactReader,
): GatewayService | undefined {
  const service = facts.get("Service", namespace, name);
  if (service === undefined) return undefined;
  const { type, ports, loadBalancers, externalIPs, externalName, clusterIPs } = service.spec;
  const ready = readyPorts(namespace, name, facts);
  return {
    ...{ host, namespace },
    ports: ports.map(({ port, name, targetPort }) => ({
      port,
      ...(typeof targetPort === "number" ? { targetPort } : {}),
      hasEndpoints: ready.has(name),
    })),
    external: [...new Set([...loadBalancers, ...externalIPs, ...(externalName ? [externalName] : [])])],
    internal: clusterIPs.filter((address) => address !== "" && address !== "None"),
    isPending: type === "LoadBalancer" && loadBalancers.length === 0,
  };
}

/** Names of the ports of a Service with a ready endpoint. */
function readyPorts(namespace: string, service: string, facts: ServiceFactReader): ReadonlySet<string> {
  const slices = facts.list("EndpointSlice", namespace).filter(({ meta }) => meta.labels[SERVICE_NAME] === service);
  const ready = slices.filter(({ spec }) => spec.endpoints.some((endpoint) => endpoint.ready));
  return new Set(ready.flatMap(({ spec }) => spec.ports.map(({ name }) => name)));
}
