/**
 * The properties of a proxy that translation may read.
 *
 * @module
 */
import type { GatewayTopology, ProxyHeaders, ProxySettings } from "../../config/mesh/types.ts";
import type { PatchedProxy } from "../../patches/for_proxy.ts";
import type { ProxyType } from "./proxy_profile.ts";

/** The settings of a proxy's tracer, which is in its bootstrap. */
export type OwnTracing = Pick<ProxySettings, "tracing" | "zipkinAddress">;

/** How inbound and outbound connections reach the proxy: iptables REDIRECT or TPROXY, or not at all (NONE). */
export type InterceptionMode = "REDIRECT" | "TPROXY" | "NONE";

/** All that translation may read of a proxy, beside its own services and the content of its scope. */
export interface ProxyProperties {
  readonly type: ProxyType;
  readonly namespace: string;
  /** DNS domain of the proxy, for short names: `default.svc.cluster.local`. */
  readonly dnsDomain: string;
  readonly clusterId: string;
  readonly network: string;
  /** Networks whose endpoints it asked to see (REQUESTED_NETWORK_VIEW), sorted, comma separated; empty: all. */
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
  /** Virtual hosts go to it one by one (VHDS over delta) instead of inside route configurations. */
  readonly vhds: boolean;
  /**
   * Names of the extensions that its build has; undefined: all (it lists none). Asked about one by one, see
   * `hasExtension`.
   */
  readonly extensions: ReadonlySet<string> | undefined;
  readonly inboundExactBalance: boolean;
  readonly outboundExactBalance: boolean;
  /** Files of the proxy's own metadata (TLS_CLIENT_CERT_CHAIN and so on), for destination rules in mutual mode without files. */
  readonly tlsClientCertChain: string;
  readonly tlsClientKey: string;
  readonly tlsClientRootCert: string;
  /** The same of the workload's own side (TLS_SERVER_CERT_CHAIN and so on), for the ports that it serves. */
  readonly tlsServerCertChain: string;
  readonly tlsServerKey: string;
  readonly tlsServerRootCert: string;
  /** An agent runs beside it (it has reported its `PROXY_CONFIG`): it serves the workload's certificate and files. */
  readonly agent: boolean;
  /** An agent beside it fetches Wasm modules (`MESH_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION`). */
  readonly fetchesModules: boolean;
  /** A variable of its process names its service for spans of OpenTelemetry. */
  readonly namedByVariable: boolean;
  /** Its agent serves files on a socket of their own, because another server serves the workload's certificate. */
  readonly fileSocket: boolean;
  /** A server of credentials (`sds://`) listens on its machine. */
  readonly credentialSocket: boolean;
  readonly isUnprivileged: boolean;
  /** It takes HBONE connections where the server lets it, and its own configuration has internal listeners. */
  readonly enableHbone: boolean;
  /** It makes no connections by HBONE. */
  readonly disableHboneSend: boolean;
  /** The cluster that its node names: its service's name in traces. */
  readonly serviceCluster: string;
  /** Tracing of its own settings, or of the mesh's; equal ones are the same object. */
  readonly tracing: OwnTracing | undefined;
  /** Headers that its own settings (node metadata `PROXY_CONFIG`) or the mesh's say; equal ones are the same object. */
  readonly proxyHeaders: ProxyHeaders | undefined;
  /** The proxies in front of it, by its own settings (node metadata `PROXY_CONFIG`); absent: by those of the mesh. */
  readonly gatewayTopology?: GatewayTopology;
  /** Further facts that patches may match, from the proxy's own introduction; undefined: it gets no patches. */
  readonly patched: PatchedProxy | undefined;
  /** Labels of the workload. Read through `Reader.derived` only: nearly every workload has its own. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Properties that may be read whole; for the others the reader has a query. */
export type PlainProperty = Exclude<
  keyof ProxyProperties,
  "labels" | "patched" | "proxyHeaders" | "tracing" | "gatewayTopology" | "extensions"
>;
