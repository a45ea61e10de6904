/**
 * A world for builders of gateways, from files in users' form (any accepted spelling), read by the real schemas and
 * indexes. A document `kind: World` describes the proxy: `properties`, `settings`, `mesh`, and the `targets` of its
 * `ownService` (service port to workload port).
 *
 * @module
 */
import { parseAllDocuments } from "yaml";
import { parseObject } from "../../../lib/config/object.ts";
import { type AnyConfigObject, isKind } from "../../../lib/config/types.ts";
import { convertEntry } from "../../../lib/registry/service_entry/convert.ts";
import { mergeEntries } from "../../../lib/registry/service_entry/merge.ts";
import type { Service } from "../../../lib/registry/types.ts";
import type { ServiceTarget } from "../../../lib/registry/inbound.ts";
import { type AskedReader, meshReader, type ReaderWorld } from "../mesh_reader.ts";
import { inFile } from "../../config/origins.ts";

/** The inputs of a gateway's builders. */
export interface GatewayWorld {
  readonly read: AskedReader;
  readonly targets: readonly ServiceTarget[];
}

interface World extends ReaderWorld {
  readonly kind?: string;
  /** Host of the service that selects the gateway's workload. */
  readonly ownService?: string;
  /** Ports of the service, each with the port at the workload. */
  readonly targets?: Readonly<Record<string, number>>;
}

/** Reads the documents of a YAML text (the parser needs permission `env`). Mistakes throw. */
export function gatewayWorld(text: string): GatewayWorld {
  return gatewayWorldOf(parseAllDocuments(text, { merge: true }).map((document) => document.toJS()));
}

/**
 * Reads documents. Mistakes throw.
 *
 * @param more Replaces parts of the `World` document.
 */
export function gatewayWorldOf(documents: readonly unknown[], more: ReaderWorld = {}): GatewayWorld {
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

function reader(objects: readonly AnyConfigObject[], world: World): AskedReader {
  const labels = { istio: "ingressgateway", ...world.properties?.labels };
  const properties = { type: "router" as const, namespace: "mesh-system", ...world.properties, labels };
  return meshReader({ ...world, properties, objects });
}

function services(objects: readonly AnyConfigObject[]): Service[] {
  return objects.filter((o) => isKind(o, "ServiceEntry")).flatMap((object) => {
    const entry = convertEntry(object, { clusterId: "Orch", drainingLabel: "mesh.io/draining" });
    return entry.hosts.map((host) => mergeEntries(host, [entry]).service);
  });
}

function targetsOf(world: World, own: readonly Service[]): ServiceTarget[] {
  const [service] = own;
  return Object.entries(world.targets ?? {}).flatMap(([servicePort, endpointPort]) => {
    const port = service?.ports.find((candidate) => candidate.port === Number(servicePort));
    return service && port ? [{ service, port, endpointPort }] : [];
  });
}
