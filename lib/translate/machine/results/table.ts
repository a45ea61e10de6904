/**
 * All kinds of results. A proxy's sets of a type come in the order of the rows.
 *
 * @module
 */
import { WORKLOAD_KEY } from "../../../mesh/affected.ts";
import type { ServiceTarget } from "../../../registry/inbound.ts";
import { isEastWestPart } from "../../../registry/labels.ts";
import type { Service } from "../../../registry/types.ts";
import type { EncodedResource } from "../../../resource/encoded.ts";
import { datagramClusters } from "../../cluster/datagrams.ts";
import { outboundClusters } from "../../cluster/outbound.ts";
import { forwardedClusters } from "../../cluster/forwarded.ts";
import { passedClusters } from "../../cluster/passed.ts";
import {
  assignmentEncoder,
  encodeCluster,
  encodeListener,
  encodeRouteConfiguration,
  TYPE,
} from "../../encode/encode.ts";
import { type EncodedPort, encodePort } from "../../encode/server_listener.ts";
import { type BareRouteConfiguration, encodeEntries, type VirtualHostEntry } from "../../encode/virtual_hosts.ts";
import { builtWithoutLimit } from "../../filters/on_demand.ts";
import { loadAssignments } from "../../endpoint/assignment.ts";
import { datagramAssignments } from "../../endpoint/datagrams.ts";
import { forwardedAssignments } from "../../endpoint/forwarded.ts";
import { passedAssignments } from "../../endpoint/passed.ts";
import { type ExtensionSets, extensionSets } from "../../extension/extensions.ts";
import { gatewayHosts } from "../../gateway/hosts.ts";
import { carriesDatagrams } from "../../gateway/server.ts";
import { type PlannedVirtualHost, samePlan } from "../../gateway/route_plan.ts";
import { type InboundParts, sameInboundParts, sameTargets } from "../../inbound/same_targets.ts";
import type { InboundTarget } from "../../inbound/target.ts";
import type { ListenerContribution } from "../../listener/contribution.ts";
import { CLOSED_MANAGER, inboundManager, type ManagerShape, shapeName } from "../../listener/inbound/manager.ts";
import { NO_PASSTHROUGH, passthrough } from "../../listener/inbound/passthrough.ts";
import { listenerContributions } from "../../listener/outbound/outbound.ts";
import { reported } from "../../message/finding.ts";
import { type EncodedName, encodeName, NAME_TABLE_TYPE_URL } from "../../name_table/encode.ts";
import { nameEntries } from "../../name_table/entry.ts";
import { clientClusterPatching } from "../../patches/apply.ts";
import { patchedVirtualHost } from "../../patches/routes.ts";
import { clientAssignments } from "../../proxyless/assignments.ts";
import { clientClusters } from "../../proxyless/clusters.ts";
import { clientListeners } from "../../proxyless/listeners.ts";
import { clientRoutes } from "../../proxyless/routes.ts";
import { libraryPorts } from "../../proxyless/servers.ts";
import { aspect } from "../../reader/aspect.ts";
import type { ProxyProfile } from "../../reader/proxy_profile.ts";
import { outboundVirtualHosts } from "../../route/sidecar.ts";
import { CLOSED_SERVICE, type ServiceChains } from "../../waypoint/chains.ts";
import { waypointHosts } from "../../waypoint/hosts.ts";
import { sameItems } from "../../../incremental/same_items.ts";
import {
  type BuiltPlannedHost,
  EMPTY_PLAN,
  type GatewayPlan,
  gatewayPlan,
  plannedVirtualHost,
  sameServiceTargets,
} from "./gateway_plan.ts";
import { directSets, patchedServiceChains, tunnelRoutes, waypointRoutes, waypointSets } from "./waypoint.ts";
import { bareRoute, type MergedListener, mergedListener } from "./outbound_results.ts";
import {
  type AnyResultRow,
  BUILD,
  type GroupCondition,
  joined,
  ofHosts,
  ofSets,
  result,
  type SetsByType,
} from "./row.ts";
import { type BaseSets, baseSets, type ClustersAndListeners, type InboundSets, inboundSets } from "./sets.ts";

const proxies = ({ library }: ProxyProfile) => !library;
const libraries = ({ library }: ProxyProfile) => library;
const outbound = (profile: ProxyProfile) => profile.outbound;
const gateways = (profile: ProxyProfile) => profile.gateways;
const waypoints = (profile: ProxyProfile) => profile.waypoint;

