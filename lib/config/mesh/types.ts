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
  /** Longest time to make a TCP connection; default 10s. */
  readonly connectTimeout: number;
  /** How long the first bytes are awaited to recognize HTTP; default 0s: no limit of ours. */
  readonly protocolDetectionTimeout: number;
  /** TCP keep-alive of connections to services; absent: none. */
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
  /** Format of a line; absent: the proxy's own, in the encoding below. */
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
  readonly outboundTrafficPolicy: {
    /** Whether connections to hosts that no service has go on or are ended. */
    readonly mode: "REGISTRY_ONLY" | "ALLOW_ANY";
  };
  /** Default PASSTHROUGH. */
  readonly inboundTrafficPolicy: {
    /** Target of connections to ports that no service has: the address that was dialled, or 127.0.0.1. */
    readonly mode: "PASSTHROUGH" | "LOCALHOST";
  };
  /** Further sources of configuration, by precedence. */
  readonly configSources?: readonly ConfigSource[];
  /** Default true. */
  readonly enableAutoMtls: boolean;
  /** Default `cluster.local`. */
  readonly trustDomain: string;
  /** Trust domains that count as this one. */
  readonly trustDomainAliases: readonly string[];
  /** Further trust anchors. */
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
  /** Time between DNS queries of a proxy; default 60s. */
  readonly dnsRefreshRate: number;
  /** Default DO_NOT_UPGRADE. */
  readonly h2UpgradePolicy: "DO_NOT_UPGRADE" | "UPGRADE";
  /** Pattern (%SERVICE%, %SERVICE_FQDN%, %SERVICE_PORT%, ...); absent: the cluster's name. */
  readonly inboundClusterStatName?: string;
  /** Pattern, also %SUBSET_NAME%; absent: the cluster's name. */
  readonly outboundClusterStatName?: string;
  /** Settings of services by host; default none. */
  readonly serviceSettings: readonly ServiceSettings[];
  /** Scopes of services: those of scope GLOBAL are seen by other clusters. */
  readonly serviceScopeConfigs?: readonly ServiceScopeConfig[];
  /** Default true. */
  readonly enablePrometheusMerge: boolean;
  /** Deprecated; absent: verify. */
  readonly verifyCertificateAtClient?: boolean;
  /** An external certificate authority. */
  readonly ca?: CertificateAuthority;
  /** Default none. */
  readonly extensionProviders: readonly ExtensionProvider[];
  /** Providers that are used where a Telemetry names none; default none. */
  readonly defaultProviders: DefaultProviders;
  /** Namespaces of interest; absent: all. */
  readonly discoverySelectors?: readonly LabelSelector[];
  /** Default DEFAULT (= BASE: RFC 3986 normalisation). */
  readonly pathNormalization: {
    /** How paths of requests are brought into one form before rules look at them. */
    readonly normalization: PathNormalization;
  };
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
  /** `fs:///folder`, `xds://host:port` or `orch://`. */
  readonly address: string;
  /** TLS towards the other end; absent: none. */
  readonly tlsSettings?: ClientTlsSettings;
  /** Resources that the source serves beside configuration. */
  readonly subscribedResources?: readonly "SERVICE_REGISTRY"[];
}

/** A trust anchor. One of pem and spiffeBundleUrl is set. */
export interface CertificateData {
  /** Certificates as PEM text. */
  readonly pem?: string;
  /** URL of a SPIFFE bundle. */
  readonly spiffeBundleUrl?: string;
  /** Signers whose certificates it verifies. */
  readonly certSigners?: readonly string[];
  /** Trust domains that it is for. */
  readonly trustDomains?: readonly string[];
}

/** Settings of services by host. */
export interface ServiceSettings {
  /** The settings of these hosts. */
  readonly settings?: {
    /** Clients reach endpoints of their own cluster alone. */
    readonly clusterLocal?: boolean;
  };
  /** Hosts, `*` prefix allowed. */
  readonly hosts?: readonly string[];
}

