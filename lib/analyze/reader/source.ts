/**
 * The objects and settings for an analysis.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import type { FactView } from "../../config/facts/view.ts";
import type { ConfigStore } from "../../config/store.ts";
import type { AttachOptions } from "../../gateway_api/attach/types.ts";
import { attachOptions, type GatewayApiSettings, type GatewayApiSource } from "../../gateway_api/groups/options.ts";
import type { GatewayApiVerdicts } from "../../gateway_api/groups/verdicts.ts";
import type { Mesh } from "../../mesh/mesh.ts";
import type { Labels } from "../../registry/labels.ts";
import type { ObjectGroups } from "./groups.ts";
import type { Instants } from "./instants.ts";

export type { GatewayApiSettings } from "../../gateway_api/groups/options.ts";

/** Settings that findings depend on. */
export interface AnalysisSettings {
  /** DNS suffix of the mesh, `--domain`. */
  readonly domainSuffix: string;
  /**
   * Services of an orchestrator may exist without an object here. Hosts under `svc.<domainSuffix>` are taken as known.
   */
  readonly assumeServices: boolean;
  /**
   * The whole mesh is known: from an orchestrator's API, or because the user says so about a folder. Default false:
   * missing objects may exist elsewhere.
   */
  readonly whole?: boolean;
  /**
   * The mesh is a server's own. The server sends only known Secrets and ConfigMaps. Default false: the mesh comes from
   * files, and missing objects may exist where the files are used.
   */
  readonly served?: boolean;
  /** Waypoints are served, so policies may name what is behind a waypoint. Default false. */
  readonly waypoints?: boolean;
  /** How a server serves node tunnels. Absent: no server is known, and the defaults of ambient mode count. */
  readonly tunnels?: {
    /** `PILOT_ENABLE_AMBIENT` */
    readonly served: boolean;
    /** `MESH_WAYPOINT_FAIL_OPEN` */
    readonly opensWithoutWaypoint: boolean;
    /** `ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES` */
    readonly layersPolicies: boolean;
  };
}

/** Facts of remote clusters, by name of the cluster. */
export type RemoteFacts = ReadonlyMap<string, Pick<FactStore, "get" | "list">>;

/** A workload of a gateway. */
export interface ConnectedGateway {
  readonly namespace: string;
  readonly labels: Labels;
}

/** The Gateway API as the mesh serves it. */
export interface ServedGatewayApi {
  /** What the derivation found out about the objects. */
  readonly verdicts: Pick<GatewayApiVerdicts, "gateway" | "route" | "shadowed">;
  readonly options: AttachOptions;
}

/** The Gateway API as a mesh with these settings serves it; undefined: switched off. */
export function servedGatewayApi(
  verdicts: ServedGatewayApi["verdicts"],
  source: Pick<GatewayApiSource, "domain" | "isFolder">,
  settings: GatewayApiSettings,
): ServedGatewayApi | undefined {
  return settings.PILOT_ENABLE_GATEWAY_API ? { verdicts, options: attachOptions(source, settings) } : undefined;
}

/** The existing objects. */
export interface AnalyzedWorld {
  readonly mesh: Mesh;
  readonly store: Pick<ConfigStore, "get" | "list">;
  readonly facts: FactStore;
  /** The same facts, by their names in configuration. */
  readonly factView: FactView;
  /** Default: there are no remote clusters. */
  readonly remoteFacts?: () => RemoteFacts;
  /** Workloads of gateways connected to the server, each namespace and set of labels once. Default: none. */
  readonly connectedGateways?: () => readonly ConnectedGateway[];
  /** Absent: the Gateway API is switched off. */
  readonly gatewayApi?: ServedGatewayApi | undefined;
  readonly settings: AnalysisSettings;
  readonly groups: Pick<ObjectGroups, "members">;
  readonly instants: Pick<Instants, "hasCome">;
  /** Keys of refused objects without a version in force. A reference to such an object is not a mistake of its own. */
  readonly refused: ReadonlySet<string>;
}