/** Few gateways pass connections on by name. */
const passes: GroupCondition = {
  on: WORKLOAD_KEY.gateways,
  holds: ({ mesh, properties: { namespace, labels } }) => mesh.gateways.passed(namespace, labels).length > 0,
};

/** Few proxies are gateways between networks. */
const forwards: GroupCondition = {
  on: WORKLOAD_KEY.gateways,
  holds: ({ settings, properties: { labels } }) => settings.multiNetwork && isEastWestPart(labels),
};

/** Few gateways carry datagrams. */
const datagrams: GroupCondition = {
  on: WORKLOAD_KEY.gateways,
  holds: ({ mesh, properties: { namespace, labels } }) =>
    mesh.gateways.select(namespace, labels).some(({ spec }) => spec.servers.some(carriesDatagrams)),
};

export const RESULTS = {
  clusters: ofHosts({
    type: TYPE.cluster,
    for: proxies,
    narrowed: true,
    builder: () => (read, host, _, report) =>
      outboundClusters(read, host).map(reported("not-as-written", report))
        .flatMap(clientClusterPatching(read, report)).map(encodeCluster),
    failure: BUILD.clusters,
    cache: "clusters",
  }),

  assignments: ofHosts({
    type: TYPE.assignment,
    for: proxies,
    narrowed: true,
    builder: () => {
      const encode = assignmentEncoder();
      return (read, host, _, report) => loadAssignments(read, host).map(reported("not-as-written", report)).map(encode);
    },
    failure: BUILD.endpoints,
  }),

  /** Clusters for connections passed on by name. */
  passedClusters: ofHosts({
    type: TYPE.cluster,
    for: gateways,
    when: passes,
    builder: () => (read, host, _, report) =>
      passedClusters(read, host).flatMap(clientClusterPatching(read, report)).map(encodeCluster),
    failure: BUILD.clusters,
    cache: "clusters",
  }),

  passedAssignments: ofHosts({
    type: TYPE.assignment,
    for: gateways,
    when: passes,
    builder: () => {
      const encode = assignmentEncoder();
      return (read, host) => passedAssignments(read, host).map(encode);
    },
    failure: BUILD.endpoints,
  }),

  /** Clusters of connections that gateways between networks forward. */
  forwardedClusters: ofHosts({
    type: TYPE.cluster,
    for: waypoints,
    when: forwards,
    builder: () => (read, host) => forwardedClusters(read, host).map(encodeCluster),
    failure: BUILD.clusters,
    cache: "clusters",
  }),

  forwardedAssignments: ofHosts({
    type: TYPE.assignment,
    for: waypoints,
    when: forwards,
    builder: () => {
      const encode = assignmentEncoder();
      return (read, host) => forwardedAssignments(read, host).map(encode);
    },
    failure: BUILD.endpoints,
  }),

  datagramClusters: ofHosts({
    type: TYPE.cluster,
    for: gateways,
    narrowed: true,
    when: datagrams,
    builder: () => (read, host, _, report) =>
      datagramClusters(read, host).flatMap(clientClusterPatching(read, report)).map(encodeCluster),
    failure: BUILD.clusters,
    cache: "clusters",
  }),

  datagramAssignments: ofHosts({
    type: TYPE.assignment,
    for: gateways,
    narrowed: true,
    when: datagrams,
    builder: () => {
      const encode = assignmentEncoder();
      return (read, host) => datagramAssignments(read, host).map(encode);
    },
    failure: BUILD.endpoints,
  }),

  libraryClusters: ofHosts({
    type: TYPE.cluster,
    for: libraries,
    builder: () => (read, host, _, report) => clientClusters(read, host, report).map(encodeCluster),
    failure: BUILD.clusters,
    cache: "clusters",
  }),

  libraryAssignments: ofHosts({
    type: TYPE.assignment,
    for: libraries,
    builder: () => {
      const encode = assignmentEncoder();
      return (read, host) => clientAssignments(read, host).map(encode);
    },
    failure: BUILD.endpoints,
  }),

  libraryListeners: ofHosts({
    type: TYPE.listener,
    for: libraries,
    builder: () => (read, host) => clientListeners(read, host).map(encodeListener),
    failure: BUILD.listeners,
  }),

  libraryRoutes: ofHosts({
    type: TYPE.route,
    for: libraries,
    builder: () => (read, host, _, report) =>
      clientRoutes(read, host).map(reported("not-as-written", report)).map(encodeRouteConfiguration),
    failure: BUILD.routes,
    cache: "routes",
  }),

  /** Parts of outbound listeners. */
  contributions: result({
    of: "host",
    for: outbound,
    builder: () => (read, host): readonly ListenerContribution[] => listenerContributions(read, host),
    fallback: () => [],
    failure: BUILD.listeners,
  }),

  /** Outbound listeners, from the contributions to each. */
  listeners: joined("listeners", {
    of: "listener",
    for: outbound,
    builder: () => mergedListener,
    fallback: (): MergedListener => ({ listener: undefined, conflicts: [] }),
    failure: BUILD.listeners,
    sameInput: sameItems,
    resources: ({ listener }) => listener === undefined ? [] : [listener],
  }),

  /** Virtual hosts of outbound route configurations. */
  virtualHosts: result({
    of: "host",
    for: outbound,
    builder: () => (read, host, _: undefined, report): readonly VirtualHostEntry[] =>
      encodeEntries(
        outboundVirtualHosts(read, host).map(reported("not-as-written", report)),
        (routes, built) => {
          const patched = patchedVirtualHost(read, routes, built, { context: "SIDECAR_OUTBOUND" }, report);
          return read.property("onDemand") ? patched.map(builtWithoutLimit) : patched;
        },
      ),
    fallback: () => [],
    failure: BUILD.virtualHosts,
    cache: "routes",
    resources: (entries) => entries.flatMap(({ resource }) => resource ?? []),
  }),

  /** Outbound route configurations without the virtual hosts of hosts. */
  routes: joined("routes", {
    of: "route",
    for: outbound,
    builder: () => bareRoute,
    fallback: (): BareRouteConfiguration | undefined => undefined,
    failure: BUILD.routes,
    cache: "routes",
    resources: (route) => route === undefined ? [] : [route.resource],
  }),

  /** Clusters and listeners without a host. */
  base: ofSets<BaseSets>({
    builder: (empty) => (read, _name, _input, report) => baseSets(read, empty, report),
    fallback: (empty) => {
      const none = { clusters: empty, listeners: empty };
      return { ...none, added: none };
    },
    failure: BUILD.base,
    resources: ({ clusters, listeners, added }) =>
      [clusters, listeners, added.clusters, added.listeners].flatMap(({ list }) => list),
    sets: byType,
    added: ({ added }) => byType(added),
  }),

  /** Extension configurations, requested by name from filters of listeners. */
  extensions: ofSets({
    builder: (empty) => (read, _name, _input, report): ExtensionSets => extensionSets(read, empty, report),
    fallback: (empty) => ({ configs: empty, pullSecrets: new Map() }),
    failure: BUILD.extensions,
    resources: ({ configs }) => configs,
    notesInUse: true,
    sets: ({ configs }) => ({ [TYPE.extension]: configs }),
  }),

  /** The hosts of a gateway or waypoint with clusters. Undefined: all hosts. */
  gatewayHosts: result({
    of: "sole",
    for: (profile) => gateways(profile) || waypoints(profile),
    builder: () => (read): ReadonlySet<string> | undefined => {
      if (aspect(read, "waypoint")) return waypointHosts(read);
      return read.settings.filterGatewayClusterConfig ? gatewayHosts(read) : undefined;
    },
    fallback: () => undefined,
    failure: BUILD.gateways,
  }),

  /** Entries of DNS tables. */
  names: result({
    of: "host",
    onDemand: true,
    builder: () => (read, host): readonly EncodedName[] => nameEntries(read, host).map(encodeName),
    fallback: () => [],
    failure: BUILD.names,
    resources: (names) => names.map(({ host, bytes }) => ({ typeUrl: NAME_TABLE_TYPE_URL, name: host, value: bytes })),
  }),

  /** The inbound side of a workload, by ports. */
  inbound: result({
    of: "workload",
    builder: (empty) => (read, _, input: InboundParts, report) => inboundSets(read, input, empty, report),
    fallback: (empty): InboundSets => ({ clusters: empty, listeners: empty, secrets: empty }),
    failure: BUILD.inbound,
    sameInput: sameInboundParts,
    resources: ({ clusters, listeners, secrets }) => [clusters, listeners, secrets].flatMap(({ list }) => list),
  }),

  /** Filter chains of unnamed ports, by the policies of a workload. */
  passthrough: result({
    of: "workload",
    builder: () => (read) => passthrough(read),
    fallback: () => NO_PASSTHROUGH,
    failure: BUILD.inbound,
  }),

  /** By the policies of a workload and the shape. */
  managers: result({
    of: "workload",
    builder: () => (read, _, shape: ManagerShape) => inboundManager(read, shape),
    fallback: () => CLOSED_MANAGER,
    failure: BUILD.inbound,
    sameInput: (a, b) => shapeName(a) === shapeName(b),
  }),

  /** The demands of a library's ports on callers. */
  libraryPorts: result({
    of: "workload",
    for: libraries,
    builder: () => (read, _, targets: readonly InboundTarget[], report): readonly EncodedPort[] =>
      libraryPorts(read, targets, report).map(encodePort),
    fallback: () => [],
    failure: BUILD.inbound,
    sameInput: sameTargets,
  }),

  /** By the services at a gateway's addresses. */
  gatewayPlans: result({
    of: "workload",
    for: gateways,
    builder: () => (read, _, targets: readonly ServiceTarget[], report): GatewayPlan =>
      gatewayPlan(read, targets, report),
    fallback: () => EMPTY_PLAN,
    failure: BUILD.gateways,
    sameInput: sameServiceTargets,
  }),

  /** By route configuration and virtual host. */
  gatewayVirtualHosts: result({
    of: "workload",
    for: gateways,
    builder: () => (read, _, planned: PlannedVirtualHost, report): BuiltPlannedHost | undefined =>
      plannedVirtualHost(read, planned, report),
    fallback: () => undefined,
    failure: BUILD.gateways,
    sameInput: samePlan,
    resources: (planned) => planned?.resource === undefined ? [] : [planned.resource],
  }),

  /** The filter chains of a service behind waypoints, by service and policies. */
  waypointChains: result({
    of: "workload",
    for: waypoints,
    builder: () => (read, _, service: Service, report): ServiceChains => patchedServiceChains(read, service, report),
    fallback: () => CLOSED_SERVICE,
    failure: BUILD.inbound,
  }),

  /** The route configurations of a service behind waypoints. */
  waypointRoutes: result({
    of: "workload",
    for: waypoints,
    builder: () => (read, _, service: Service, report): readonly EncodedResource[] =>
      waypointRoutes(read, service, report),
    fallback: (): readonly EncodedResource[] => [],
    failure: BUILD.routes,
    cache: "routes",
    resources: (routes) => routes,
  }),

  /** The listeners of a waypoint, from the chains of its services. */
  waypointListeners: result({
    of: "workload",
    for: waypoints,
    builder: (empty) => (read, _, services: readonly ServiceChains[], report): InboundSets =>
      waypointSets(read, services, empty, report),
    fallback: (empty): InboundSets => ({ clusters: empty, listeners: empty, secrets: empty }),
    failure: BUILD.inbound,
    sameInput: sameItems,
    resources: ({ clusters, listeners, secrets }) => [clusters, listeners, secrets].flatMap(({ list }) => list),
  }),

  /** The listeners of a waypoint for connections to addresses of workloads. */
  waypointDirect: result({
    of: "workload",
    for: waypoints,
    builder: (empty) => (read, _name, _input: undefined, report): InboundSets => directSets(read, empty, report),
    fallback: (empty): InboundSets => ({ clusters: empty, listeners: empty, secrets: empty }),
    failure: BUILD.inbound,
    resources: ({ clusters, listeners }) => [clusters, listeners].flatMap(({ list }) => list),
  }),

  /** The routes of CONNECTs: addresses of workloads of a waypoint, and names of services. */
  waypointTunnelRoutes: result({
    of: "workload",
    for: waypoints,
    builder: () => (read, _name, _input: undefined, report): readonly EncodedResource[] => tunnelRoutes(read, report),
    fallback: (): readonly EncodedResource[] => [],
    failure: BUILD.routes,
    cache: "routes",
    resources: (routes) => routes,
  }),
} as const;

function byType({ clusters, listeners }: ClustersAndListeners): SetsByType {
  return { [TYPE.cluster]: clusters, [TYPE.listener]: listeners };
}

/** The rows of every translator. */
export type Results = typeof RESULTS;

/** The rows of a translator, with further rows. */
export type ResultRows = Results & Readonly<Record<string, AnyResultRow>>;
