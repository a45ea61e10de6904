/**
 * Worlds of listener tests: what `world_from_yaml.ts` reads, and what only listeners ask for.
 *
 * @module
 */
import { plainEndpoint, plainService } from "../../../lib/registry/mock.ts";
import type { Endpoint, Service, ServicePort } from "../../../lib/registry/types.ts";
import type { Built } from "../../../lib/translate/message/built.ts";
import type { InboundTarget } from "../../../lib/translate/inbound/target.ts";
import { httpProxyListener } from "../../../lib/translate/listener/outbound/http_proxy.ts";
import { connectOriginateListener } from "../../../lib/translate/listener/hbone/originate.ts";
import { inboundListeners } from "../../../lib/translate/listener/inbound/inbound.ts";
import { mergeOutboundListener } from "../../../lib/translate/listener/outbound/merge.ts";
import { listenerContributions } from "../../../lib/translate/listener/outbound/outbound.ts";
import type { ListenerContribution } from "../../../lib/translate/listener/contribution.ts";
import { virtualOutboundListener } from "../../../lib/translate/listener/virtual.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { fakeReader, type FakeWorld } from "../fake_reader.ts";
import { worldFromYaml } from "../world_from_yaml.ts";

type Listener = envoy.config.listener.v3.Listener;

type GivenService = Pick<Service, "hostname"> & Partial<Service>;

/** What the `kind: World` document may hold beside a `FakeWorld`. */
interface ListenerWorld extends FakeWorld {
  /** Creation times of services, ms, by host; absent: 0. */
  readonly created?: Readonly<Record<string, number>>;
  /** Endpoints that a workload selector found, for each port, by host. */
  readonly selected?: Readonly<Record<string, readonly string[]>>;
  /** Allocated addresses, by host. */
  readonly allocated?: Readonly<Record<string, readonly string[]>>;
  /** Services that no entry can spell; what is left out: of the orchestrator, with one TCP port 9000. */
  readonly orchServices?: readonly GivenService[];
  /** Names of the extensions that the proxy's build has; absent: all. */
  readonly extensions?: readonly string[];
  readonly targets?: readonly (InboundTarget & { readonly serviceHost?: string })[];
}

/** All listeners of one world. */
export interface BuiltListeners {
  readonly listeners: readonly Built<Listener>[];
  readonly conflicts: readonly unknown[];
  /** Texts of what the policies of the workload could not become. */
  readonly findings?: readonly string[];
}

/** Builds the listeners of a world. */
export function buildListeners(yaml: string): BuiltListeners {
  const world = completed(worldFromYaml(yaml) as ListenerWorld);
  const read = fakeReader(world);
  const outbound = mergeAll(read, (world.services ?? []).flatMap((s) => listenerContributions(read, s.hostname)));
  const inbound = inboundListeners(read, (world.targets ?? []).map((t) => withService(t, world.services ?? [])));
  const own = [httpProxyListener(read), virtualOutboundListener(read), connectOriginateListener(read)].filter((l) =>
    l !== undefined
  )
    .map((message) => ({ message, causes: [] }));
  return {
    listeners: [...outbound.listeners, ...own, ...inbound.listeners],
    conflicts: [...outbound.conflicts, ...inbound.conflicts],
    ...(inbound.findings.length > 0 ? { findings: inbound.findings.map(({ message }) => message) } : {}),
  };
}

/** Merges contributions key by key, in the order of their names. */
export function mergeAll(
  read: ReturnType<typeof fakeReader>,
  contributions: readonly ListenerContribution[],
): BuiltListeners {
  const keys = [...new Set(contributions.map((contribution) => contribution.key))].sort();
  const merged = keys.map((key) =>
    mergeOutboundListener(read, key, contributions.filter((contribution) => contribution.key === key))
  );
  return {
    listeners: merged.flatMap(({ listener, causes }) => listener ? [{ message: listener, causes }] : []),
    conflicts: merged.flatMap(({ conflicts }) => conflicts),
  };
}

function completed(world: ListenerWorld): ListenerWorld {
  const orch = (world.orchServices ?? []).map(orchService);
  const services = [...(world.services ?? []), ...orch].map((service) => {
    const allocated = world.allocated?.[service.hostname];
    const creationTimestamp = world.created?.[service.hostname] ?? 0;
    return { ...service, creationTimestamp, ...(allocated ? { autoAllocatedAddresses: allocated } : {}) };
  });
  const endpoints = { ...world.endpoints };
  for (const [host, addresses] of Object.entries(world.selected ?? {})) {
    const ports = services.find((s) => s.hostname === host)?.ports ?? [];
    endpoints[host] = ports.flatMap((port) => addresses.map((address) => endpoint(address, port)));
  }
  const extensions = world.extensions ? { extensions: new Set(world.extensions) } : {};
  return { ...world, services, endpoints, properties: { ...world.properties, ...extensions } };
}

function orchService(given: GivenService): Service {
  const ports = [{ name: "tcp", port: 9000, protocol: "TCP" as const }];
  return plainService({ provider: "Orch", namespace: given.hostname.split(".")[1] ?? "", ports, ...given });
}

function endpoint(address: string, { port, name }: ServicePort): Endpoint {
  return plainEndpoint({ address, port, portName: name, clusterId: "Orch" });
}

function withService(
  { serviceHost, ...target }: InboundTarget & { readonly serviceHost?: string },
  services: readonly Service[],
): InboundTarget {
  const service = services.find((s) => s.hostname === serviceHost);
  return service ? { ...target, service } : target;
}
