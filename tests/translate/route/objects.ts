/**
 * Small objects for tests of routes.
 *
 * @module
 */
import type { HttpRoute, VirtualServiceSpec } from "../../../lib/config/kinds/kinds.ts";
import type { EffectiveVirtualService } from "../../../lib/mesh/types.ts";
import { plainService } from "../../../lib/registry/mock.ts";
import type { Protocol, Service } from "../../../lib/registry/types.ts";

/** A service of a service entry. `hostname` is also the key. */
export function service(one: Partial<Service> & { readonly hostname: string }): Service {
  const ports = [{ name: "http", port: 80, protocol: "HTTP" as const }];
  const cause = `ServiceEntry/default/${one.hostname}`;
  return plainService({ provider: "External", ports, exportTo: ["*"], cause, ...one });
}

/** Ports by number and protocol. */
export function ports(...all: readonly (readonly [number, Protocol])[]): Service["ports"] {
  return all.map(([port, protocol]) => ({ name: `p${port}`, port, protocol }));
}

/** A virtual service named `vs` in namespace `default` with the rules. Default: for sidecars. */
export function virtualService(http: readonly HttpRoute[], spec: VirtualServiceSpec = {}): EffectiveVirtualService {
  return {
    name: "vs",
    namespace: "default",
    hosts: spec.hosts ?? ["a.example.com"],
    gateways: spec.gateways ?? ["mesh"],
    spec: { ...spec, http },
    exportTo: ["*"],
    creationTimestamp: 0,
    causes: ["VirtualService/default/vs"],
  };
}
