/**
 * `/debug/ambient_services`: for each service whether its waypoint is really on the way, and which tunnels know it.
 *
 * @module
 */
import * as z from "zod";
import type { BindableService } from "../ambient/binding.ts";
import { hostsOf } from "../ambient/objects.ts";
import { byAge } from "../ambient/services.ts";
import { LazyList } from "../http/json_stream.ts";
import type { ServiceKey } from "../registry/types.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import { ADDRESS } from "../xds/protocol/types.ts";
import { Bindings, type BoundService, wayCell, wayOf } from "./ambient_bindings.ts";
import { objectUrl, serviceUrl } from "./links.ts";
import type { DescribedList } from "./list_page.ts";
import { acksCell, ConnectedTunnels } from "./tunnel_acks.ts";
import type { DebugView } from "./view.ts";

/** A host that tunnels get as a service. */
interface ServiceRow {
  /** `namespace/host` */
  readonly service: ServiceKey;
  readonly object: BindableService;
  readonly resource: EncodedResource;
  readonly bound: BoundService | undefined;
}

/** The page. */
export const AMBIENT_SERVICES: DescribedList<ServiceRow, ConnectedTunnels> = {
  title: "Services in ambient mode",
  noun: "service",
  none: "Node tunnels get no service, or PILOT_ENABLE_AMBIENT is off.",
  beside: [
    { title: "Pods", link: "/debug/ambient_pods" },
    { title: "What tunnels get", link: "/debug/ambientz" },
  ],
  query: { waypoint: z.string().max(600).optional() },
  rows: serviceRows,
  json: (rows, view) => {
    const tunnels = new ConnectedTunnels(view);
    return LazyList.of(rows, (row) => rowJson(row, tunnels));
  },
  look: (view) => new ConnectedTunnels(view),
  searched: ({ service }) => service,
  filters: [
    { name: "namespace", of: ({ object }) => object.meta.namespace, forPrograms: "a namespace" },
    {
      name: "way",
      of: ({ bound }) => bound === undefined ? "none" : wayOf(bound),
      options: ["waypoint", "direct", "pods", "closed", "none"],
      forPrograms: "waypoint, direct, pods, closed or none",
    },
  ],
  columns: [
    {
      title: "Service",
      cell: ({ service }) => ({ text: service, link: serviceUrl(service) }),
    },
    {
      title: "Waypoint",
      cell: ({ bound }) =>
        bound === undefined
          ? { dim: "none asked for" }
          : { text: bound.binding.waypoint, link: objectUrl(`ApiGateway/${bound.binding.waypoint}`) },
    },
    {
      title: "Way",
      cell: ({ bound }) => bound === undefined ? wayCell(bound) : [wayCell(bound), { dim: bound.sentence }],
    },
    {
      title: "Policies",
      cell: ({ bound }) =>
        bound?.policies.map((key) => ({ text: key.slice(key.indexOf("/") + 1), link: objectUrl(key) })) ?? [],
    },
    { title: "Tunnels", cell: ({ resource }, tunnels) => acksCell(tunnels.of(resource)) },
  ],
};

function serviceRows(view: DebugView, query: URLSearchParams): readonly ServiceRow[] {
  const sets = view.tunnels?.sets(ADDRESS) ?? [];
  const bindings = new Bindings(view);
  const waypoint = query.get("waypoint");
  const objects: BindableService[] = [
    ...view.facts.list("Service"),
    ...view.store.list("ServiceEntry").toSorted(byAge),
  ];
  const found = new Map<string, ServiceRow>();
  for (const object of objects) {
    const bound = bindings.of(object);
    if (waypoint && bound?.binding.waypoint !== waypoint) continue;
    for (const host of hostsOf(object, view.domain)) {
      const resource = sets.flatMap((set) => set.get(host) ?? [])[0];
      // Of several objects with a host, the first is behind the resource.
      if (resource === undefined || found.has(host)) continue;
      found.set(host, { service: host as ServiceKey, object, resource, bound });
    }
  }
  return [...found.values()].sort((a, b) => (a.service < b.service ? -1 : 1));
}

function rowJson({ service, object: { key }, resource, bound }: ServiceRow, tunnels: ConnectedTunnels) {
  return {
    ...{ service, object: key },
    ...bound && {
      ...{ waypoint: bound.binding.waypoint, reason: bound.binding.reason, instances: bound.instances },
      ...{ way: wayOf(bound), why: bound.sentence, policies: bound.policies },
    },
    tunnels: { connected: tunnels.size, ...tunnels.of(resource) },
  };
}
