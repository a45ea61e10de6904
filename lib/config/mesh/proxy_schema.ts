/**
 * Schema of proxy settings. Every field is optional: written fields lie over defaults (see `./merge.ts`), so a written
 * zero is kept where the default is not zero.
 *
 * @module
 */
import { clientTls, readinessProbe, tcpKeepalive } from "../kinds/common/schema.ts";
import { list, map, stringMap } from "../schema/containers.ts";
import { keepZero, withDefault } from "../schema/field.ts";
import { message, type Of } from "../schema/message.ts";
import { bool, double, duration, enumOf, int32, int64, string, uint32 } from "../schema/scalars.ts";
import { ownMetadataKey } from "../spelling/spelling.ts";

const forwardClientCert = withDefault(
  enumOf("UNDEFINED", "SANITIZE", "FORWARD_ONLY", "APPEND_FORWARD", "SANITIZE_SET", "ALWAYS_FORWARD_ONLY"),
  "UNDEFINED",
);

const customTag = message({
  /** The same value for all spans. */
  literal: message({
    /** The value. */
    value: string(),
  }),
  /** From an environment variable of the proxy. */
  environment: message({
    /** Name of the variable. */
    name: string(),
    /** The value where the variable is not set. */
    defaultValue: string(),
  }),
  /** From a header of the request. */
  header: message({
    /** Name of the header. */
    name: string(),
    /** The value where the request lacks the header. */
    defaultValue: string(),
  }),
});

const tracing = message(
  {
    /** Zipkin, by its address `host:port`. */
    zipkin: message({
      /** `host:port`. */
      address: string(),
    }),
    /** Lightstep: address and access token. */
    lightstep: message({
      /** `host:port`. */
      address: string(),
      /** Access token from Lightstep. */
      accessToken: string(),
    }),
    /** Datadog, by its address. */
    datadog: message({
      /** `host:port`. */
      address: string(),
    }),
    /** Stackdriver, with limits for spans. */
    stackdriver: message({
      /** Write spans to standard output too; default false. */
      debug: bool(),
      /** Most attributes of a span. */
      maxNumberOfAttributes: keepZero(int64()),
      /** Most annotations of a span. */
      maxNumberOfAnnotations: keepZero(int64()),
      /** Most message events of a span. */
      maxNumberOfMessageEvents: keepZero(int64()),
    }),
    /** OpenCensus agent: address and contexts to pass on. */
    openCensusAgent: message({
      /** `host:port`. */
      address: string(),
      /** Forms of trace context to read and pass on. */
      context: list(string()),
    }),
    /** Further tags of spans, by name: a literal, an environment variable or a header. */
    customTags: map(customTag),
    /** Longest path in a span; absent: 256. */
    maxPathTagLength: uint32(),
    /** Percent of requests, 0..100; absent: 1. */
    sampling: keepZero(double()),
    /** TLS towards the other end; absent: none. */
    tlsSettings: clientTls,
    /** (enableIstioTags in Istio's spelling.) */
    enableMeshTags: keepZero(bool()),
  },
  { oneOf: [["zipkin", "lightstep", "datadog", "stackdriver", "openCensusAgent"]] },
);

/** Tracing of proxies, by at most one tracer. */
export interface ProxyTracing extends Of<typeof tracing> {}

const remoteService = message({
  /** `host:port`. */
  address: string(),
  /** TLS towards the other end; absent: none. */
  tlsSettings: clientTls,
  /** TCP keep-alive of the connection; absent: none. */
  tcpKeepalive,
});

/** A service for logs or metrics of proxies. */
export interface RemoteService extends Of<typeof remoteService> {}

const headerSwitch = message({
  /** Default false. */
  disabled: keepZero(bool()),
});

/** A switch. */
export interface HeaderSwitch extends Of<typeof headerSwitch> {}

const keyProvider = message({
  /** Longest time of collecting operations for the hardware. */
  pollDelay: duration(),
  /** Go on without the hardware where there is none; default false. */
  fallback: keepZero(bool()),
});

const proxyHeaders = message({
  /** Treatment of the client certificate header. */
  forwardedClientCert: forwardClientCert,
  /** Forwarded details of the client's certificate. */
  setCurrentClientCertDetails: message({
    /** The subject. */
    subject: keepZero(bool()),
    /** The certificate without its chain. */
    cert: keepZero(bool()),
    /** The chain of certificates. */
    chain: keepZero(bool()),
    /** DNS names. */
    dns: keepZero(bool()),
    /** URIs. */
    uri: keepZero(bool()),
  }),
  /** The request ID. */
  requestId: headerSwitch,
  /** The server header, or another value of the header. */
  server: message({
    /** Default false. */
    disabled: keepZero(bool()),
    /** Value of the header; absent: the name of the mesh's proxies. */
    value: string(),
  }),
  /** The number of attempts. */
  attemptCount: headerSwitch,
  /** (envoyDebugHeaders in Istio's spelling.) */
  proxyDebugHeaders: headerSwitch,
  /** Headers with metadata of proxies, for the other side. */
  metadataExchangeHeaders: message({
    /** To all, or only to services inside the mesh. */
    mode: withDefault(enumOf("UNDEFINED", "IN_MESH"), "UNDEFINED"),
  }),
  /** Header names keep their letter case over HTTP/1. */
  preserveHttp1HeaderCase: keepZero(bool()),
});

/** Headers added by the proxy. */
export interface ProxyHeaders extends Of<typeof proxyHeaders> {}

