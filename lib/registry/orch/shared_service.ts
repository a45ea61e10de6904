/**
 * Services that a cluster shares with other clusters, as pages show them.
 *
 * @module
 */
import type { Service } from "../types.ts";
import type { OrchRegistryOptions } from "./options.ts";
import { sharedHostname } from "./service.ts";

/** Which clients may use a cluster's endpoints of a service, in the words of Istio's page. */
export type Discoverability = "AlwaysDiscoverable" | "DiscoverableFromSameCluster";

/** A service exported from a cluster, or imported into a cluster. */
export interface SharedService {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly exported: boolean;
  readonly imported: boolean;
  /** First address of the import; empty: none. */
  readonly address: string;
  /** By host; only of services in the cluster. */
  readonly discoverability: Readonly<Record<string, Discoverability>>;
}

/** What a registry knows of a shared service. */
export interface KnownShare {
  /** The service of the cluster; undefined: there is none. */
  readonly service: Service | undefined;
  /** The service under its host of all clusters; undefined: there is none. */
  readonly served: Service | undefined;
  readonly isExported: boolean;
  readonly isImported: boolean;
}

/** @param id `namespace/name` */
export function sharedService(
  id: string,
  { clusterId, shared }: Pick<OrchRegistryOptions, "clusterId" | "shared">,
  { service, served, isExported, isImported }: KnownShare,
): SharedService {
  const [namespace = "", name = ""] = id.split("/");
  const discoverability: Record<string, Discoverability> = {};
  const everywhere = isExported ? "AlwaysDiscoverable" : "DiscoverableFromSameCluster";
  if (service !== undefined) {
    const isLocal = shared?.clusterLocal === true;
    discoverability[service.hostname] = isLocal ? "DiscoverableFromSameCluster" : everywhere;
    if (shared?.host) discoverability[sharedHostname(id)] = everywhere;
  }
  return {
    ...{ cluster: clusterId, namespace, name, exported: isExported, imported: isImported },
    ...{ address: served?.addresses[0] ?? "", discoverability },
  };
}
