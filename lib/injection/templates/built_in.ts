/**
 * The built-in templates, available without configuration.
 *
 * @module
 */
import { sidecarPart } from "../sidecar/sidecar.ts";
import type { PodPart, SidecarInput } from "../sidecar/input.ts";
import { grpcAgentPart, grpcSimplePart } from "./grpc.ts";

/**
 * Builders of parts, by the name of the template. `gateway`: the pod's own container becomes the proxy of a gateway.
 */
export const BUILT_IN: Readonly<Record<string, (input: SidecarInput) => PodPart>> = {
  "sidecar": sidecarPart,
  "gateway": gatewayPart,
  "grpc-agent": grpcAgentPart,
  "grpc-simple": grpcSimplePart,
};

/** A gateway's pod may listen on ports such as 80 and 443 without rights, unless the pod or the values say otherwise. */
function gatewayPart(input: SidecarInput): PodPart {
  const { settings: { values }, request: { pod } } = input;
  const security = pod.spec.securityContext?.["sysctls"] === undefined
    ? values.gateways.securityContext ?? { sysctls: [{ name: "net.ipv4.ip_unprivileged_port_start", value: "0" }] }
    : undefined;
  const part = sidecarPart({ ...input, role: "router", native: false });
  return { ...part, rest: security === undefined ? {} : { securityContext: security } };
}
