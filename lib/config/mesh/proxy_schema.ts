/**
 * Schema of proxy settings. Every field is optional: written fields lie over defaults (see `./merge.ts`), so a written
 * zero is kept where the default is not zero.
 *
 * @module
 */
import { clientTls, readinessProbe, tcpKeepalive } from "../kinds/common/schema.ts";
import { list, map, stringMap } from "../schema/containers.ts";
import { type Field, keepZero, withDefault } from "../schema/field.ts";
import { message, shape } from "../schema/message.ts";
import { bool, double, duration, enumOf, int32, int64, string, uint32 } from "../schema/scalars.ts";
import { ownMetadataKey } from "../spelling/spelling.ts";
import type * as types from "./types.ts";

const forwardClientCert = withDefault(
  enumOf("UNDEFINED", "SANITIZE", "FORWARD_ONLY", "APPEND_FORWARD", "SANITIZE_SET", "ALWAYS_FORWARD_ONLY"),
  "UNDEFINED",
);

const customTag = shape({
  literal: shape({ value: string() }),
  environment: shape({ name: string(), defaultValue: string() }),
  header: shape({ name: string(), defaultValue: string() }),
});

const tracing = message<types.ProxyTracing>(
  {
    zipkin: shape({ address: string() }),
    lightstep: shape({ address: string(), accessToken: string() }),
    datadog: shape({ address: string() }),
    stackdriver: shape({
      debug: bool(),
      maxNumberOfAttributes: keepZero(int64()),
      maxNumberOfAnnotations: keepZero(int64()),
      maxNumberOfMessageEvents: keepZero(int64()),
    }),
    openCensusAgent: shape({ address: string(), context: list(string()) }),
    customTags: map(customTag),
    maxPathTagLength: uint32(),
    sampling: keepZero(double()),
    tlsSettings: clientTls,
    enableMeshTags: keepZero(bool()),
  },
  { oneOf: [["zipkin", "lightstep", "datadog", "stackdriver", "openCensusAgent"]] },
);

const remoteService = message<types.RemoteService>({ address: string(), tlsSettings: clientTls, tcpKeepalive });
const headerSwitch = message<types.HeaderSwitch>({ disabled: keepZero(bool()) });
const keyProvider = shape({ pollDelay: duration(), fallback: keepZero(bool()) });

const proxyHeaders = message<types.ProxyHeaders>({
  forwardedClientCert: forwardClientCert,
  setCurrentClientCertDetails: shape({
    subject: keepZero(bool()),
    cert: keepZero(bool()),
    chain: keepZero(bool()),
    dns: keepZero(bool()),
    uri: keepZero(bool()),
  }),
  requestId: headerSwitch,
  server: shape({ disabled: keepZero(bool()), value: string() }),
  attemptCount: headerSwitch,
  proxyDebugHeaders: headerSwitch,
  metadataExchangeHeaders: shape({ mode: withDefault(enumOf("UNDEFINED", "IN_MESH"), "UNDEFINED") }),
  preserveHttp1HeaderCase: keepZero(bool()),
});

/** Schema of the fields of {@link types.ProxySettings} that a user writes. */
export const proxySettings: Field<Partial<types.ProxySettings>> = message<Partial<types.ProxySettings>>(
  {
    configPath: string(),
    binaryPath: string(),
    serviceCluster: keepZero(string()),
    tracingServiceName: enumOf("APP_LABEL_AND_NAMESPACE", "CANONICAL_NAME_ONLY", "CANONICAL_NAME_AND_NAMESPACE"),
    drainDuration: duration(),
    terminationDrainDuration: duration(),
    discoveryAddress: keepZero(string()),
    discoveryRefreshDelay: duration(),
    zipkinAddress: string(),
    statsdUdpAddress: string(),
    proxyMetricsServiceAddress: string(),
    proxyAdminPort: keepZero(int32()),
    availabilityZone: string(),
    controlPlaneAuthPolicy: enumOf("NONE", "MUTUAL_TLS", "INHERIT"),
    customConfigFile: string(),
    statNameLength: keepZero(int32()),
    concurrency: keepZero(int32()),
    proxyBootstrapTemplatePath: string(),
    interceptionMode: enumOf("REDIRECT", "TPROXY", "NONE"),
    tracing,
    sds: shape({ enabled: bool(), k8sSaJwtPath: string() }),
    proxyAccessLogService: remoteService,
    proxyMetricsService: remoteService,
    proxyMetadata: map(string(), ownMetadataKey),
    runtimeValues: stringMap(),
    statusPort: keepZero(int32()),
    extraStatTags: list(string()),
    gatewayTopology: message<types.GatewayTopology>({
      numTrustedProxies: uint32(),
      forwardClientCertDetails: forwardClientCert,
      proxyProtocol: shape({}),
    }),
    meshId: string(),
    readinessProbe,
    proxyStatsMatcher: message<types.ProxyStatsMatcher>({
      inclusionPrefixes: list(string()),
      inclusionSuffixes: list(string()),
      inclusionRegexps: list(string()),
    }),
    holdApplicationUntilProxyStarts: keepZero(bool()),
    caCertificatesPem: list(string()),
    image: shape({ imageType: string() }),
    privateKeyProvider: message<types.PrivateKeyProvider>(
      { cryptomb: keyProvider, qat: keyProvider },
      { oneOf: [["cryptomb", "qat"]] },
    ),
    proxyHeaders,
  },
  { oneOf: [["serviceCluster", "tracingServiceName"]] },
);
