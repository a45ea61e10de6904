/**
 * The options of a discovery server.
 *
 * @module
 */
import type { Derivation } from "../config/derive/derivation.ts";
import type { Explainer, PreviewRunner } from "../debug/runners.ts";
import type { AccessPlace } from "../orch/access/find.ts";
import type { Registry } from "../registry/types.ts";
import type { ServerMeshOptions } from "./sources/mesh_source.ts";
import type { WireOptions } from "./new_xds_server.ts";
import type { OrchOptions } from "./sources/orchestrator.ts";
import type { PortOptions } from "./ports.ts";
import type { ServerTlsOptions } from "./identity/secure_port.ts";

/** How a server is started. Addresses are `host:port` or `:port`; durations milliseconds. */
export interface DiscoveryServerOptions extends WireOptions, PortOptions, ServerMeshOptions {
  /** TLS of the server. Default: the server has no certificate. */
  readonly tls?: ServerTlsOptions;
  /** Folder of configuration; undefined: no folder is read. */
  readonly configDir: string | undefined;
  /** The orchestrator whose objects are read. Default: there is no orchestrator. */
  readonly orch?: OrchOptions | undefined;
  readonly domain: string;
  readonly clusterAliases: Readonly<Record<string, string>>;
  /** Namespace of the node plugin. Default: the server's namespace. */
  readonly cniNamespace?: string;
  /** Namespace of the secrets that describe remote clusters. Default: the server's namespace. */
  readonly clusterRegistriesNamespace?: string;
  /** Access to the API with the secrets of remote clusters. Default: access to the orchestrator. */
  readonly clusterSecrets?: AccessPlace | undefined;
  readonly registries: readonly Registry[];
  /** Services of manifests in the folders are part of the mesh (`--registries=File`). Default false. */
  readonly manifestServices?: boolean;
  /** Derivations of objects from objects and facts, in order of precedence. Default: none. */
  readonly derivations?: readonly Derivation[];
  /** Explains requests of connected proxies. Default: nothing does. */
  readonly explainer?: Explainer;
  /** Answers previews. Default: there are none. */
  readonly preview?: PreviewRunner;
}
