/**
 * A mesh that shows the truth of a finding: the triggering example, with the resources and the behaviour of proxies.
 * @module
 */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import type { FindingName } from "../../../lib/finding/codes.ts";
import { encodedTables } from "../../../lib/offline/proxy_resources.ts";
import { resourcesIn } from "../../../lib/simulate/decoded.ts";
import { type ProxyResources, simulate, type SimulatedRequest, type Simulation } from "../../../lib/simulate/mod.ts";
import type { ProxyState } from "../../../lib/translate/machine/per_proxy/proxy_state.ts";
import { type ProofWorld, proofWorld, statesIn, type WrittenDocument } from "./proof_world.ts";

/** The documents of a text. */
export function documentsOf(text: string): WrittenDocument[] {
  return parseAllDocuments(text).map((one) => one.toJS() as WrittenDocument).filter((one) => one !== null);
}

/** The documents of an example of the reference. */
export function exampleOf(name: FindingName): WrittenDocument[] {
  return documentsOf(
    Deno.readTextFileSync(new URL(`../../testdata/findings/${name}/triggers.yaml`, import.meta.url)),
  );
}

/** A workload, for a proxy beside it. */
export function workload(
  namespace: string,
  name: string,
  labels: Readonly<Record<string, string>>,
  address: string,
): WrittenDocument {
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "WorkloadEntry",
    metadata: { namespace, name },
    spec: { address, labels },
  };
}

/** A world with the finding. */
export function claimed(name: FindingName, ...more: readonly WrittenDocument[]): ProofWorld {
  const world = proofWorld([...exampleOf(name), ...more]);
  assert.ok(world.findings.some((one) => one.name === name), `no ${name}`);
  return world;
}

/** The proxy of a world with a workload's address. */
export function proxyAt(world: ProofWorld, address: string): ProxyState {
  const found = statesIn(world.mesh, world).find(({ proxy }) => proxy.addresses.includes(address));
  assert.ok(found !== undefined, `no proxy at ${address}`);
  return found;
}

/** The proxies of Gateways. */
export function gatewaysOf(world: ProofWorld): ProxyState[] {
  return statesIn(world.mesh, world).filter(({ proxy }) => proxy.properties.type === "router");
}

/** A proxy's resources, as plain messages. */
export function resourcesOf(state: ProxyState): ProxyResources {
  return resourcesIn(encodedTables(state));
}

/** The way of a request through a proxy. */
export function asked(state: ProxyState, request: SimulatedRequest): Simulation {
  return simulate(resourcesOf(state), request);
}

/** The end of a request as text: clusters, the status, or the reason of a closed connection. */
export function endOf(state: ProxyState, request: SimulatedRequest): string {
  const { outcome } = asked(state, request);
  if (outcome.kind === "forwarded") return outcome.clusters.map(({ name }) => name).join(" ");
  return outcome.kind === "answered" ? `${outcome.status}` : outcome.kind;
}

/** A request of a workload for a host. */
export function outbound(host: string, port: number, ip = "203.0.113.9"): SimulatedRequest {
  return { direction: "outbound", destination: { ip, port }, protocol: "http", host, path: "/" };
}

/** A request of a client at a gateway. */
export function atGateway(host: string, port: number, more: Partial<SimulatedRequest> = {}): SimulatedRequest {
  return { direction: "direct", destination: { ip: "10.1.0.3", port }, protocol: "http", host, path: "/", ...more };
}
