/**
 * Defaults of the mesh, and how written settings override the defaults.
 *
 * A written field replaces the default; lists and messages are replaced as a whole. Exceptions: `defaultConfig` merges
 * field by field (and its `proxyMetadata` key by key), `defaultProviders` merges field by field, `extensionProviders`
 * merge by name, and `trustDomainAliases` are united.
 *
 * @module
 */
import type { WrittenProxySettings } from "./proxy_schema.ts";
import type { WrittenMeshConfig } from "./schema.ts";
import type { ExtensionProvider, MeshConfig, ProxyHeaders, ProxySettings } from "./types.ts";

/** Values behind the defaults. */
export interface MeshDefaults {
  /** Namespace of the control plane: home of the discovery service. */
  readonly systemNamespace: string;
  /** Root namespace where none is written; default: the system namespace. See `./root_namespace.ts`. */
  readonly rootNamespace?: string;
}

/** Settings of a proxy when nothing is written. Numbers are Istio's. */
export function defaultProxySettings(defaults: MeshDefaults): ProxySettings {
  return {
    configPath: "./etc/mesh/proxy",
    binaryPath: "/usr/local/bin/envoy",
    serviceCluster: "mesh-proxy",
    drainDuration: 45_000,
    terminationDrainDuration: 5_000,
    discoveryAddress: `meshd.${defaults.systemNamespace}.svc:15012`,
    proxyAdminPort: 15000,
    controlPlaneAuthPolicy: "MUTUAL_TLS",
    statNameLength: 189,
    interceptionMode: "REDIRECT",
    proxyMetadata: {},
    statusPort: 15020,
  };
}

/** The mesh when nothing is written. Numbers are Istio's. */
export function defaultMeshConfig(defaults: MeshDefaults): MeshConfig {
  return {
    proxyListenPort: 15001,
    proxyInboundListenPort: 15006,
    proxyHttpPort: 0,
    connectTimeout: 10_000,
    protocolDetectionTimeout: 0,
    ingressClass: "mesh",
    ingressService: "mesh-ingressgateway",
    ingressControllerMode: "STRICT",
    enableTracing: true,
    accessLogEncoding: "TEXT",
    enableProxyAccessLogService: false,
    disableProxyListenerLog: false,
    defaultConfig: defaultProxySettings(defaults),
    outboundTrafficPolicy: { mode: "ALLOW_ANY" },
    inboundTrafficPolicy: { mode: "PASSTHROUGH" },
    enableAutoMtls: true,
    trustDomain: "cluster.local",
    trustDomainAliases: [],
    defaultServiceExportTo: ["*"],
    defaultVirtualServiceExportTo: ["*"],
    defaultDestinationRuleExportTo: ["*"],
    rootNamespace: defaults.rootNamespace ?? defaults.systemNamespace,
    localityLbSetting: { enabled: true },
    dnsRefreshRate: 60_000,
    h2UpgradePolicy: "DO_NOT_UPGRADE",
    serviceSettings: [],
    enablePrometheusMerge: true,
    extensionProviders: [
      { name: "prometheus", prometheus: {} },
      { name: "stackdriver", stackdriver: {} },
      { name: "envoy", proxyFileAccessLog: { path: "/dev/stdout" } },
    ],
    defaultProviders: {},
    pathNormalization: { normalization: "DEFAULT" },
    defaultHttpRetryPolicy: { attempts: 2 },
  };
}

/** Lays written mesh settings over others. */
export function mergeMeshConfig(base: MeshConfig, written: WrittenMeshConfig): MeshConfig {
  return {
    ...base,
    ...written,
    defaultConfig: mergeProxySettings(base.defaultConfig, written.defaultConfig ?? {}),
    defaultProviders: { ...base.defaultProviders, ...written.defaultProviders },
    extensionProviders: mergeProviders(base.extensionProviders, written.extensionProviders ?? []),
    trustDomainAliases: [...new Set([...base.trustDomainAliases, ...(written.trustDomainAliases ?? [])])].sort(),
  };
}

/** Lays written proxy settings over others, for example the settings in a proxy's own metadata. */
export function mergeProxySettings(base: ProxySettings, written: WrittenProxySettings): ProxySettings {
  const { serviceCluster, ...withoutCluster } = base;
  const named = written.tracingServiceName !== undefined || serviceCluster === undefined ? {} : { serviceCluster };
  return {
    ...withoutCluster,
    ...named,
    ...written,
    proxyMetadata: { ...base.proxyMetadata, ...written.proxyMetadata },
    ...mergedHeaders(base.proxyHeaders, written.proxyHeaders),
  };
}

/** Headers merge switch by switch. */
function mergedHeaders(base: ProxyHeaders | undefined, written: ProxyHeaders | undefined) {
  if (base === undefined || written === undefined) return {};
  const forwardedClientCert = written.forwardedClientCert === "UNDEFINED"
    ? base.forwardedClientCert
    : written.forwardedClientCert;
  return { proxyHeaders: { ...base, ...written, forwardedClientCert } };
}

function mergeProviders(
  base: readonly ExtensionProvider[],
  written: readonly ExtensionProvider[],
): ExtensionProvider[] {
  const byName = new Map(base.map((provider) => [provider.name, provider]));
  for (const provider of written) byName.set(provider.name, provider);
  return [...byName.values()];
}
