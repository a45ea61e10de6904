/**
 * Schemas of mesh configuration and mesh networks. Every field of the mesh configuration is optional: written fields
 * lie over defaults (see `./merge.ts`), so a written zero is kept where the default is not zero.
 *
 * @module
 */
import { LABEL_OPERATORS } from "../../kernel/labels/selector.ts";
import { clientTls, httpRetry, localityLbSetting, tcpKeepalive } from "../kinds/common/schema.ts";
import { labels, list, map } from "../schema/containers.ts";
import { keepZero, required, withDefault } from "../schema/field.ts";
import { message, type Of } from "../schema/message.ts";
import { bool, duration, enumOf, int32, string, uint32 } from "../schema/scalars.ts";
import { extensionProvider } from "./provider_schema.ts";
import { proxySettings } from "./proxy_schema.ts";

const strings = list(string());

const labelSelectorRequirement = message({
  /** The label's key. */
  key: required(string(), "a label key"),
  /** How the label is compared. */
  operator: required(enumOf(...LABEL_OPERATORS)),
  /** Values for In and NotIn. */
  values: strings,
});

/** A requirement on a label. */
export interface LabelSelectorRequirement extends Of<typeof labelSelectorRequirement> {}

const labelSelector = message({
  /** Labels and values. */
  matchLabels: labels(),
  /** Further requirements. */
  matchExpressions: list(labelSelectorRequirement),
});

/** Orchestrator label selector. All parts must hold. */
export interface LabelSelector extends Of<typeof labelSelector> {}

const tlsConfig = message({
  /** Least version of TLS; default TLS_AUTO: the proxy's choice. */
  minProtocolVersion: withDefault(enumOf("TLS_AUTO", "TLSV1_2", "TLSV1_3"), "TLS_AUTO"),
  /** Elliptic curves, in order of preference. */
  ecdhCurves: strings,
  /** Cipher suites, by OpenSSL's names. */
  cipherSuites: strings,
});

/** TLS parameters. */
export interface TlsConfig extends Of<typeof tlsConfig> {}

const certificateData = message(
  {
    /** Certificates as PEM text. */
    pem: string(),
    /** URL of a SPIFFE bundle. */
    spiffeBundleUrl: string(),
    /** Signers of the certificates to verify. */
    certSigners: strings,
    /** Trust domains of the anchor. */
    trustDomains: strings,
  },
  { oneOf: [["pem", "spiffeBundleUrl"]] },
);

/** A trust anchor. Exactly one of pem and spiffeBundleUrl is set. */
export interface CertificateData extends Of<typeof certificateData> {}

const configSource = message({
  /** `fs:///folder`, `xds://host:port` or `orch://`. */
  address: required(string(), "an address such as fs:///path or xds://host:port"),
  /** TLS towards the other end; absent: none. */
  tlsSettings: clientTls,
  /** Resources of the source beside configuration. */
  subscribedResources: list(enumOf("SERVICE_REGISTRY")),
});

/** A source of configuration: `fs:///dir`, `xds://host:port` or `orch://` (`k8s://`). */
export interface ConfigSource extends Of<typeof configSource> {}

const serviceSettings = message({
  /** The settings of the hosts. */
  settings: message({
    /** Clients reach only endpoints of their own cluster. */
    clusterLocal: bool(),
  }),
  /** Hosts, `*` prefix allowed. */
  hosts: strings,
});

/** Settings of services by host. */
export interface ServiceSettings extends Of<typeof serviceSettings> {}

const serviceScopeConfig = message({
  /** Namespaces, selected by labels. */
  namespaceSelector: labelSelector,
  /** Services, selected by labels. */
  servicesSelector: labelSelector,
  /** Default LOCAL. */
  scope: withDefault(enumOf("LOCAL", "GLOBAL"), "LOCAL"),
});