const gatewayTopology = message({
  /** Trusted proxies before the gateway; default 0. */
  numTrustedProxies: uint32(),
  /** Treatment of the client certificate header; default UNDEFINED: as the gateway's kind says. */
  forwardClientCertDetails: forwardClientCert,
  /** Present (even empty): expect the PROXY protocol. */
  proxyProtocol: message({}),
});

/** The proxies in front of a gateway. */
export interface GatewayTopology extends Of<typeof gatewayTopology> {}

const proxyStatsMatcher = message({
  /** Prefixes of names. */
  inclusionPrefixes: list(string()),
  /** Suffixes of names. */
  inclusionSuffixes: list(string()),
  /** Regular expressions for names. */
  inclusionRegexps: list(string()),
});

/** Statistics of a proxy besides the defaults. */
export interface ProxyStatsMatcher extends Of<typeof proxyStatsMatcher> {}

const privateKeyProvider = message(
  {
    /** Intel CryptoMB: time to collect work, and whether to go on without the hardware. */
    cryptomb: keyProvider,
    /** Intel QAT: time to collect work, and whether to go on without the hardware. */
    qat: keyProvider,
  },
  { oneOf: [["cryptomb", "qat"]] },
);

/** Hardware for private keys. Exactly one field is set. */
export interface PrivateKeyProvider extends Of<typeof privateKeyProvider> {}

/** Schema of {@link WrittenProxySettings}. */
export const proxySettings = message(
  {
    /** Default `./etc/mesh/proxy`. */
    configPath: string(),
    /** Default `/usr/local/bin/envoy`. */
    binaryPath: string(),
    /** Absent when tracingServiceName is set; default `mesh-proxy`. */
    serviceCluster: keepZero(string()),
    /** The source of a service's name in traces. */
    tracingServiceName: enumOf("APP_LABEL_AND_NAMESPACE", "CANONICAL_NAME_ONLY", "CANONICAL_NAME_AND_NAMESPACE"),
    /** Time to drain connections when Envoy restarts; default 45s. */
    drainDuration: duration(),
    /** Time to drain connections when the proxy ends; default 5s. */
    terminationDrainDuration: duration(),
    /** Default `meshd.mesh-system.svc:15012`. */
    discoveryAddress: keepZero(string()),
    /** Read and not used. */
    discoveryRefreshDelay: duration(),
    /** `host:port` of Zipkin; deprecated, see `tracing`. */
    zipkinAddress: string(),
    /** `host:port` for statistics over UDP. */
    statsdUdpAddress: string(),
    /** (envoyMetricsServiceAddress in Istio's spelling.) Deprecated. */
    proxyMetricsServiceAddress: string(),
    /** Default 15000. */
    proxyAdminPort: keepZero(int32()),
    /** Read and not used. */
    availabilityZone: string(),
    /** Default MUTUAL_TLS. */
    controlPlaneAuthPolicy: enumOf("NONE", "MUTUAL_TLS", "INHERIT"),
    /** Bootstrap file to use instead of a generated file. */
    customConfigFile: string(),
    /** Default 189. */
    statNameLength: keepZero(int32()),
    /** Worker threads; 0 means all cores. */
    concurrency: keepZero(int32()),
    /** Template of the bootstrap file. */
    proxyBootstrapTemplatePath: string(),
    /** Default REDIRECT. */
    interceptionMode: enumOf("REDIRECT", "TPROXY", "NONE"),
    /** The tracer and its settings. */
    tracing,
    /** Read and not used. */
    sds: message({
      /** Read and not used. */
      enabled: bool(),
      /** Read and not used. */
      k8sSaJwtPath: string(),
    }),
    /** (envoyAccessLogService in Istio's spelling.) */
    proxyAccessLogService: remoteService,
    /** (envoyMetricsService in Istio's spelling.) */
    proxyMetricsService: remoteService,
    /** Environment variables and node metadata of the proxy. */
    proxyMetadata: map(string(), ownMetadataKey),
    /** Values of Envoy's runtime by key. */
    runtimeValues: stringMap(),
    /** Default 15020. */
    statusPort: keepZero(int32()),
    /** Further tags of statistics. */
    extraStatTags: list(string()),
    /** Proxies before the gateway, and the trust in their statements about clients. */
    gatewayTopology,
    /** Identifies the mesh where several are connected. */
    meshId: string(),
    /** How the agent finds out whether the application is ready. */
    readinessProbe,
    /** Statistics besides the defaults. */
    proxyStatsMatcher,
    /** The application starts after the proxy. */
    holdApplicationUntilProxyStarts: keepZero(bool()),
    /** Further trust anchors as PEM texts. */
    caCertificatesPem: list(string()),
    /** Image of the injected proxy. */
    image: message({
      /** `default`, `debug` or `distroless`: the end of the image's tag. */
      imageType: string(),
    }),
    /** Hardware for private keys. */
    privateKeyProvider,
    /** Headers added by the proxy. */
    proxyHeaders,
  },
  { oneOf: [["serviceCluster", "tracingServiceName"]] },
);

/** Settings of a proxy (ProxyConfig of the mesh configuration, of PROXY_CONFIG and of the pod annotation). */
export interface WrittenProxySettings extends Of<typeof proxySettings> {}

/** The treatment of the client certificate header. */
export type ForwardClientCertDetails = GatewayTopology["forwardClientCertDetails"];
