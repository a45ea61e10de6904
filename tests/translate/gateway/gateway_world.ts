/**
 * A world for builders of gateways from files as users write them (any accepted spelling), read by the real schemas and
 * indexes. A document `kind: World` says what the proxy is: `properties`, `settings`, `mesh`, and the
 * `targets` of its `ownService` (service port to workload port).
 *
 * @module
 */
import { parseAllDocuments } from "yaml";
import { parseObject } from "../../../lib/config/object.ts";
import { type AnyConfigObject, isKind } from "../../../lib/config/types.ts";
import { GatewayIndex } from "../../../lib/mesh/gateway_index.ts";
import type { EffectiveDestinationRule } from "../../../lib/mesh/types.ts";
import { effectiveVirtualServices } from "../../../lib/mesh/virtual_service.ts";
import { VirtualServiceIndex } from "../../../lib/mesh/virtual_service_index.ts";
import { convertEntry } from "../../../lib/registry/service_entry/convert.ts";
import { mergeEntries } from "../../../lib/registry/service_entry/merge.ts";
import type { Service } from "../../../lib/registry/types.ts";
import type { ServiceTarget } from "../../../lib/registry/inbound.ts";
import { defaultProperties, type FakeReader, fakeReader, type FakeWorld } from "../fake_reader.ts";
import { inFile } from "../../config/origins.ts";

/** What a gateway's builders are called with. */
export interface GatewayWorld {
  readonly read: FakeReader;
  readonly targets: readonly ServiceTarget[];
}

interface World extends FakeWorld {
  readonly kind?: string;
  /** Host of the service that selects the gateway workload. */
  readonly ownService?: string;
  /** Its ports, each with the port at the workload. */
  readonly targets?: Readonly<Record<string, number>>;
}

/** Reads the documents of one YAML text (the parser asks for permission `env`). Mistakes throw. */
export function gatewayWorld(text: string): GatewayWorld {
  return gatewayWorldOf(parseAllDocuments(text, { merge: true }).map((document) => document.toJS()));
}

/**
 * Reads documents. Mistakes throw.
 *
 * @param more Laid over what the `World` document says.
 */
export function gatewayWorldOf(documents: readonly unknown[], more: FakeWorld = {}): GatewayWorld {
  const objects: AnyConfigObject[] = [];
  let world: World = {};
  for (const [index, tree] of documents.entries()) {
    if (tree === null) continue;
    if ((tree as World).kind === "World") world = tree as World;
    else objects.push(parse(tree, index));
  }
  const own = services(objects).filter(({ hostname }) => hostname === world.ownService);
  return { read: reader(objects, { ...world, ...more }), targets: targetsOf(world, own) };
}

function parse(tree: unknown, index: number): AnyConfigObject {
  const { object, findings, name } = parseObject(tree, inFile("test", index), {
    defaultNamespace: "default",
  });
  if (!object) throw new Error(`document ${index} ${name}: ${JSON.stringify(findings)}`);
  return object as AnyConfigObject;
}

function reader(objects: readonly AnyConfigObject[], world: World): FakeReader {
  const properties = { ...defaultProperties, type: "router" as const, namespace: "mesh-system", ...world.properties };
  const gateways = new GatewayIndex(world.settings?.scopeGatewayToNamespace ?? false);
  gateways.update([], objects.filter((o) => isKind(o, "Gateway")));
  const selected = gateways.select(properties.namespace, { istio: "ingressgateway", ...properties.labels });
  const virtualServices = new VirtualServiceIndex();
  const sources = objects.filter((o) => isKind(o, "VirtualService"));
  virtualServices.update(
    [],
    effectiveVirtualServices(sources, { domainSuffix: "cluster.local", defaultExportTo: ["*"] }),
  );
  const read = fakeReader({
    ...world,
    properties,
    mesh: { extensionProviders: [], ...world.mesh },
    gateways: selected,
    wasmPlugins: objects.filter((o) => isKind(o, "WasmPlugin")),
    services: services(objects),
    destinationRules: destinationRules(objects),
  });
  // The fake answers by host; a gateway's virtual services are found by gateway.
  return Object.create(read, {
    virtualServicesOf: { value: (gateway: string) => virtualServices.forGateway(gateway) },
  });
}

function services(objects: readonly AnyConfigObject[]): Service[] {
  return objects.filter((o) => isKind(o, "ServiceEntry")).flatMap((object) => {
    const entry = convertEntry(object, { clusterId: "Orch", drainingLabel: "mesh.io/draining" });
    return entry.hosts.map((host) => mergeEntries(host, [entry]).service);
  });
}

function destinationRules(objects: readonly AnyConfigObject[]): Record<string, EffectiveDestinationRule> {
  const rules: Record<string, EffectiveDestinationRule> = {};
  for (const { meta, spec, key } of objects.filter((o) => isKind(o, "DestinationRule"))) {
    rules[spec.host] = { name: meta.name, namespace: meta.namespace, spec, causes: [key] };
  }
  return rules;
}

function targetsOf(world: World, own: readonly Service[]): ServiceTarget[] {
  const [service] = own;
  return Object.entries(world.targets ?? {}).flatMap(([servicePort, endpointPort]) => {
    const port = service?.ports.find((candidate) => candidate.port === Number(servicePort));
    return service && port ? [{ service, port, endpointPort }] : [];
  });
}