/** The scope of the services that match both selectors: other clusters see services of scope GLOBAL. */
export interface ServiceScopeConfig extends Of<typeof serviceScopeConfig> {}

const certificateAuthority = message({
  /** `host:port` of the authority. */
  address: required(string(), "the address of the authority"),
  /** TLS towards the other end; absent: none. */
  tlsSettings: clientTls,
  /** Longest time of a request; absent: 10s. */
  requestTimeout: duration(),
  /** The control plane talks to the authority, not the agents. (istiodSide in Istio's spelling.) */
  meshdSide: bool(),
});

/** An external certificate authority. */
export interface CertificateAuthority extends Of<typeof certificateAuthority> {}

const defaultProviders = message({
  /** Names of providers of traces. */
  tracing: strings,
  /** Names of providers of metrics. */
  metrics: strings,
  /** Names of providers of access logs. */
  accessLogging: strings,
});

/** Names of extension providers used where a Telemetry names none. */
export interface DefaultProviders extends Of<typeof defaultProviders> {}

export const meshConfig = message({
  /** Port for redirected outbound traffic; default 15001. */
  proxyListenPort: keepZero(int32()),
  /** Port for redirected inbound traffic; default 15006. */
  proxyInboundListenPort: keepZero(int32()),
  /** Port of the HTTP forward proxy listener; 0 (default) means none. */
  proxyHttpPort: int32(),
  /** Longest time to make a TCP connection; default 10s. */
  connectTimeout: duration(),
  /** How long the first bytes are awaited to recognize HTTP; default 0s: no limit of ours. */
  protocolDetectionTimeout: duration(),
  /** TCP keep-alive of connections to services; absent: none. */
  tcpKeepalive,
  /** Our ingress class; default `mesh`. */
  ingressClass: keepZero(string()),
  /** Service of the ingress gateway; default `mesh-ingressgateway`. */
  ingressService: keepZero(string()),
  /** Default STRICT. */
  ingressControllerMode: enumOf("UNSPECIFIED", "OFF", "DEFAULT", "STRICT"),
  /** Label value of the ingress gateway's workloads; absent: found by `ingressService`. */
  ingressSelector: string(),
  /** Default true. */
  enableTracing: keepZero(bool()),
  /** Path; absent: no access log. */
  accessLogFile: string(),
  /** Format of a line; absent: the proxy's own, in the encoding below. */
  accessLogFormat: string(),
  /** Default TEXT. */
  accessLogEncoding: enumOf("TEXT", "JSON"),
  /** Send access logs to the proxy settings' log service. (enableEnvoyAccessLogService in Istio's spelling.) */
  enableProxyAccessLogService: bool(),
  /** (disableEnvoyListenerLog in Istio's spelling.) */
  disableProxyListenerLog: bool(),
  /** Settings of every proxy, unless the proxy overrides a setting. */
  defaultConfig: proxySettings,
  /** Default ALLOW_ANY. */
  outboundTrafficPolicy: message({
    /** Whether connections to hosts outside of all services go on or are ended. */
    mode: withDefault(enumOf("REGISTRY_ONLY", "ALLOW_ANY"), "REGISTRY_ONLY"),
  }),
  /** Default PASSTHROUGH. */
  inboundTrafficPolicy: message({
    /** Target of connections to ports outside of all services: the dialled address, or 127.0.0.1. */
    mode: withDefault(enumOf("PASSTHROUGH", "LOCALHOST"), "PASSTHROUGH"),
  }),
  /** Further sources of configuration, by precedence. */
  configSources: list(configSource),
  /** Default true. */
  enableAutoMtls: keepZero(bool()),
  /** Default `cluster.local`. */
  trustDomain: keepZero(string()),
  /** Trust domains that count as the mesh's own. */
  trustDomainAliases: strings,
  /** Further trust anchors. */
  caCertificates: list(certificateData),
  /** Default `["*"]`. */
  defaultServiceExportTo: keepZero(strings),
  /** Default `["*"]`. */
  defaultVirtualServiceExportTo: keepZero(strings),
  /** Default `["*"]`. */
  defaultDestinationRuleExportTo: keepZero(strings),
  /** Namespace whose objects apply to the whole mesh; default: chosen at start, see `./root_namespace.ts`. */
  rootNamespace: string(),
  /** Default enabled, no rules. */
  localityLbSetting,
  /** Time between DNS queries of a proxy; default 60s. */
  dnsRefreshRate: duration(),
  /** Default DO_NOT_UPGRADE. */
  h2UpgradePolicy: enumOf("DO_NOT_UPGRADE", "UPGRADE"),
  /** Pattern (%SERVICE%, %SERVICE_FQDN%, %SERVICE_PORT%, ...); absent: the cluster's name. */
  inboundClusterStatName: string(),
  /** Pattern, also %SUBSET_NAME%; absent: the cluster's name. */
  outboundClusterStatName: string(),
  /** Settings of services by host; default none. */
  serviceSettings: list(serviceSettings),
  /** Scopes of services: other clusters see services of scope GLOBAL. */
  serviceScopeConfigs: list(serviceScopeConfig),
  /** Default true. */
  enablePrometheusMerge: keepZero(bool()),
  /** Deprecated; absent: verify. */
  verifyCertificateAtClient: keepZero(bool()),
  /** An external certificate authority. */
  ca: certificateAuthority,
  /** Default none. */
  extensionProviders: list(extensionProvider),
  /** Providers for Telemetries that name none; default none. */
  defaultProviders,
  /** Namespaces of interest; absent: all. */
  discoverySelectors: list(labelSelector),
  /** Default DEFAULT (= BASE: RFC 3986 normalisation). */
  pathNormalization: message({
    /** How paths of requests are normalised before rules look at the paths. */
    normalization: withDefault(
      enumOf("DEFAULT", "NONE", "BASE", "MERGE_SLASHES", "DECODE_AND_MERGE_SLASHES"),
      "DEFAULT",
    ),
  }),
  /** Default: 2 attempts, with translation's conditions for an absent `retryOn`. */
  defaultHttpRetryPolicy: httpRetry,
  /** TLS between workloads. */
  meshMTLS: tlsConfig,
  /** TLS of everything else. */
  tlsDefaults: tlsConfig,
});

