/**
 * The Gateway of an Ingress: its certificates on port 443, and port 80 for every host.
 *
 * @module
 */
import type { DerivedObject } from "../config/derive/derivation.ts";
import type { Fact, IngressTlsData } from "../config/facts/types.ts";
import { GATEWAY_LABELS } from "../config/kinds/gateway/workloads.ts";
import type { MeshConfig } from "../config/mesh/types.ts";
import { objectNameProblem } from "../config/validation/names.ts";
import { gatewayName } from "./names.ts";
import { hostOf } from "./rules.ts";

/**
 * The gateway installed with the control plane: names of its service, in both spellings, and the value of its label.
 */
const USUAL = { services: ["mesh-ingressgateway", "istio-ingressgateway", ""], value: "ingressgateway" } as const;

/** The label's value of the workloads that serve Ingresses: `ingressSelector`, else derived from `ingressService`. */
export function gatewayLabel(mesh: Pick<MeshConfig, "ingressSelector" | "ingressService">): string {
  const { ingressSelector = "", ingressService } = mesh;
  if (ingressSelector !== "") return ingressSelector;
  return USUAL.services.some((name) => name === ingressService) ? USUAL.value : ingressService;
}

/** A certificate that can be served. */
interface ServedCertificate {
  readonly index: number;
  readonly hosts: readonly string[];
  readonly secretName: string;
}

/** The certificates of an Ingress that can be served, without invalid hosts. */
export function certificatesOf({ spec }: Fact<"Ingress">): ServedCertificate[] {
  return spec.tls.flatMap(({ hosts, secretName }: IngressTlsData, index) => {
    const right = hosts.length === 0 ? ["*"] : [...new Set(hosts.flatMap((host) => hostOf(host) ?? []))];
    return secretName === "" || objectNameProblem(secretName) !== undefined || right.length === 0
      ? []
      : [{ index, hosts: right, secretName }];
  });
}

/**
 * The Gateway of an Ingress, in the namespace of the serving workloads. @param label Value of the workloads' label, of
 * either spelling
 */
export function gatewayOf(
  ingress: Fact<"Ingress">,
  namespace: string,
  label: string,
): DerivedObject<"Gateway"> {
  const { name, namespace: own } = ingress.meta;
  const servers = certificatesOf(ingress).map(({ index, hosts, secretName }) => ({
    port: { number: 443, protocol: "HTTPS", name: `https-443-ingress-${name}-${own}-${index}` },
    hosts,
    tls: {
      mode: "SIMPLE",
      credentialName: secretName,
      minProtocolVersion: "TLS_AUTO",
      maxProtocolVersion: "TLS_AUTO",
    } as const,
  }));
  const plain = { port: { number: 80, protocol: "HTTP", name: `http-80-ingress-${name}-${own}` }, hosts: ["*"] };
  return {
    kind: "Gateway",
    meta: { name: gatewayName(ingress.meta), namespace },
    spec: { selector: { [GATEWAY_LABELS[0]]: label }, servers: [...servers, plain] },
  };
}
