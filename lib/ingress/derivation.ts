/**
 * Ingresses become Gateways and VirtualServices: of each Ingress a Gateway, of each host a VirtualService.
 *
 *     Ingress ──> Gateway
 *        └─hosts──> all Ingresses of a host ──> VirtualService
 *
 * @module
 */
import type { Derivation, DerivationInput } from "../config/derive/derivation.ts";
import type { Fact } from "../config/facts/types.ts";
import { isServed } from "./class.ts";
import { gatewayLabel, gatewayOf } from "./gateway.ts";
import { hostsOf, virtualServiceOf } from "./virtual_service.ts";

/** How Ingresses are served. */
export interface IngressOptions {
  /** Namespace of the gateway's workloads and secrets (`ORCH_INGRESS_NS`). */
  readonly namespace: string;
  /** DNS suffix of services. */
  readonly domain: string;
  /** Origin of the served Ingresses: the source of the services. */
  readonly from: "file" | "api";
}

export function ingressDerivation({ namespace, domain, from }: IngressOptions): Derivation {
  const isOurs = (input: DerivationInput): input is Fact<"Ingress"> =>
    input.kind === "Ingress" && input.origin.from === from;
  return {
    name: "ingress",
    from: ["Ingress"],
    derive: (input, read) => {
      if (!isOurs(input) || !isServed(input, read)) return [];
      const mesh = { ingressService: read.mesh("ingressService"), ingressSelector: read.mesh("ingressSelector") ?? "" };
      return [gatewayOf(input, namespace, gatewayLabel(mesh))];
    },
    shared: {
      groupsOf: (input) => (isOurs(input) ? hostsOf(input) : []),
      derive: (host, members, read) => {
        const served = members.filter(isOurs).filter((ingress) => isServed(ingress, read));
        const made = virtualServiceOf(host, served, namespace, { read, domain });
        return made === undefined ? [] : [made];
      },
    },
  };
}
