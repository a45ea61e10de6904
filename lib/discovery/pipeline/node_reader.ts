/**
 * Nodes of clients as proxies, by the settings of a server.
 *
 * @module
 */
import type { MeshConfig, ProxyHeaders } from "../../config/mesh/types.ts";
import { contentHash } from "../../resource/encoded.ts";
import { WeakTable } from "../../incremental/weak_table.ts";
import { type Proxy, readNode } from "../../translate/proxy/node.ts";
import type { OwnTracing } from "../../translate/reader/proxy_properties.ts";
import type { ConnectRequest } from "../../xds/protocol/source.ts";

/** Settings of the source. */
export interface SourceOptions {
  /** `PILOT_ENABLE_VHDS`: delta clients get virtual hosts separately. */
  readonly vhds: boolean;
  /** `PILOT_ENABLE_AMBIENT_WAYPOINTS`: waypoints may connect. Default false. */
  readonly waypoints?: boolean;
  /** Cluster of proxies that do not name a cluster. */
  readonly clusterId: string;
  /** Other names of clusters (`--clusterAliases`), by alias. */
  readonly clusterAliases: Readonly<Record<string, string>>;
}

/** Reads nodes. Equal parts of nodes share one object. */
export class NodeReader {
  readonly #options: SourceOptions;
  /** Settings of headers by the hash of their text. An entry lives as long as a proxy or a result uses the settings. */
  readonly #headers = new WeakTable<string, ProxyHeaders>();
  readonly #tracing = new WeakTable<string, OwnTracing>();

  constructor(options: SourceOptions) {
    this.#options = options;
  }

  /**
   * Reads a node.
   *
   * @throws {NodeRefused} See `readNode`.
   */
  read(node: ConnectRequest["node"], delta: boolean, mesh: MeshConfig): Proxy {
    const { vhds, waypoints = false, clusterId, clusterAliases } = this.#options;
    return readNode(node, {
      mesh,
      vhds: vhds && delta,
      waypoints,
      clusterId,
      clusterAliases,
      internHeaders: (headers) => interned(this.#headers, headers),
      internTracing: (tracing) => interned(this.#tracing, tracing),
    });
  }
}

function interned<T extends object>(table: WeakTable<string, T>, value: T | undefined): T | undefined {
  if (value === undefined) return undefined;
  return table.shared(contentHash(JSON.stringify(value)), value);
}
