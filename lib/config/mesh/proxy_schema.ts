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
  /** One value for all spans. */
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
    /** Zipkin: its address `host:port`. */
    zipkin: message({
      /** `host:port`. */
      address: string(),
    }),
    /** Lightstep: its address and the access token. */
    lightstep: message({
      /** `host:port`. */
      address: string(),
      /** Token that Lightstep gives out. */
      accessToken: string(),
    }),
    /** Datadog: its address. */
    datadog: message({
      /** `host:port`. */
      address: string(),
    }),
    /** Stackdriver, with limits on what a span holds. */
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
    /** OpenCensus agent: its address and the contexts that are passed on. */
    openCensusAgent: message({
      /** `host:port`. */
      address: string(),
      /** Forms of trace context that are read and passed on. */
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

/** Tracing of proxies; at most one tracer. */
export interface ProxyTracing extends Of<typeof tracing> {}

const remoteService = message({
  /** `host:port`. */
  address: string(),
  /** TLS towards the other end; absent: none. */
  tlsSettings: clientTls,
  /** TCP keep-alive of the connection; absent: none. */
  tcpKeepalive,
});

/** A service that proxies send logs or metrics to. */
export interface RemoteService extends Of<typeof remoteService> {}

const headerSwitch = message({
  /** Default false. */
  disabled: keepZero(bool()),
});

/** A switch. */
export interface HeaderSwitch extends Of<typeof headerSwitch> {}

const keyProvider = message({
  /** Longest time that operations are collected before the hardware gets them. */
  pollDelay: duration(),
  /** Go on without the hardware where there is none; default false. */
  fallback: keepZero(bool()),
});

const proxyHeaders = message({
  /** Treatment of the client certificate header. */
  forwardedClientCert: forwardClientCert,
  /** Details of the client's certificate that are forwarded. */
  setCurrentClientCertDetails: message({
    /** The subject. */
    subject: keepZero(bool()),
    /** The certificate itself. */
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
  /** The server header, or another value of it. */
  server: message({
    /** Default false. */
    disabled: keepZero(bool()),
    /** Its value; absent: the name of the mesh's proxies. */
    value: string(),
  }),
  /** The number of attempts. */
  attemptCount: headerSwitch,
  /** (envoyDebugHeaders in Istio's spelling.) */
  proxyDebugHeaders: headerSwitch,
  /** Headers by which proxies tell each other their metadata. */
  metadataExchangeHeaders: message({
    /** To all, or to services inside the mesh alone. */
    mode: withDefault(enumOf("UNDEFINED", "IN_MESH"), "UNDEFINED"),
  }),
  /** Header names keep their letter case over HTTP/1. */
  preserveHttp1HeaderCase: keepZero(bool()),
});

/** Headers that the proxy adds. */
export interface ProxyHeaders extends Of<typeof proxyHeaders> {}

const gatewayTopology = message({
  /** Trusted proxies before this one; default 0. */
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

/** Statistics that a proxy keeps besides its own defaults. */
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

/** Hardware for private keys. One is set. */
export interface PrivateKeyProvider extends Of<typeof privateKeyProvider> {}

/** Schema of the fields of {@link types.ProxySettings} that a user writes. */
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
    /** Time in which Envoy drains connections when it is started anew; default 45s. */
    drainDuration: duration(),
    /** Time in which connections are drained when the proxy ends; default 5s. */
    terminationDrainDuration: duration(),
    /** Default `meshd.mesh-system.svc:15012`. */
    discoveryAddress: keepZero(string()),
    /** Read and not used. */
    discoveryRefreshDelay: duration(),
    /** `host:port` of Zipkin; deprecated, see `tracing`. */
    zipkinAddress: string(),
    /** `host:port` that takes statistics over UDP. */
    statsdUdpAddress: string(),
    /** (envoyMetricsServiceAddress in Istio's spelling.) Deprecated. */
    proxyMetricsServiceAddress: string(),
    /** Default 15000. */
    proxyAdminPort: keepZero(int32()),
    /** Read and not used. */
    availabilityZone: string(),
    /** Default MUTUAL_TLS. */
    controlPlaneAuthPolicy: enumOf("NONE", "MUTUAL_TLS", "INHERIT"),
    /** Bootstrap file to use instead of a generated one. */
    customConfigFile: string(),
    /** Default 189. */
    statNameLength: keepZero(int32()),
    /** Worker threads; 0 means all cores. */
    concurrency: keepZero(int32()),
    /** Template of the bootstrap file. */
    proxyBootstrapTemplatePath: string(),
    /** Default REDIRECT. */
    interceptionMode: enumOf("REDIRECT", "TPROXY", "NONE"),
    /** The tracer, and its settings. */
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
    /** Proxies before this one, and the trust in their statements about clients. */
    gatewayTopology,
    /** Identifies the mesh where several are connected. */
    meshId: string(),
    /** How the agent finds out whether the application is ready. */
    readinessProbe,
    /** Statistics that are kept besides the defaults. */
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
    /** Hardware that works with private keys. */
    privateKeyProvider,
    /** Headers that the proxy adds. */
    proxyHeaders,
  },
  { oneOf: [["serviceCluster", "tracingServiceName"]] },
);

/** Settings of one proxy (ProxyConfig of the mesh configuration, of PROXY_CONFIG and of the pod annotation). */
export interface WrittenProxySettings extends Of<typeof proxySettings> {}

/** The treatment of the client certificate header. */
export type ForwardClientCertDetails = GatewayTopology["forwardClientCertDetails"];
