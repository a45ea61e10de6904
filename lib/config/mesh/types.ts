/**
 * Mesh configuration: settings of the whole mesh, and the networks it spans.
 *
 * Same rules as the spec types of objects (`lib/config/kinds/common/types.ts`): durations are ms, absent means not written. Fields without
 * `?` always carry a value: the user's, or the default of `lib/config/mesh/defaults.ts`.
 *
 * @module
 */
import type {
  ClientTlsSettings,
  HttpRetry,
  LocalityLbSetting,
  ReadinessProbe,
  StringMap,
  TcpKeepalive,
} from "../kinds/common/types.ts";
import type { ExtensionProvider } from "./provider_types.ts";

export type { ExtensionProvider } from "./provider_types.ts";

/** Mesh configuration. */
export interface MeshConfig {
  /** Port that outbound traffic is redirected to; default 15001. */
  readonly proxyListenPort: number;
  /** Port that inbound traffic is redirected to; default 15006. */
  readonly proxyInboundListenPort: number;
  /** Port of the HTTP forward proxy listener; 0 (default) means none. */
  readonly proxyHttpPort: number;
  /** ms; default 10 s. */
  readonly connectTimeout: number;
  /** How long the first bytes are awaited to recognize HTTP, ms; default 0: no limit of ours. */
  readonly protocolDetectionTimeout: number;
  readonly tcpKeepalive?: TcpKeepalive;
  /** Ingress class that is ours; default `mesh`. */
  readonly ingressClass: string;
  /** Service of the ingress gateway; default `mesh-ingressgateway`. */
  readonly ingressService: string;
  /** Default STRICT. */
  readonly ingressControllerMode: "UNSPECIFIED" | "OFF" | "DEFAULT" | "STRICT";
  /** Label value of the ingress gateway's workloads; absent: found by `ingressService`. */
  readonly ingressSelector?: string;
  /** Default true. */
  readonly enableTracing: boolean;
  /** Path; absent: no access log. */
  readonly accessLogFile?: string;
  readonly accessLogFormat?: string;
  /** Default TEXT. */
  readonly accessLogEncoding: "TEXT" | "JSON";
  /** Send access logs to the proxy settings' log service. (enableEnvoyAccessLogService in Istio's spelling.) */
  readonly enableProxyAccessLogService: boolean;
  /** (disableEnvoyListenerLog in Istio's spelling.) */
  readonly disableProxyListenerLog: boolean;
  /** Settings of every proxy unless it overrides them. */
  readonly defaultConfig: ProxySettings;
  /** Default ALLOW_ANY. */
  readonly outboundTrafficPolicy: { readonly mode: "REGISTRY_ONLY" | "ALLOW_ANY" };
  /** Default PASSTHROUGH. */
  readonly inboundTrafficPolicy: { readonly mode: "PASSTHROUGH" | "LOCALHOST" };
  readonly configSources?: readonly ConfigSource[];
  /** Default true. */
  readonly enableAutoMtls: boolean;
  /** Default `cluster.local`. */
  readonly trustDomain: string;
  readonly trustDomainAliases: readonly string[];
  readonly caCertificates?: readonly CertificateData[];
  /** Default `["*"]`. */
  readonly defaultServiceExportTo: readonly string[];
  /** Default `["*"]`. */
  readonly defaultVirtualServiceExportTo: readonly string[];
  /** Default `["*"]`. */
  readonly defaultDestinationRuleExportTo: readonly string[];
  /** Namespace whose objects apply to the whole mesh; default: chosen at start, see `./root_namespace.ts`. */
  readonly rootNamespace: string;
  /** Default enabled, no rules. */
  readonly localityLbSetting: LocalityLbSetting;
  /** ms; default 60 s. */
  readonly dnsRefreshRate: number;
  /** Default DO_NOT_UPGRADE. */
  readonly h2UpgradePolicy: "DO_NOT_UPGRADE" | "UPGRADE";
  /** Pattern (%SERVICE%, %SERVICE_FQDN%, %SERVICE_PORT%, ...); absent: the cluster's name. */
  readonly inboundClusterStatName?: string;
  /** Pattern, also %SUBSET_NAME%; absent: the cluster's name. */
  readonly outboundClusterStatName?: string;
  readonly serviceSettings: readonly ServiceSettings[];
  readonly serviceScopeConfigs?: readonly ServiceScopeConfig[];
  /** Default true. */
  readonly enablePrometheusMerge: boolean;
  /** Deprecated; absent: verify. */
  readonly verifyCertificateAtClient?: boolean;
  readonly ca?: CertificateAuthority;
  /** Default none. */
  readonly extensionProviders: readonly ExtensionProvider[];
  readonly defaultProviders: DefaultProviders;
  /** Namespaces of interest; absent: all. */
  readonly discoverySelectors?: readonly LabelSelector[];
  /** Default DEFAULT (= BASE: RFC 3986 normalisation). */
  readonly pathNormalization: { readonly normalization: PathNormalization };
  /** Default: 2 attempts, with the conditions that translation uses where `retryOn` is absent. */
  readonly defaultHttpRetryPolicy: HttpRetry;
  /** TLS between workloads. */
  readonly meshMTLS?: TlsConfig;
  /** TLS of everything else. */
  readonly tlsDefaults?: TlsConfig;
}

