/**
 * The addresses of Ingresses for their status.
 *
 * @module
 */
import type { Fact, IngressAddressData } from "../config/facts/types.ts";
import { GATEWAY_LABELS } from "../config/kinds/gateway/workloads.ts";
import type { MeshConfig } from "../config/mesh/types.ts";
import { isIpAddress } from "../config/validation/network.ts";
import { gatewayLabel } from "./gateway.ts";

/** Reads the inputs of the addresses. */
export interface AddressReader {
  fact<K extends "Service" | "Node">(kind: K, namespace: string, name: string): Fact<K> | undefined;
  /** The pods of a namespace. */
  pods(namespace: string): readonly Fact<"Pod">[];
  readonly mesh: Pick<MeshConfig, "ingressService" | "ingressSelector">;
}

/**
 * The addresses of the service `ingressService`: its external name, or the addresses of its load balancer and its
 * external addresses. If the setting is empty: the external addresses of the nodes of the gateway's running pods. Host
 * names follow addresses, without duplicates.
 *
 * @param namespace Namespace of the service and the pods.
 */
export function ingressAddresses(read: AddressReader, namespace: string): IngressAddressData[] {
  const { ingressService } = read.mesh;
  const written = ingressService === ""
    ? ofNodes(read, namespace)
    : ofService(read.fact("Service", namespace, ingressService));
  const all = [...new Set(written)].filter((address) => address !== "").sort();
  return [
    ...all.filter((address) => isIpAddress(address)).map((ip) => ({ ip })),
    ...all.filter((address) => !isIpAddress(address)).map((hostname) => ({ hostname })),
  ];
}

/** Whether two lists hold the same addresses, in any order. */
export function sameAddresses(a: readonly IngressAddressData[], b: readonly IngressAddressData[]): boolean {
  const text = (list: readonly IngressAddressData[]) =>
    JSON.stringify(list.map(({ ip = "", hostname = "" }) => `${ip}/${hostname}`).sort());
  return text(a) === text(b);
}

function ofService(service: Fact<"Service"> | undefined): readonly string[] {
  if (service === undefined) return [];
  const { type, externalName = "", loadBalancers, externalIPs } = service.spec;
  return type === "ExternalName" ? [externalName] : [...loadBalancers, ...externalIPs];
}

function ofNodes(read: AddressReader, namespace: string): readonly string[] {
  const value = gatewayLabel(read.mesh);
  return read.pods(namespace)
    .filter(({ spec: { phase, labels } }) =>
      phase === "Running" && GATEWAY_LABELS.some((label) => labels[label] === value)
    )
    .flatMap(({ spec: { running } }) => {
      const node = running?.nodeName;
      return node === undefined ? [] : read.fact("Node", "", node)?.spec.externalAddresses ?? [];
    });
}
