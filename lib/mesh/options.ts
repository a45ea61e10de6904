/**
 * The inputs of a mesh.
 *
 * @module
 */
import type { MeshConfig, MeshNetworks } from "../config/mesh/types.ts";
import type { Endpoint, Service, ServiceKey, Workload } from "../registry/types.ts";
import type { ObjectIndex } from "./object_index.ts";

/** The kinds with objects of which a mesh may have two versions at the same time. */
export const FORKED_KINDS = ["DestinationRule", "ProxyFilter", "Telemetry", "VirtualService", "WasmPlugin"] as const;

export type ForkedKind = (typeof FORKED_KINDS)[number];

/** The source of services and endpoints; answers are identity-stable while nothing changes. */
export interface ServiceSource {
  service(key: ServiceKey): Service | undefined;
  endpoints(key: ServiceKey): readonly Endpoint[];
  /** All workloads by id, for namespaces whose labels ask for a waypoint. Absent: there are none. */
  workloads?(): Iterable<readonly [id: string, workload: Workload]>;
  /** The workloads at an address in one spelling. Absent: there are none. */
  workloadsAt?(address: string): readonly Workload[];
}

/** The source of token issuers' keys. */
export interface TokenKeySource {
  /**
   * The keys of a place (`keyPlaceOf`) as JSON text of a key set; undefined: there are none yet, and never were.
   */
  keysAt(place: string): string | undefined;
}

/** The inputs of a mesh, fixed for the life of the mesh. Another mesh configuration makes another mesh. */
export interface MeshOptions {
  readonly config: MeshConfig;
  readonly networks: MeshNetworks;
  /** DNS suffix, `--domain`. */
  readonly domainSuffix: string;
  readonly source: ServiceSource;
  /** Default: no issuer's keys are known. */
  readonly tokenKeys?: TokenKeySource | undefined;
  readonly scopeGatewayToNamespace: boolean;
  /** `ENABLE_SELECTOR_BASED_ORCH_GATEWAY_POLICY`. See {@linkcode Mesh.gatewaySelectors}. */
  readonly gatewaySelectors: boolean;
  readonly enhancedDestinationRuleMerge: boolean;
  /** Whether namespaces with the same view share a scope. */
  readonly sharedScopes: boolean;
  /** Waypoints have services. Default: nothing is known about waypoints. */
  readonly waypoints?: boolean;
  /**
   * Gateways use the waypoints of services that ask for it; needs `waypoints`. Default: gateways use no waypoint.
   * `opensWithoutWaypoint`: `MESH_WAYPOINT_FAIL_OPEN`.
   */
  readonly ingressWaypoints?: { readonly opensWithoutWaypoint: boolean } | undefined;
  /**
   * Services of scope GLOBAL are reached from other networks. Default: no service is. `opensWithoutWaypoint`:
   * `MESH_WAYPOINT_FAIL_OPEN`.
   */
  readonly multiNetwork?: { readonly opensWithoutWaypoint: boolean } | undefined;
  /** Further indexes. Default: none. */
  readonly indexes?: readonly ObjectIndex[];
}
