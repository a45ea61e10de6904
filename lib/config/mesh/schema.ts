/**
 * Schemas of mesh configuration and mesh networks. Every field of the mesh configuration is optional: written fields
 * lie over defaults (see `./merge.ts`), so a written zero is kept where the default is not zero.
 *
 * @module
 */
import { clientTls, httpRetry, localityLbSetting, tcpKeepalive } from "../kinds/common/schema.ts";
import { labels, list, map } from "../schema/containers.ts";
import { type Field, keepZero, required, withDefault } from "../schema/field.ts";
import { message, shape } from "../schema/message.ts";
import { bool, duration, enumOf, int32, string, uint32 } from "../schema/scalars.ts";
import { extensionProvider } from "./provider_schema.ts";
import { proxySettings } from "./proxy_schema.ts";
import type * as types from "./types.ts";

/** The written part of a mesh configuration. */
export interface WrittenMeshConfig extends Partial<Omit<types.MeshConfig, "defaultConfig">> {
  readonly defaultConfig?: Partial<types.ProxySettings>;
}

const strings = list(string());

const labelSelector = message<types.LabelSelector>({
  matchLabels: labels(),
  matchExpressions: list(message<types.LabelSelectorRequirement>({
    key: required(string(), "a label key"),
    operator: required(enumOf("In", "NotIn", "Exists", "DoesNotExist")),
    values: strings,
  })),
});

const tlsConfig = message<types.TlsConfig>({
  minProtocolVersion: withDefault(enumOf("TLS_AUTO", "TLSV1_2", "TLSV1_3"), "TLS_AUTO"),
  ecdhCurves: strings,
  cipherSuites: strings,
});

const certificateData = message<types.CertificateData>(
  { pem: string(), spiffeBundleUrl: string(), certSigners: strings, trustDomains: strings },
  { oneOf: [["pem", "spiffeBundleUrl"]] },
);

/** Schema of {@link WrittenMeshConfig}. */
export const meshConfig: Field<WrittenMeshConfig> = message<WrittenMeshConfig>({
  proxyListenPort: keepZero(int32()),
  proxyInboundListenPort: keepZero(int32()),
  proxyHttpPort: int32(),
  connectTimeout: duration(),
  protocolDetectionTimeout: duration(),
  tcpKeepalive,
  ingressClass: keepZero(string()),
  ingressService: keepZero(string()),
  ingressControllerMode: enumOf("UNSPECIFIED", "OFF", "DEFAULT", "STRICT"),
  ingressSelector: string(),
  enableTracing: keepZero(bool()),
  accessLogFile: string(),
  accessLogFormat: string(),
  accessLogEncoding: enumOf("TEXT", "JSON"),
  enableProxyAccessLogService: bool(),
  disableProxyListenerLog: bool(),
  defaultConfig: proxySettings,
  outboundTrafficPolicy: shape({ mode: withDefault(enumOf("REGISTRY_ONLY", "ALLOW_ANY"), "REGISTRY_ONLY") }),
  inboundTrafficPolicy: shape({ mode: withDefault(enumOf("PASSTHROUGH", "LOCALHOST"), "PASSTHROUGH") }),
  configSources: list(message<types.ConfigSource>({
    address: required(string(), "an address such as fs:///path or xds://host:port"),
    tlsSettings: clientTls,
    subscribedResources: list(enumOf("SERVICE_REGISTRY")),
  })),
  enableAutoMtls: keepZero(bool()),
  trustDomain: keepZero(string()),
  trustDomainAliases: strings,
  caCertificates: list(certificateData),
  defaultServiceExportTo: keepZero(strings),
  defaultVirtualServiceExportTo: keepZero(strings),
  defaultDestinationRuleExportTo: keepZero(strings),
  rootNamespace: string(),
  localityLbSetting,
  dnsRefreshRate: duration(),
  h2UpgradePolicy: enumOf("DO_NOT_UPGRADE", "UPGRADE"),
  inboundClusterStatName: string(),
  outboundClusterStatName: string(),
  serviceSettings: list(message<types.ServiceSettings>({
    settings: shape({ clusterLocal: bool() }),
    hosts: strings,
  })),
  serviceScopeConfigs: list(message<types.ServiceScopeConfig>({
    namespaceSelector: labelSelector,
    servicesSelector: labelSelector,
    scope: withDefault(enumOf("LOCAL", "GLOBAL"), "LOCAL"),
  })),
  enablePrometheusMerge: keepZero(bool()),
  verifyCertificateAtClient: keepZero(bool()),
  ca: message<types.CertificateAuthority>({
    address: required(string(), "the address of the authority"),
    tlsSettings: clientTls,
    requestTimeout: duration(),
    meshdSide: bool(),
  }),
  extensionProviders: list(extensionProvider),
  defaultProviders: message<types.DefaultProviders>({ tracing: strings, metrics: strings, accessLogging: strings }),
  discoverySelectors: list(labelSelector),
  pathNormalization: shape({
    normalization: withDefault(
      enumOf("DEFAULT", "NONE", "BASE", "MERGE_SLASHES", "DECODE_AND_MERGE_SLASHES"),
      "DEFAULT",
    ),
  }),
  defaultHttpRetryPolicy: httpRetry,
  meshMTLS: tlsConfig,
  tlsDefaults: tlsConfig,
});

/** Schema of {@link types.MeshNetworks}. */
export const meshNetworks: Field<types.MeshNetworks> = message<types.MeshNetworks>({
  networks: withDefault(
    map(message<types.MeshNetwork>({
      endpoints: withDefault(
        list(message<types.MeshNetwork["endpoints"][number]>(
          { fromCidr: keepZero(string()), fromRegistry: keepZero(string()) },
          { oneOf: [["fromCidr", "fromRegistry"]] },
        )),
        [],
      ),
      gateways: withDefault(
        list(message<types.NetworkGateway>(
          {
            registryServiceName: keepZero(string()),
            address: keepZero(string()),
            port: required(uint32(), "a port number, 1..65535"),
            locality: string(),
          },
          { oneOf: [["registryServiceName", "address"]] },
        )),
        [],
      ),
    })),
    {},
  ),
});
