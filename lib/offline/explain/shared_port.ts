/**
 * Ports of a workload at which several ports of services end that say different protocols: one of them holds there, and
 * whoever asks why a request is taken for bytes, or the reverse, needs to know which.
 *
 * @module
 */
import type { ExplainedHop } from "../../debug/explanation.ts";
import type { ServiceTarget } from "../../registry/inbound.ts";
import { portCauses } from "../../registry/types.ts";
import type { Resolver } from "./resolve.ts";

/** A sentence about the port that the request reaches; undefined: all that end there agree, or a Sidecar decides. */
export function sharedPortNote({ proxy, simulation }: ExplainedHop, port: number, resolver: Resolver) {
  const isListed = simulation.steps.some((step) =>
    step.step === "listener" && step.causes?.some((key) => key.startsWith("Sidecar/"))
  );
  if (isListed) return undefined;
  const [first, ...others] = resolver.servedBy(proxy)
    .filter((target) => target.endpointPort === port && target.port.protocol !== "UDP");
  const differing = others.filter((other) => other.port.protocol !== first?.port.protocol);
  if (first === undefined || differing.length === 0) return undefined;
  return `port ${port} of ${proxy.namespace}/${proxy.name} is ${spoken(first)}, as ${written(first)} says; ` +
    `${differing.map((one) => `${written(one)} says ${spoken(one)}`).join(", and ")}, which does not hold there`;
}

/** `port 80 of own.test (ServiceEntry prod/own)`. */
function written({ service, port }: ServiceTarget): string {
  const [kind, ...name] = (portCauses(service, port)[0] ?? "").split("/");
  return `port ${port.port} of ${service.hostname} (${kind} ${name.join("/")})`;
}

function spoken({ port }: ServiceTarget): string {
  return port.protocol === "Unsupported" ? "recognized by its first bytes" : port.protocol;
}