/** Mesh configuration. */
export interface WrittenMeshConfig extends Of<typeof meshConfig> {}

const networkGateway = message(
  {
    /** Service of the gateway. */
    registryServiceName: keepZero(string()),
    /** IP address or host name of the gateway. */
    address: keepZero(string()),
    /** Port of the gateway. */
    port: required(uint32(), "a port number, 1..65535"),
    /** Locality of the gateway. */
    locality: string(),
  },
  { oneOf: [["registryServiceName", "address"]] },
);

/** Gateway of a network, by registryServiceName or address. */
export interface NetworkGateway extends Of<typeof networkGateway> {}

const meshNetwork = message({
  /** Endpoints of the network, each by one of the two fields. */
  endpoints: withDefault(
    list(message(
      {
        /** Addresses, such as `10.0.0.0/8`. */
        fromCidr: keepZero(string()),
        /** All endpoints of a cluster, by the cluster's name. */
        fromRegistry: keepZero(string()),
      },
      { oneOf: [["fromCidr", "fromRegistry"]] },
    )),
    [],
  ),
  /** Ways into the network. */
  gateways: withDefault(
    list(networkGateway),
    [],
  ),
});

/** A network: its endpoints, and the ways in. */
export interface MeshNetwork extends Of<typeof meshNetwork> {}

export const meshNetworks = message({
  /** Networks by name. */
  networks: withDefault(
    map(meshNetwork),
    {},
  ),
});

/** Networks of the mesh by name. */
export interface MeshNetworks extends Of<typeof meshNetworks> {}
