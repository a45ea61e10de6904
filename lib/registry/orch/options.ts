/**
 * Settings of the registry of the orchestrator's objects, and the kinds of objects in the registry.
 *
 * @module
 */
import type { AnyFact, Fact } from "../../config/facts/types.ts";
import type { StandInAddresses } from "../allocation/stand_ins.ts";
import type { NamedGateway } from "./entrances.ts";

/** Kinds in the registry. */
export const REGISTRY_KINDS = [
  ...["Namespace", "Node", "Service", "EndpointSlice", "Endpoints", "Pod"] as const,
  ...["ServiceExport", "ServiceImport"] as const,
] as const;

/** Name of a kind in the registry. */
export type RegistryKind = (typeof REGISTRY_KINDS)[number];

/** An object in the registry. */
export type RegistryFact = { [K in RegistryKind]: Fact<K> }[RegistryKind];

/** Whether the registry reads an object. */
export function isRegistryFact(fact: AnyFact): fact is RegistryFact {
  return isRegistryKind(fact.kind);
}

/** Whether the registry reads objects of a kind. */
export function isRegistryKind(kind: string): kind is RegistryKind {
  return (REGISTRY_KINDS as readonly string[]).includes(kind);
}

/** The exports and imports of services (https://multicluster.sigs.k8s.io/concepts/multicluster-services-api/). */
export interface SharedServices {
  /** An imported service has its own host, `NAME.NAMESPACE.svc.clusterset.local` (`ENABLE_MCS_HOST`). */
  readonly host: boolean;
  /** A host of one cluster stands for this cluster's endpoints only, exported or not (`ENABLE_MCS_CLUSTER_LOCAL`). */
  readonly clusterLocal: boolean;
}

/** Settings of the registry. */
export interface OrchRegistryOptions {
  /** Stand-in addresses of services, shared with other registries. Default: not shared. */
  readonly standIns?: StandInAddresses;
  /** Cluster of all reports of the registry. */
  readonly clusterId: string;
  /** DNS suffix of services, such as `cluster.local`. */
  readonly domain: string;
  /** Namespace whose label `topology.mesh.io/network` names the network of workloads without such a label. */
  readonly systemNamespace: string;
  /** Trust domain of the identities in annotations that name service accounts. */
  readonly trustDomain: () => string;
  /** Network of an address without a network label; empty: the unnamed network. */
  readonly networkOf: (address: string) => string;
  /** Gateways of networks for a service's host, from the mesh networks. */
  readonly namedGateways: (hostname: string) => readonly NamedGateway[];
  /** Services select workload entries of their namespace (`PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES`). */
  readonly selectWorkloadEntries: boolean;
  /** A pod of two address families is a single endpoint with both addresses (`MESH_DUAL_STACK`). */
  readonly dualStack: boolean;
  /**
   * Labels of services with sticky sessions, whose ending endpoints drain (`PILOT_PERSISTENT_SESSION_LABEL`,
   * `PILOT_PERSISTENT_SESSION_HEADER_LABEL`).
   */
  readonly stickyLabels: readonly string[];
  /**
   * Clients of other clusters get only endpoints of exported services (`ENABLE_MCS_SERVICE_DISCOVERY`); undefined:
   * clients get all endpoints, and exports and imports have no effect.
   */
  readonly shared: SharedServices | undefined;
  /** Workloads with this label drain (`PILOT_DRAINING_LABEL`); empty: no workloads drain. */
  readonly drainingLabel: string;
}
