/**
 * The properties of a proxy for translation.
 *
 * @module
 */
import type { GatewayTopology, ProxyHeaders, ProxySettings } from "../../config/mesh/types.ts";
import type { PlacedTarget } from "../../mesh/selection/index.ts";
import type { PolicyWorkload } from "../../mesh/selection/remembered.ts";
import type { PatchedProxy } from "../../patches/for_proxy.ts";
import type { ProxyType } from "./proxy_profile.ts";

/** The settings of a proxy's tracer, from the bootstrap. */
export type OwnTracing = Pick<ProxySettings, "tracing" | "zipkinAddress">;

/** How inbound and outbound connections reach the proxy: iptables REDIRECT or TPROXY, or not at all (NONE). */
export type InterceptionMode = "REDIRECT" | "TPROXY" | "NONE";

/** Everything that translation may read of a proxy, beside the proxy's own services and the content of the scope. */
export interface ProxyProperties {
  readonly type: ProxyType;
  readonly namespace: string;
  /** DNS domain of the proxy, for short names: `default.svc.cluster.local`. */
  readonly dnsDomain: string;
  readonly clusterId: string;
  readonly network: string;
  /** Networks whose endpoints the proxy asked for (REQUESTED_NETWORK_VIEW), sorted, comma separated. Empty: all. */
  readonly requestedNetworks: string;
  /** `region/zone/subzone`, or empty. */
  readonly locality: string;
  readonly nodeName: string;
  readonly ipv4: boolean;
  readonly ipv6: boolean;
  readonly interceptionMode: InterceptionMode;
  /** Port of an explicit HTTP proxy listener; 0: none. */
  readonly httpProxyPort: number;
  readonly http10: boolean;
  /** Idle timeout of inbound and outbound TCP, ms; 0: Envoy's default. */
  readonly idleTimeout: number;
  readonly dnsCapture: boolean;
  readonly dnsAutoAllocate: boolean;
  /** The proxy gets virtual hosts as resources (VHDS over delta) instead of inside route configurations. */
  readonly vhds: boolean;
  /** The proxy asks for virtual hosts and clusters when its workload calls them, instead of getting all of them. */
  readonly onDemand: boolean;
  /**
   * Names of the extensions of the proxy's build. Undefined: all, because the proxy lists none. Asked about by name,
   * see `hasExtension`.
   */
  readonly extensions: ReadonlySet<string> | undefined;
  readonly inboundExactBalance: boolean;
  readonly outboundExactBalance: boolean;
  /** Files of the proxy's own metadata (TLS_CLIENT_CERT_CHAIN and so on), for destination rules in mutual mode without files. */
  readonly tlsClientCertChain: string;
  readonly tlsClientKey: string;
  readonly tlsClientRootCert: string;
  /** Likewise for the workload's own side (TLS_SERVER_CERT_CHAIN and so on), for the served ports. */
  readonly tlsServerCertChain: string;
  readonly tlsServerKey: string;
  readonly tlsServerRootCert: string;
  /**
   * An agent runs beside the proxy (`PROXY_CONFIG` was reported): the agent serves the workload's certificate and
   * files.
   */
  readonly agent: boolean;
  /** An agent beside the proxy fetches Wasm modules (`MESH_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION`). */
  readonly fetchesModules: boolean;
  /** A variable of the proxy's process names the service in spans of OpenTelemetry. */
  readonly namedByVariable: boolean;
  /** The agent serves files on a separate socket, because another server serves the workload's certificate. */
  readonly fileSocket: boolean;
  /** A server of credentials (`sds://`) listens on the proxy's machine. */
  readonly credentialSocket: boolean;
  readonly isUnprivileged: boolean;
  /**
   * The proxy takes HBONE connections if the server allows HBONE, and the proxy's own configuration has internal
   * listeners.
   */
  readonly enableHbone: boolean;
  /** The proxy makes no connections by HBONE. */
  readonly disableHboneSend: boolean;
  /** The cluster of the proxy's node: the name of the service in traces. */
  readonly serviceCluster: string;
  /** Tracing of the proxy's own settings, or of the mesh. Equal values are the same object. */
  readonly tracing: OwnTracing | undefined;
  /**
   * Headers of the proxy's own settings (node metadata `PROXY_CONFIG`), or of the mesh. Equal values are the same
   * object.
   */
  readonly proxyHeaders: ProxyHeaders | undefined;
  /**
   * The proxies in front of this proxy, by its own settings (node metadata `PROXY_CONFIG`). Absent: by the settings of
   * the mesh.
   */
  readonly gatewayTopology?: GatewayTopology;
  /**
   * Further facts for the matches of patches, from the proxy's own introduction. Undefined: the proxy gets no patches.
   */
  readonly patched: PatchedProxy | undefined;
  /** Of a waypoint: the objects whose policies hold. See `./waypoint_role.ts`. */
  readonly ofWaypoint?: readonly PlacedTarget[];
  /** Of a waypoint: the objects whose policies hold for one service or another. */
  readonly allOfWaypoint?: PolicyWorkload;
  /** Of a waypoint: the namespaces of these objects, each once. */
  readonly policyNamespaces?: readonly string[];
  /** The name of the fork of the mesh with the proxy's candidates. Absent: the proxy has only settled objects. */
  readonly candidates?: string;
  /** Labels of the workload. Use `Reader.derived` only: nearly every workload has different labels. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Properties with a whole value for builders. For other properties the reader has a query. */
export type PlainProperty = Exclude<
  keyof ProxyProperties,
  | "candidates"
  | "labels"
  | "patched"
  | "proxyHeaders"
  | "tracing"
  | "gatewayTopology"
  | "extensions"
  | "ofWaypoint"
  | "allOfWaypoint"
  | "policyNamespaces"
>;