/** The scope of the services that match both selectors: other clusters see those of scope GLOBAL. */
export interface ServiceScopeConfig {
  /** Namespaces by their labels. */
  readonly namespaceSelector?: LabelSelector;
  /** Services by their labels. */
  readonly servicesSelector?: LabelSelector;
  /** Default LOCAL. */
  readonly scope: "LOCAL" | "GLOBAL";
}

/** An external certificate authority. */
export interface CertificateAuthority {
  /** `host:port` of the authority. */
  readonly address: string;
  /** TLS towards the other end; absent: none. */
  readonly tlsSettings?: ClientTlsSettings;
  /** Longest time of a request; absent: 10s. */
  readonly requestTimeout?: number;
  /** The control plane talks to it, not the agents. (istiodSide in Istio's spelling.) */
  readonly meshdSide?: boolean;
}

/** Names of extension providers used where a Telemetry names none. */
export interface DefaultProviders {
  /** Names of providers of traces. */
  readonly tracing?: readonly string[];
  /** Names of providers of metrics. */
  readonly metrics?: readonly string[];
  /** Names of providers of access logs. */
  readonly accessLogging?: readonly string[];
}

/** Orchestrator label selector. All parts must hold. */
export interface LabelSelector {
  /** Labels with their values. */
  readonly matchLabels?: StringMap;
  /** Further requirements. */
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

/** One requirement on a label. */
export interface LabelSelectorRequirement {
  /** The label's key. */
  readonly key: string;
  /** How the label is compared. */
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  /** Values for In and NotIn. */
  readonly values?: readonly string[];
}

/** TLS parameters. */
export interface TlsConfig {
  /** Least version of TLS; default TLS_AUTO, which leaves it to the proxy. */
  readonly minProtocolVersion: "TLS_AUTO" | "TLSV1_2" | "TLSV1_3";
  /** Elliptic curves, in order of preference. */
  readonly ecdhCurves?: readonly string[];
  /** Cipher suites, by OpenSSL's names. */
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
  /** The source of a service's name in traces. */
  readonly tracingServiceName?: "APP_LABEL_AND_NAMESPACE" | "CANONICAL_NAME_ONLY" | "CANONICAL_NAME_AND_NAMESPACE";
  /** Time in which Envoy drains connections when it is started anew; default 45s. */
  readonly drainDuration: number;
  /** Time in which connections are drained when the proxy ends; default 5s. */
  readonly terminationDrainDuration: number;
  /** Default `meshd.mesh-system.svc:15012`. */
  readonly discoveryAddress: string;
  /** Read and not used. */
  readonly discoveryRefreshDelay?: number;
  /** `host:port` of Zipkin; deprecated, see `tracing`. */
  readonly zipkinAddress?: string;
  /** `host:port` that takes statistics over UDP. */
  readonly statsdUdpAddress?: string;
  /** (envoyMetricsServiceAddress in Istio's spelling.) Deprecated. */
  readonly proxyMetricsServiceAddress?: string;
  /** Default 15000. */
  readonly proxyAdminPort: number;
  /** Read and not used. */
  readonly availabilityZone?: string;
  /** Default MUTUAL_TLS. */
  readonly controlPlaneAuthPolicy: "NONE" | "MUTUAL_TLS" | "INHERIT";
  /** Bootstrap file to use instead of a generated one. */
  readonly customConfigFile?: string;
  /** Default 189. */
  readonly statNameLength: number;
  /** Worker threads; 0 means all cores. */
  readonly concurrency?: number;
  /** Template of the bootstrap file. */
  readonly proxyBootstrapTemplatePath?: string;
  /** Default REDIRECT. */
  readonly interceptionMode: "REDIRECT" | "TPROXY" | "NONE";
  /** The tracer, and its settings. */
  readonly tracing?: ProxyTracing;
  /** Read and not used. */
  readonly sds?: {
    /** Read and not used. */
    readonly enabled?: boolean;
    /** Read and not used. */
    readonly k8sSaJwtPath?: string;
  };
  /** (envoyAccessLogService in Istio's spelling.) */
  readonly proxyAccessLogService?: RemoteService;
  /** (envoyMetricsService in Istio's spelling.) */
  readonly proxyMetricsService?: RemoteService;
  /** Environment variables and node metadata of the proxy. */
  readonly proxyMetadata: StringMap;
  /** Values of Envoy's runtime by key. */
  readonly runtimeValues?: StringMap;
  /** Default 15020. */
  readonly statusPort: number;
  /** Further tags of statistics. */
  readonly extraStatTags?: readonly string[];
  /** Proxies before this one, and the trust in their statements about clients. */
  readonly gatewayTopology?: GatewayTopology;
  /** Identifies the mesh where several are connected. */
  readonly meshId?: string;
  /** How the agent finds out whether the application is ready. */
  readonly readinessProbe?: ReadinessProbe;
  /** Statistics that are kept besides the defaults. */
  readonly proxyStatsMatcher?: ProxyStatsMatcher;
  /** The application starts after the proxy. */
  readonly holdApplicationUntilProxyStarts?: boolean;
  /** Further trust anchors as PEM texts. */
  readonly caCertificatesPem?: readonly string[];
  /** Image of the injected proxy. */
  readonly image?: {
    /** `default`, `debug` or `distroless`: the end of the image's tag. */
    readonly imageType?: string;
  };
  /** Hardware that works with private keys. */
  readonly privateKeyProvider?: PrivateKeyProvider;
  /** Headers that the proxy adds. */
  readonly proxyHeaders?: ProxyHeaders;
}

/** The proxies in front of a gateway. */
export interface GatewayTopology {
  /** Trusted proxies before this one; default 0. */
  readonly numTrustedProxies?: number;
  /** Treatment of the client certificate header; default UNDEFINED: as the gateway's kind says. */
  readonly forwardClientCertDetails: ForwardClientCertDetails;
  /** Present (even empty): expect the PROXY protocol. */
  readonly proxyProtocol?: Readonly<Record<never, never>>;
}

/** The treatment of the client certificate header. */
export type ForwardClientCertDetails =
  | "UNDEFINED"
  | "SANITIZE"
  | "FORWARD_ONLY"
  | "APPEND_FORWARD"
  | "SANITIZE_SET"
  | "ALWAYS_FORWARD_ONLY";

/** Statistics that a proxy keeps besides its own defaults. */
export interface ProxyStatsMatcher {
  /** Prefixes of names. */
  readonly inclusionPrefixes?: readonly string[];
  /** Suffixes of names. */
  readonly inclusionSuffixes?: readonly string[];
  /** Regular expressions for names. */
  readonly inclusionRegexps?: readonly string[];
}

/** Hardware for private keys. One is set. */
export interface PrivateKeyProvider {
  /** Intel CryptoMB: time to collect work, and whether to go on without the hardware. */
  readonly cryptomb?: {
    /** Longest time that operations are collected before the hardware gets them. */
    readonly pollDelay?: number;
    /** Go on without the hardware where there is none; default false. */
    readonly fallback?: boolean;
  };
  /** Intel QAT: time to collect work, and whether to go on without the hardware. */
  readonly qat?: {
    /** Longest time that operations are collected before the hardware gets them. */
    readonly pollDelay?: number;
    /** Go on without the hardware where there is none; default false. */
    readonly fallback?: boolean;
  };
}

/** A switch. */
export interface HeaderSwitch {
  /** Default false. */
  readonly disabled?: boolean;
}

/** Headers that the proxy adds. */
export interface ProxyHeaders {
  /** Treatment of the client certificate header. */
  readonly forwardedClientCert: ForwardClientCertDetails;
  /** Details of the client's certificate that are forwarded. */
  readonly setCurrentClientCertDetails?: {
    /** The subject. */
    readonly subject?: boolean;
    /** The certificate itself. */
    readonly cert?: boolean;
    /** The chain of certificates. */
    readonly chain?: boolean;
    /** DNS names. */
    readonly dns?: boolean;
    /** URIs. */
    readonly uri?: boolean;
  };
  /** The request ID. */
  readonly requestId?: HeaderSwitch;
  /** The server header, or another value of it. */
  readonly server?: HeaderSwitch & {
    /** Its value; absent: the name of the mesh's proxies. */
    readonly value?: string;
  };
  /** The number of attempts. */
  readonly attemptCount?: HeaderSwitch;
  /** (envoyDebugHeaders in Istio's spelling.) */
  readonly proxyDebugHeaders?: HeaderSwitch;
  /** Headers by which proxies tell each other their metadata. */
  readonly metadataExchangeHeaders?: {
    /** To all, or to services inside the mesh alone. */
    readonly mode: "UNDEFINED" | "IN_MESH";
  };
  /** Header names keep their letter case over HTTP/1. */
  readonly preserveHttp1HeaderCase?: boolean;
}

/** A service that proxies send logs or metrics to. */
export interface RemoteService {
  /** `host:port`. */
  readonly address?: string;
  /** TLS towards the other end; absent: none. */
  readonly tlsSettings?: ClientTlsSettings;
  /** TCP keep-alive of the connection; absent: none. */
  readonly tcpKeepalive?: TcpKeepalive;
}

/** Tracing of proxies; at most one tracer. */
export interface ProxyTracing {
  /** Zipkin: its address `host:port`. */
  readonly zipkin?: {
    /** `host:port`. */
    readonly address?: string;
  };
  /** Lightstep: its address and the access token. */
  readonly lightstep?: {
    /** `host:port`. */
    readonly address?: string;
    /** Token that Lightstep gives out. */
    readonly accessToken?: string;
  };
  /** Datadog: its address. */
  readonly datadog?: {
    /** `host:port`. */
    readonly address?: string;
  };
  /** Stackdriver, with limits on what a span holds. */
  readonly stackdriver?: {
    /** Write spans to standard output too; default false. */
    readonly debug?: boolean;
    /** Most attributes of a span. */
    readonly maxNumberOfAttributes?: number;
    /** Most annotations of a span. */
    readonly maxNumberOfAnnotations?: number;
    /** Most message events of a span. */
    readonly maxNumberOfMessageEvents?: number;
  };
  /** OpenCensus agent: its address and the contexts that are passed on. */
  readonly openCensusAgent?: {
    /** `host:port`. */
    readonly address?: string;
    /** Forms of trace context that are read and passed on. */
    readonly context?: readonly string[];
  };
  /** Further tags of spans, by name: a literal, an environment variable or a header. */
  readonly customTags?: Readonly<
    Record<string, {
      /** One value for all spans. */
      readonly literal?: {
        /** The value. */
        readonly value?: string;
      };
      /** From an environment variable of the proxy. */
      readonly environment?: {
        /** Name of the variable. */
        readonly name?: string;
        /** The value where the variable is not set. */
        readonly defaultValue?: string;
      };
      /** From a header of the request. */
      readonly header?: {
        /** Name of the header. */
        readonly name?: string;
        /** The value where the request lacks the header. */
        readonly defaultValue?: string;
      };
    }>
  >;
  /** Longest path in a span; absent: 256. */
  readonly maxPathTagLength?: number;
  /** Percent of requests, 0..100; absent: 1. */
  readonly sampling?: number;
  /** TLS towards the other end; absent: none. */
  readonly tlsSettings?: ClientTlsSettings;
  /** (enableIstioTags in Istio's spelling.) */
  readonly enableMeshTags?: boolean;
}

/** Networks of the mesh by name. */
export interface MeshNetworks {
  /** Networks by name. */
  readonly networks: Readonly<Record<string, MeshNetwork>>;
}

/** One network: which endpoints are in it, and how to get in. */
export interface MeshNetwork {
  /** Each by one of the two. */
  readonly endpoints: readonly {
    /** Addresses, such as `10.0.0.0/8`. */
    readonly fromCidr?: string;
    /** All endpoints of a cluster, by its name. */
    readonly fromRegistry?: string;
  }[];
  /** Ways into the network. */
  readonly gateways: readonly NetworkGateway[];
}

/** Gateway of a network; one of registryServiceName and address. */
export interface NetworkGateway {
  /** Service of the gateway. */
  readonly registryServiceName?: string;
  /** IP address or host name of the gateway. */
  readonly address?: string;
  /** Port of the gateway. */
  readonly port: number;
  /** Locality of the gateway. */
  readonly locality?: string;
}
