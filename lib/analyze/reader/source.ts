/**
 * The objects and settings that an analysis reads.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import type { FactView } from "../../config/facts/view.ts";
import type { ConfigStore } from "../../config/store.ts";
import type { Mesh } from "../../mesh/mesh.ts";
import type { Labels } from "../../registry/labels.ts";
import type { ObjectGroups } from "./groups.ts";
import type { Instants } from "./instants.ts";

/** Settings on which findings depend. */
export interface AnalysisSettings {
  /** DNS suffix of the mesh, `--domain`. */
  readonly domainSuffix: string;
  /**
   * Services of an orchestrator may exist that no object here names: hosts under `svc.<domainSuffix>` are taken to be
   * known.
   */
  readonly assumeServices: boolean;
  /**
   * All of the mesh is known: an orchestrator's API tells it, or the user says so of a folder. Default false: what is not
   * there may be elsewhere.
   */
  readonly whole?: boolean;
  /**
   * The mesh is a server's own: Secrets and ConfigMaps that the server does not know are sent to nobody. Default false: the
   * mesh is one of files, and what is missing may be there where the files are used.
   */
  readonly served?: boolean;
}

/** Facts of remote clusters, by name of the cluster. */
export type RemoteFacts = ReadonlyMap<string, Pick<FactStore, "get" | "list">>;

/** A workload of a gateway. */
export interface ConnectedGateway {
  readonly namespace: string;
  readonly labels: Labels;
}

/** The objects that exist. */
export interface AnalyzedWorld {
  readonly mesh: Mesh;
  readonly store: Pick<ConfigStore, "get" | "list">;
  readonly facts: FactStore;
  /** The same facts, by the names that configuration refers to them by. */
  readonly factView: FactView;
  /** Default: there are no remote clusters. */
  readonly remoteFacts?: () => RemoteFacts;
  /** Workloads of gateways that are connected to the server, each namespace and set of labels once. Default: none. */
  readonly connectedGateways?: () => readonly ConnectedGateway[];
  readonly settings: AnalysisSettings;
  readonly groups: Pick<ObjectGroups, "members">;
  readonly instants: Pick<Instants, "hasCome">;
  /** Keys of objects that are refused and have no version in force: a reference to them is no mistake of its own. */
  readonly refused: ReadonlySet<string>;
}