/** Path normalisation. */
export type PathNormalization = "DEFAULT" | "NONE" | "BASE" | "MERGE_SLASHES" | "DECODE_AND_MERGE_SLASHES";

/** A source of configuration: `fs:///dir`, `xds://host:port` or `orch://` (`k8s://`). */
export interface ConfigSource {
  readonly address: string;
  readonly tlsSettings?: ClientTlsSettings;
  readonly subscribedResources?: readonly "SERVICE_REGISTRY"[];
}

/** A trust anchor. One of pem and spiffeBundleUrl is set. */
export interface CertificateData {
  readonly pem?: string;
  readonly spiffeBundleUrl?: string;
  readonly certSigners?: readonly string[];
  readonly trustDomains?: readonly string[];
}

/** Settings of services by host. */
export interface ServiceSettings {
  readonly settings?: { readonly clusterLocal?: boolean };
  /** Hosts, `*` prefix allowed. */
  readonly hosts?: readonly string[];
}

/** Which services other clusters see. */
export interface ServiceScopeConfig {
  readonly namespaceSelector?: LabelSelector;
  readonly servicesSelector?: LabelSelector;
  readonly scope: "LOCAL" | "GLOBAL";
}

/** An external certificate authority. */
export interface CertificateAuthority {
  readonly address: string;
  readonly tlsSettings?: ClientTlsSettings;
  /** ms; absent: 10 s. */
  readonly requestTimeout?: number;
  /** The control plane talks to it, not the agents. (istiodSide in Istio's spelling.) */
  readonly meshdSide?: boolean;
}

/** Names of extension providers used where a Telemetry names none. */
export interface DefaultProviders {
  readonly tracing?: readonly string[];
  readonly metrics?: readonly string[];
  readonly accessLogging?: readonly string[];
}

