/**
 * The way of a request from a workload without a proxy: to an endpoint of the service, as the orchestrator takes it there,
 * or to the address that is dialled.
 *
 * @module
 */
import type { Endpoint } from "../../registry/types.ts";
import type { ClusterStep, SimulatedEndpoint, Simulation, SimulationOutcome } from "../../simulate/types.ts";
import type { ResolvedHost, Resolver } from "./resolve.ts";

/** Where the connection goes, as a simulation whose only step is the endpoints. */
export function withoutProxy(resolved: ResolvedHost, resolver: Resolver): Simulation {
  const { ip, port, service } = resolved;
  const dialled = { address: ip, port } as const;
  if (service === undefined) return leadingTo("ORIGINAL_DST", [plain(dialled)]);
  const portName = service.ports.find((one) => one.port === port)?.name;
  const endpoints = resolver.endpoints(service).filter((one) => one.portName === portName);
  // Without a virtual address one of the endpoints is dialled.
  if (!service.addresses.includes(ip)) return leadingTo("ORIGINAL_DST", [plain(dialled)]);
  if (service.provider !== "Orch") {
    const why = `who answers at ${ip}, an address that proxies alone know`;
    return { steps: [], outcome: { kind: "unknown", why } };
  }
  if (!endpoints.some(({ health }) => health === "healthy")) {
    return { steps: [], outcome: { kind: "closed", why: `no endpoint of ${service.hostname} is ready` } };
  }
  return leadingTo("EDS", endpoints.map((one) => plain(one)));
}

function plain({ address, port, health = "healthy" }: Pick<Endpoint, "address" | "port"> & Partial<Endpoint>) {
  const endpoint: SimulatedEndpoint = {
    ...{ address, port, priority: 0, locality: "", localityWeight: 0, weight: 1 },
    healthy: health === "healthy",
  };
  return endpoint;
}

function leadingTo(type: "EDS" | "ORIGINAL_DST", endpoints: readonly SimulatedEndpoint[]): Simulation {
  const cluster: ClusterStep = { step: "cluster", name: "", weight: 1, type, transport: "plaintext", endpoints };
  const outcome: SimulationOutcome = { kind: "forwarded", clusters: [{ name: "", weight: 1 }] };
  return { steps: [cluster], outcome };
}
