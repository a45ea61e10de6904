/**
 * Mesh configuration: settings of the whole mesh, and the networks of the mesh.
 *
 * Same rules as the spec types of objects (`lib/config/kinds/common/schema.ts`): durations are ms, absent means not
 * written. Fields without `?` always carry a value: the user's, or the default of `./merge.ts`.
 *
 * @module
 */
import type { WrittenProxySettings } from "./proxy_schema.ts";
import type { WrittenMeshConfig } from "./schema.ts";

export type * from "./provider_schema.ts";
export type * from "./proxy_schema.ts";
export type * from "./schema.ts";

/** Written settings over defaults, which give each of the fields `K` a value. */
type Filled<W, K extends keyof W> = Pick<W, Exclude<keyof W, K>> & Required<Pick<W, K>>;

/** Settings of a proxy (ProxyConfig of the mesh configuration, of PROXY_CONFIG and of the pod annotation). */
export interface ProxySettings extends
  Filled<
    WrittenProxySettings,
    | "configPath"
    | "binaryPath"
    | "drainDuration"
    | "terminationDrainDuration"
    | "discoveryAddress"
    | "proxyAdminPort"
    | "controlPlaneAuthPolicy"
    | "statNameLength"
    | "interceptionMode"
    | "proxyMetadata"
    | "statusPort"
  > {}

/** Mesh configuration. */
export interface MeshConfig extends
  Filled<
    WrittenMeshConfig,
    | "proxyListenPort"
    | "proxyInboundListenPort"
    | "proxyHttpPort"
    | "connectTimeout"
    | "protocolDetectionTimeout"
    | "ingressClass"
    | "ingressService"
    | "ingressControllerMode"
    | "enableTracing"
    | "accessLogEncoding"
    | "enableProxyAccessLogService"
    | "disableProxyListenerLog"
    | "outboundTrafficPolicy"
    | "inboundTrafficPolicy"
    | "enableAutoMtls"
    | "trustDomain"
    | "trustDomainAliases"
    | "defaultServiceExportTo"
    | "defaultVirtualServiceExportTo"
    | "defaultDestinationRuleExportTo"
    | "rootNamespace"
    | "localityLbSetting"
    | "dnsRefreshRate"
    | "h2UpgradePolicy"
    | "serviceSettings"
    | "enablePrometheusMerge"
    | "extensionProviders"
    | "defaultProviders"
    | "pathNormalization"
    | "defaultHttpRetryPolicy"
  > {
  /** Settings of every proxy, unless the proxy overrides a setting. */
  readonly defaultConfig: ProxySettings;
}