/** Orchestrator label selector. All parts must hold. */
export interface LabelSelector {
  readonly matchLabels?: StringMap;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

/** One requirement on a label. */
export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** TLS parameters. */
export interface TlsConfig {
  readonly minProtocolVersion: "TLS_AUTO" | "TLSV1_2" | "TLSV1_3";
  readonly ecdhCurves?: readonly string[];
  readonly cipherSuites?: readonly string[];
}

/** Settings of one proxy (ProxyConfig of the mesh configuration, of PROXY_CONFIG and of the pod annotation). */
export interface ProxySettings {
  /** Default `./etc/mesh/proxy`. */
  readonly configPath: string;
  /** Default `/usr/local/bin/envoy`. */
  readonly binaryPath: string;
  /** Absent when tracingServiceName is set; default `mesh-proxy`. */
  readonly serviceCluster?: string;
  readonly tracingServiceName?: "APP_LABEL_AND_NAMESPACE" | "CANONICAL_NAME_ONLY" | "CANONICAL_NAME_AND_NAMESPACE";
  /** ms; default 45 s. */
  readonly drainDuration: number;
  /** ms; default 5 s. */
  readonly terminationDrainDuration: number;
  /** Default `meshd.mesh-system.svc:15012`. */
  readonly discoveryAddress: string;
  readonly discoveryRefreshDelay?: number;
  readonly zipkinAddress?: string;
  readonly statsdUdpAddress?: string;
  /** (envoyMetricsServiceAddress in Istio's spelling.) Deprecated. */
  readonly proxyMetricsServiceAddress?: string;
  /** Default 15000. */
  readonly proxyAdminPort: number;
  readonly availabilityZone?: string;
  /** Default MUTUAL_TLS. */
  readonly controlPlaneAuthPolicy: "NONE" | "MUTUAL_TLS" | "INHERIT";
  readonly customConfigFile?: string;
  /** Default 189. */
  readonly statNameLength: number;
  /** Worker threads; 0 means all cores. */
  readonly concurrency?: number;
  readonly proxyBootstrapTemplatePath?: string;
  /** Default REDIRECT. */
  readonly interceptionMode: "REDIRECT" | "TPROXY" | "NONE";
  readonly tracing?: ProxyTracing;
  readonly sds?: { readonly enabled?: boolean; readonly k8sSaJwtPath?: string };
  /** (envoyAccessLogService in Istio's spelling.) */
  readonly proxyAccessLogService?: RemoteService;
  /** (envoyMetricsService in Istio's spelling.) */
  readonly proxyMetricsService?: RemoteService;
  readonly proxyMetadata: StringMap;
  readonly runtimeValues?: StringMap;
  /** Default 15020. */
  readonly statusPort: number;
  readonly extraStatTags?: readonly string[];
  readonly gatewayTopology?: GatewayTopology;
  readonly meshId?: string;
  readonly readinessProbe?: ReadinessProbe;
  readonly proxyStatsMatcher?: ProxyStatsMatcher;
  /** The application starts after the proxy. */
  readonly holdApplicationUntilProxyStarts?: boolean;
  readonly caCertificatesPem?: readonly string[];
  readonly image?: { readonly imageType?: string };
  readonly privateKeyProvider?: PrivateKeyProvider;
  readonly proxyHeaders?: ProxyHeaders;
}

/** What lies before a gateway. */
export interface GatewayTopology {
  readonly numTrustedProxies?: number;
  readonly forwardClientCertDetails: ForwardClientCertDetails;
  /** Present (even empty): expect the PROXY protocol. */
  readonly proxyProtocol?: Readonly<Record<never, never>>;
}

/** What happens to the client certificate header. */
export type ForwardClientCertDetails =
  | "UNDEFINED"
  | "SANITIZE"
  | "FORWARD_ONLY"
  | "APPEND_FORWARD"
  | "SANITIZE_SET"
  | "ALWAYS_FORWARD_ONLY";

/** Statistics that a proxy keeps besides its own defaults. */
export interface ProxyStatsMatcher {
  readonly inclusionPrefixes?: readonly string[];
  readonly inclusionSuffixes?: readonly string[];
  readonly inclusionRegexps?: readonly string[];
}

/** Hardware for private keys. One is set. */
export interface PrivateKeyProvider {
  readonly cryptomb?: { readonly pollDelay?: number; readonly fallback?: boolean };
  readonly qat?: { readonly pollDelay?: number; readonly fallback?: boolean };
}

/** A switch. */
export interface HeaderSwitch {
  readonly disabled?: boolean;
}

/** Headers that the proxy adds. */
export interface ProxyHeaders {
  readonly forwardedClientCert: ForwardClientCertDetails;
  /** Details of the client's certificate that are forwarded. */
  readonly setCurrentClientCertDetails?: {
    readonly subject?: boolean;
    readonly cert?: boolean;
    readonly chain?: boolean;
    readonly dns?: boolean;
    readonly uri?: boolean;
  };
  readonly requestId?: HeaderSwitch;
  readonly server?: HeaderSwitch & { readonly value?: string };
  readonly attemptCount?: HeaderSwitch;
  /** (envoyDebugHeaders in Istio's spelling.) */
  readonly proxyDebugHeaders?: HeaderSwitch;
  readonly metadataExchangeHeaders?: { readonly mode: "UNDEFINED" | "IN_MESH" };
  /** Header names keep their letter case over HTTP/1. */
  readonly preserveHttp1HeaderCase?: boolean;
}

/** A service that proxies send logs or metrics to. */
export interface RemoteService {
  /** `host:port`. */
  readonly address?: string;
  readonly tlsSettings?: ClientTlsSettings;
  readonly tcpKeepalive?: TcpKeepalive;
}

/** Tracing of proxies; at most one tracer. */
export interface ProxyTracing {
  readonly zipkin?: { readonly address?: string };
  readonly lightstep?: { readonly address?: string; readonly accessToken?: string };
  readonly datadog?: { readonly address?: string };
  readonly stackdriver?: {
    readonly debug?: boolean;
    readonly maxNumberOfAttributes?: number;
    readonly maxNumberOfAnnotations?: number;
    readonly maxNumberOfMessageEvents?: number;
  };
  readonly openCensusAgent?: { readonly address?: string; readonly context?: readonly string[] };
  readonly customTags?: Readonly<
    Record<string, {
      readonly literal?: { readonly value?: string };
      readonly environment?: { readonly name?: string; readonly defaultValue?: string };
      readonly header?: { readonly name?: string; readonly defaultValue?: string };
    }>
  >;
  readonly maxPathTagLength?: number;
  /** Percent of requests, 0..100; absent: 1. */
  readonly sampling?: number;
  readonly tlsSettings?: ClientTlsSettings;
  /** (enableIstioTags in Istio's spelling.) */
  readonly enableMeshTags?: boolean;
}

/** Networks of the mesh by name. */
export interface MeshNetworks {
  readonly networks: Readonly<Record<string, MeshNetwork>>;
}

/** One network: which endpoints are in it, and how to get in. */
export interface MeshNetwork {
  /** Each by one of the two. */
  readonly endpoints: readonly { readonly fromCidr?: string; readonly fromRegistry?: string }[];
  readonly gateways: readonly NetworkGateway[];
}

/** Gateway of a network; one of registryServiceName and address. */
export interface NetworkGateway {
  readonly registryServiceName?: string;
  readonly address?: string;
  readonly port: number;
  readonly locality?: string;
}
