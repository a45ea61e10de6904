/**
 * The page about the collections in the server's memory, and their inputs.
 *
 * @module
 */
import { FACT_API_VERSIONS, FACT_KINDS, type FactKind } from "../config/facts/types.ts";
import { KINDS } from "../config/kinds/kinds.ts";
import { apiVersionOfKind, spellingsOfKind } from "../config/spelling/spelling.ts";
import { type HttpRequest, type HttpResponse, jsonResponse } from "../http/message.ts";
import type { DebugView } from "./view.ts";

/** A collection: objects read by the server, or made from other collections. */
interface Collection {
  readonly name: string;
  /** The present number of objects. */
  readonly size: number;
  /**
   * Names of the source collections, or words for sources without a name on this page; absent: the collection is read.
   */
  readonly madeOf?: readonly string[];
}

/** Facts behind services, endpoints and workloads. */
const RUNNING: readonly FactKind[] = ["Namespace", "Node", "Service", "Endpoints", "EndpointSlice", "Pod"];

/** `/debug/resourcesz`: the kinds read by the server, the mesh's kinds first. */
export function resourcesz(request: HttpRequest, _view: DebugView): HttpResponse {
  return jsonResponse([...KINDS.map(kindName), ...FACT_KINDS.map(factName)], request);
}

/** `/debug/krtz`: the collections with their sizes, the read collections first. Empty read collections are left out. */
export function krtz(request: HttpRequest, view: DebugView): HttpResponse {
  const { store, facts, services, endpoints, translator } = view;
  const kinds = KINDS.map((kind) => ({ name: kindName(kind), objects: store.list(kind) }));
  const derived = kinds.map(({ name, objects }) => ({
    name: `derived ${name}`,
    size: objects.filter(({ origin }) => origin.from === "derived").length,
    madeOf: ["Ingresses", "workloads that register themselves"],
  })).filter(({ size }) => size > 0);
  const read = [
    ...kinds.map(({ name, objects }) => ({ name, size: objects.length })),
    ...FACT_KINDS.map((kind) => ({ name: factName(kind), size: facts.list(kind).length })),
  ].filter(({ size }) => size > 0);
  const running = [...RUNNING.map(factName), kindName("ServiceEntry"), kindName("WorkloadEntry")];
  const { classes, proxies } = translator.counts;
  const collections: Collection[] = [
    ...read,
    ...derived,
    { name: "services", size: count(services.services()), madeOf: running },
    { name: "services with endpoints", size: count(endpoints.entries()), madeOf: running },
    { name: "clusters of services", size: view.clusters().length, madeOf: [factName("Secret")] },
    { name: "proxies", size: proxies, madeOf: ["streams"] },
    { name: "proxy classes", size: classes, madeOf: ["proxies", "services", "kinds of the mesh"] },
  ];
  return jsonResponse(collections, request);
}

function kindName(kind: (typeof KINDS)[number]): string {
  return `${apiVersionOfKind(kind)}/${spellingsOfKind(kind)[0] ?? kind}`;
}

function factName(kind: FactKind): string {
  return `${FACT_API_VERSIONS[kind]}/${kind}`;
}

function count(items: Iterable<unknown>): number {
  let size = 0;
  for (const _ of items) size++;
  return size;
}
