/**
 * The templates that are there without configuration.
 *
 * @module
 */
import { sidecarPart } from "../sidecar/sidecar.ts";
import type { PodPart, SidecarInput } from "../sidecar/input.ts";
import { grpcAgentPart, grpcSimplePart } from "./grpc.ts";

/** The part of a template, by its name. `gateway`: the pod's own container becomes the proxy of a gateway. */
export const BUILT_IN: Readonly<Record<string, (input: SidecarInput) => PodPart>> = {
  "sidecar": sidecarPart,
  "gateway": (input) => sidecarPart({ ...input, role: "router", native: false }),
  "grpc-agent": grpcAgentPart,
  "grpc-simple": grpcSimplePart,
};
