/**
 * What runs: registries, the view over all of them, and the index of endpoints.
 *
 * @module
 */
export * from "./types.ts";
export { canonicalIp, isIp, isUnixSocket, virtualAddress } from "./address.ts";
export { Aggregate, type RegistrySource, type ServiceChanges, type WorkloadListener } from "./aggregate.ts";
export { type EndpointChanges, EndpointIndex, type EndpointPlacement } from "./endpoint_index.ts";
export { type Placements, type ProxyPlace, type Services, type ServiceTarget, serviceTargets } from "./inbound.ts";
export { type MockEndpoint, MockRegistry, type MockService } from "./mock.ts";
export { parseProtocol, type PortFacts, portProtocol } from "./protocol.ts";
export { type ServiceEntryOptions, ServiceEntryRegistry } from "./service_entry/registry.ts";
