/**
 * The list of services, and the table of a service's endpoints.
 *
 * @module
 */
import { LazyList } from "../http/json_stream.ts";
import { protocolText } from "../registry/protocol.ts";
import { type Endpoint, type Health, type Service, serviceKey } from "../registry/types.ts";
import { objectUrl, serviceUrl } from "./links.ts";
import type { DebugView } from "./view.ts";
import { datedService } from "./world.ts";
import type { Cell, DescribedList, ListTable, StateWord } from "./list_page.ts";

const TONES: Readonly<Record<Health, StateWord["tone"]>> = { healthy: "good", draining: "warn", unhealthy: "bad" };

/** `/debug/registryz`: all services. A dated service has its date in ms since the epoch. */
export const SERVICES: DescribedList<Service, DebugView> = {
  title: "Services",
  noun: "service",
  none: "The mesh has no service.",
  rows: ({ services }) =>
    [...services.services()].sort((a, b) => (`${a.hostname}/${a.namespace}` < `${b.hostname}/${b.namespace}` ? -1 : 1)),
  json: (services) => LazyList.of(services, datedService),
  look: (view) => view,
  searched: serviceKey,
  filters: [{ name: "namespace", of: ({ namespace }) => namespace }],
  columns: [
    { title: "Host", cell: (service) => ({ text: service.hostname, link: serviceUrl(serviceKey(service)) }) },
    { title: "Namespace", cell: ({ namespace }) => namespace },
    { title: "Ports", cell: ({ ports }) => ports.map((one) => `${one.port} ${protocolText(one.protocol)}`).join(", ") },
    { title: "Resolution", cell: ({ resolution }) => resolution },
    {
      title: "Endpoints",
      cell: (service, { endpoints }) => healthCounts(endpoints.endpoints(serviceKey(service))),
    },
    { title: "Defined by", cell: definedBy },
  ],
};

/** The objects behind a service. A Service of an orchestrator is not an object of configuration, and has no page. */
export function definedBy({ cause, otherCauses = [] }: Service): Cell {
  return [cause, ...otherCauses].map((key) => key.startsWith("Service/") ? key : { text: key, link: objectUrl(key) });
}

function healthCounts(endpoints: readonly Endpoint[]): Cell {
  if (endpoints.length === 0) return { dim: "none" };
  const counts = Map.groupBy(endpoints, ({ health }) => health);
  return [...counts].map(([health, list]) => ({ tone: TONES[health], word: `${list.length} ${health}` }));
}

/** The endpoints of a service. */
export const ENDPOINTS: ListTable<Endpoint, void> = {
  noun: "endpoint",
  none: "The service has no endpoint: requests are answered 503.",
  searched: ({ address, workloadName, locality, health }) => [address, workloadName, locality, health].join(" "),
  columns: [
    { title: "Address", cell: ({ address, port }) => ({ mono: `${address}:${port}` }) },
    { title: "Port", cell: ({ portName }) => portName },
    { title: "Health", cell: ({ health }) => ({ tone: TONES[health], word: health }) },
    { title: "Locality", cell: ({ locality }) => locality },
    { title: "Workload", cell: ({ workloadName }) => workloadName },
    { title: "Network", cell: ({ network }) => network },
    { title: "Weight", cell: ({ weight }) => weight },
    {
      title: "Labels",
      cell: ({ labels }) => Object.entries(labels).map(([name, value]) => `${name}=${value}`).join(", "),
    },
  ],
};

/** The endpoints of a service in a locality. */
export type LocalityGroup = readonly [locality: string, endpoints: readonly Endpoint[]];

/** The endpoints of a service by locality. */
export const LOCALITIES: ListTable<LocalityGroup, void> = {
  noun: "locality",
  none: ENDPOINTS.none,
  columns: [
    { title: "Locality", cell: ([locality]) => locality || { dim: "none" } },
    { title: "Endpoints", cell: ([, list]) => list.length },
    { title: "Health", cell: ([, list]) => healthCounts(list) },
    { title: "Weight", cell: ([, list]) => list.reduce((sum, { weight }) => sum + (weight || 1), 0) },
  ],
};
