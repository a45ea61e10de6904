/**
 * Schemas of the messages that several kinds share.
 *
 * @module
 */
import { labels, list, map } from "../../schema/containers.ts";
import { type Field, keepZero, required, withDefault } from "../../schema/field.ts";
import { message, shape } from "../../schema/message.ts";
import { bool, double, duration, enumOf, int32, string, uint32 } from "../../schema/scalars.ts";
import { ownLabelExpression } from "../../spelling/spelling.ts";
import type {
  ClientTlsSettings,
  ConnectionPoolSettings,
  HttpHealthCheck,
  HttpRetry,
  HttpSettings,
  LabelsSelector,
  LocalityDistribute,
  LocalityFailover,
  LocalityLbSetting,
  Percent,
  PolicyTargetReference,
  PortSelector,
  ReadinessProbe,
  ServerTlsSettings,
  StringMatch,
  TcpKeepalive,
  TcpSettings,
  TlsCertificate,
  WorkloadSelector,
} from "./types.ts";

/** See {@link StringMatch}. */
export const stringMatch: Field<StringMatch> = message<StringMatch>(
  { exact: keepZero(string()), prefix: keepZero(string()), regex: keepZero(string()) },
  { oneOf: [["exact", "prefix", "regex"]] },
);

/** See {@link WorkloadSelector}. */
export const workloadSelector: Field<WorkloadSelector> = message<WorkloadSelector>({ matchLabels: labels() });

/** See {@link LabelsSelector}. */
export const labelsSelector: Field<LabelsSelector> = message<LabelsSelector>({ labels: labels() });

/** See {@link PolicyTargetReference}. */
export const targetReference: Field<PolicyTargetReference> = message<PolicyTargetReference>({
  group: string(),
  kind: required(string(), "a kind such as Gateway or Service"),
  name: required(string(), "a name"),
  namespace: string(),
});

/** See {@link PortSelector}. */
export const portSelector: Field<PortSelector> = message<PortSelector>({
  number: required(uint32(), "a port number, 1..65535"),
});

/** See {@link Percent}. */
export const percent: Field<Percent> = message<Percent>({ value: withDefault(double(), 0) });

/** See {@link TcpKeepalive}. */
export const tcpKeepalive: Field<TcpKeepalive> = message<TcpKeepalive>({
  probes: uint32(),
  time: duration(),
  interval: duration(),
});

const tcpSettings = message<TcpSettings>({
  maxConnections: int32(),
  connectTimeout: duration(),
  tcpKeepalive,
  maxConnectionDuration: duration(),
  idleTimeout: duration(),
});

const httpSettings = message<HttpSettings>({
  http1MaxPendingRequests: int32(),
  http2MaxRequests: int32(),
  maxRequestsPerConnection: int32(),
  maxRetries: int32(),
  idleTimeout: duration(),
  h2UpgradePolicy: withDefault(enumOf("DEFAULT", "DO_NOT_UPGRADE", "UPGRADE"), "DEFAULT"),
  useClientProtocol: bool(),
  maxConcurrentStreams: int32(),
});

/** See {@link ConnectionPoolSettings}. */
export const connectionPool: Field<ConnectionPoolSettings> = message<ConnectionPoolSettings>({
  tcp: tcpSettings,
  http: httpSettings,
});

/** See {@link ClientTlsSettings}. */
export const clientTls: Field<ClientTlsSettings> = message<ClientTlsSettings>({
  mode: withDefault(enumOf("DISABLE", "SIMPLE", "MUTUAL", "MESH_MUTUAL"), "DISABLE"),
  clientCertificate: string(),
  privateKey: string(),
  caCertificates: string(),
  credentialName: string(),
  subjectAltNames: keepZero(list(string())),
  sni: string(),
  insecureSkipVerify: keepZero(bool()),
  caCrl: string(),
});

const tlsProtocol = enumOf("TLS_AUTO", "TLSV1_0", "TLSV1_1", "TLSV1_2", "TLSV1_3");

/** See {@link ServerTlsSettings}. */
export const serverTls: Field<ServerTlsSettings> = message<ServerTlsSettings>({
  httpsRedirect: bool(),
  mode: withDefault(
    enumOf("PASSTHROUGH", "SIMPLE", "MUTUAL", "AUTO_PASSTHROUGH", "MESH_MUTUAL", "OPTIONAL_MUTUAL"),
    "PASSTHROUGH",
  ),
  serverCertificate: string(),
  privateKey: string(),
  caCertificates: string(),
  caCrl: string(),
  credentialName: string(),
  credentialNames: list(string()),
  tlsCertificates: list(message<TlsCertificate>({
    serverCertificate: string(),
    privateKey: string(),
    caCertificates: string(),
  })),
  subjectAltNames: list(string()),
  verifyCertificateSpki: list(string()),
  verifyCertificateHash: list(string()),
  minProtocolVersion: withDefault(tlsProtocol, "TLS_AUTO"),
  maxProtocolVersion: withDefault(tlsProtocol, "TLS_AUTO"),
  cipherSuites: list(string()),
});

const plainString = string();
const labelExpression: Field<string> = {
  shape: plainString.shape,
  expected: "a label (key or key=value)",
  zero: () => "",
  decode(value, context) {
    const text = plainString.decode(value, context);
    return text === undefined ? undefined : ownLabelExpression(text);
  },
};

/** See {@link LocalityLbSetting}. */
export const localityLbSetting: Field<LocalityLbSetting> = message<LocalityLbSetting>({
  distribute: list(message<LocalityDistribute>({
    from: required(string(), "a locality region/zone/subzone"),
    to: required(map(uint32()), "a map of locality to percent"),
  })),
  failover: list(message<LocalityFailover>({
    from: required(string(), "a region"),
    to: required(string(), "a region"),
  })),
  failoverPriority: list(labelExpression),
  enabled: keepZero(bool()),
});

/** See {@link HttpRetry}. */
export const httpRetry: Field<HttpRetry> = message<HttpRetry>({
  attempts: withDefault(int32(), 0),
  perTryTimeout: duration(),
  retryOn: string(),
  retryRemoteLocalities: keepZero(bool()),
  retryIgnorePreviousHosts: keepZero(bool()),
  backoff: duration(),
});

const httpHealthCheck = message<HttpHealthCheck>({
  path: string(),
  port: required(uint32(), "a port number, 1..65535"),
  host: string(),
  scheme: string(),
  httpHeaders: list(shape({ name: string(), value: string() })),
});

/** See {@link ReadinessProbe}. */
export const readinessProbe: Field<ReadinessProbe> = message<ReadinessProbe>(
  {
    initialDelaySeconds: int32(),
    timeoutSeconds: int32(),
    periodSeconds: int32(),
    successThreshold: int32(),
    failureThreshold: int32(),
    httpGet: httpHealthCheck,
    tcpSocket: shape({ host: string(), port: required(uint32(), "a port number, 1..65535") }),
    exec: shape({ command: required(list(string()), "a command, as a list of strings") }),
    grpc: shape({ port: withDefault(uint32(), 0), service: string() }),
  },
  { oneOf: [["httpGet", "tcpSocket", "exec", "grpc"]] },
);
