/**
 * The resources of node tunnels: `/debug/ambientz`, in the form of Istio's page of that name.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import type { istio } from "../../proto/gen/types.ts";
import { LazyList, LazyObject } from "../http/json_stream.ts";
import { messageJson } from "../pb/json.ts";
import { decode } from "../pb/reflect.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import { ADDRESS, AUTHORIZATION } from "../xds/protocol/types.ts";
import { objectUrl } from "./links.ts";
import type { Cell, CellPart, DescribedList } from "./list_page.ts";
import { acksCell, ConnectedTunnels } from "./tunnel_acks.ts";
import type { DebugView } from "./view.ts";

/** Sorts of resources, with the field of the page. */
const SORTS = { workload: "workloads", service: "services", policy: "policies" } as const;

/** A resource of tunnels. */
interface TunnelRow {
  readonly sort: keyof typeof SORTS;
  readonly namespace: string;
  readonly resource: EncodedResource;
}

/** `/debug/ambientz`: workloads, services and policies, each by name. */
export const TUNNEL_RESOURCES: DescribedList<TunnelRow, ConnectedTunnels> = {
  title: "Node tunnels",
  noun: "resource",
  beside: [
    { title: "Pods", link: "/debug/ambient_pods" },
    { title: "Services and their waypoints", link: "/debug/ambient_services" },
  ],
  none: "Node tunnels get nothing: the mesh has no workload, or PILOT_ENABLE_AMBIENT is off.",
  rows: tunnelRows,
  json: (rows) =>
    new LazyObject(
      (Object.keys(SORTS) as TunnelRow["sort"][]).map((sort) =>
        [SORTS[sort], LazyList.of(rows.filter((row) => row.sort === sort), rowJson)] as const
      ),
    ),
  look: (view) => new ConnectedTunnels(view),
  searched: ({ resource }) => resource.name,
  filters: [
    { name: "sort", of: ({ sort }) => sort, options: Object.keys(SORTS) },
    { name: "namespace", of: ({ namespace }) => namespace, forPrograms: "a namespace" },
  ],
  columns: [
    {
      title: "Name",
      cell: ({ sort, resource: { name, causes } }) => {
        const objects = causes.map((key) => ({ text: key, link: objectUrl(key) }));
        return [{ mono: name }, { dim: objects.length === 0 ? sort : `${sort} of` }, ...objects];
      },
    },
    { title: "Addresses", cell: (row) => addressCells(messageOf(row)) },
    { title: "Way", cell: wayCells },
    { title: "Policies", cell: (row) => [...messageOf(row).workload?.authorization_policies ?? []] },
    { title: "Tunnels", cell: ({ resource }, tunnels) => acksCell(tunnels.of(resource)) },
  ],
};

function tunnelRows({ tunnels }: DebugView): TunnelRow[] {
  const named = (typeUrl: string) => [...tunnels?.sets(typeUrl)?.flatMap((set) => [...set]) ?? []].sort(byName);
  const addresses = named(ADDRESS).map((resource): TunnelRow => {
    const parts = resource.name.split("/");
    // A service is NAMESPACE/HOST. Names of workloads have the namespace behind cluster, group and kind.
    return parts.length === 2
      ? { sort: "service", namespace: parts[0]!, resource }
      : { sort: "workload", namespace: namespaceOf(parts, resource), resource };
  });
  const policies = named(AUTHORIZATION).map((resource): TunnelRow => ({
    ...{ sort: "policy", namespace: resource.name.split("/")[0]!, resource },
  }));
  return [...addresses, ...policies];
}

/** Workloads that stand for others have names of other forms. */
function namespaceOf(parts: readonly string[], resource: EncodedResource): string {
  const isUsual = parts[0] !== "NetworkGateway" && parts[1] !== "SplitHorizonWorkload";
  return isUsual ? parts[3] ?? "" : messageOf({ sort: "workload", resource }).workload?.namespace ?? "";
}

function byName(a: EncodedResource, b: EncodedResource): number {
  return a.name < b.name ? -1 : 1;
}

const NO_ADDRESS: istio.workload.Address = {};

function messageOf({ sort, resource }: Pick<TunnelRow, "sort" | "resource">): istio.workload.Address {
  return sort === "policy" ? NO_ADDRESS : decode<istio.workload.Address>("istio.workload.Address", resource.value);
}

function rowJson({ sort, resource }: TunnelRow): unknown {
  if (sort === "policy") return camelCased(messageJson("istio.security.Authorization", resource.value));
  return camelCased(messageJson("istio.workload.Address", resource.value)[sort]);
}

/** Fields whose keys are no names of fields. */
const MAPS: ReadonlySet<string> = new Set(["services"]);

/** JSON with the names of fields in protobuf's JSON form: `service_port` as `servicePort`. */
function camelCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCased);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const name = key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      if (!MAPS.has(key)) return [name, camelCased(one)];
      return [name, Object.fromEntries(Object.entries(one as object).map(([entry, of]) => [entry, camelCased(of)]))];
    }),
  );
}

function ipText(bytes: Uint8Array): string {
  return ipaddr.fromByteArray([...bytes]).toString();
}

function addressCells({ workload, service }: istio.workload.Address): Cell {
  const own = workload?.addresses?.map(ipText) ?? [];
  const virtual =
    service?.addresses?.map(({ address, length }) =>
      length === undefined ? ipText(address!) : `${ipText(address!)}/${length}`
    ) ?? [];
  const names = workload?.hostname ? [workload.hostname] : [];
  const network = workload?.network ? [{ dim: `in network ${workload.network}` }] : [];
  return [...[...own, ...names, ...virtual].map((mono) => ({ mono })), ...network];
}

/** How tunnels reach a workload, and the waypoint on the way to a workload or a service. */
function wayCells(row: TunnelRow): Cell {
  const message = messageOf(row);
  const waypoint = waypointText(message);
  const reach = row.sort === "workload" ? reachParts(message) : [];
  return waypoint === "" ? reach : [...reach, `by the waypoint ${waypoint}`];
}

function reachParts({ workload }: istio.workload.Address): readonly CellPart[] {
  const { address, hostname } = workload?.network_gateway ?? {};
  const gateway = address?.address === undefined ? hostname?.hostname : ipText(address.address);
  const protocol = workload?.tunnel_protocol === 1 ? "HBONE" : "plain text";
  const way = gateway === undefined ? protocol : `HBONE by gateway ${gateway}`;
  return workload?.status === 1 ? [way, { tone: "warn", word: "not ready" }] : [way];
}

/** The host name or address of a waypoint, as tunnels get it. Empty: none. */
export function waypointText({ workload, service }: istio.workload.Address): string {
  const waypoint = (workload ?? service)?.waypoint;
  if (waypoint?.hostname !== undefined) return waypoint.hostname.hostname ?? "";
  return waypoint?.address?.address === undefined ? "" : ipText(waypoint.address.address);
}
