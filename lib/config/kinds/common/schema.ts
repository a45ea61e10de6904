/**
 * Messages of several kinds.
 *
 * Rules of every spec type in `lib/config/kinds`:
 * - Field names are users' names (camelCase; snake_case input is accepted and converted).
 * - A field that was not written is absent. A scalar, list or map written as its zero value (`0`, `""`, `false`, `[]`,
 *   `{}`) counts as not written, as in protobuf. If zero and absent have different meanings, the schema keeps the zero
 *   (`keepZero`).
 * - Durations are numbers in milliseconds (fractions possible), whatever unit the user wrote.
 * - Enumerations are their names. An enumeration field without `?` carries its default when not written.
 * - Specs are deeply immutable; share them, never copy them to change them.
 *
 * @module
 */
import { labels, list, map } from "../../schema/containers.ts";
import { type Field, keepZero, required, withDefault } from "../../schema/field.ts";
import { message, type Of } from "../../schema/message.ts";
import { bool, double, duration, enumOf, int32, string, uint32 } from "../../schema/scalars.ts";
import { ownLabelExpression } from "../../spelling/spelling.ts";

export const stringMatch = message(
  {
    /** The whole text. */
    exact: keepZero(string()),
    /** Prefix (an empty prefix matches every present value). */
    prefix: keepZero(string()),
    /** RE2 regular expression for the whole value; checked to compile. */
    regex: keepZero(string()),
  },
  { oneOf: [["exact", "prefix", "regex"]] },
);

/** How a string is compared. Exactly one field is set after validation. */
export interface StringMatch extends Of<typeof stringMatch> {}

export const workloadSelector = message({
  /** Required labels of a workload. */
  matchLabels: labels(),
});

/** Selects workloads by labels; absent or empty selects all in the namespace (all namespaces in the root namespace). */
export interface WorkloadSelector extends Of<typeof workloadSelector> {}

export const labelsSelector = message({
  /** Required labels of a workload. */
  labels: labels(),
});

/** The older selector form of Sidecar, ServiceEntry and ProxyFilter. */
export interface LabelsSelector extends Of<typeof labelsSelector> {}

export const targetReference = message({
  /** API group; absent means the core group. */
  group: string(),
  /** Kind of the object, such as Gateway or Service. */
  kind: required(string(), "a kind such as Gateway or Service"),
  /** Name of the object. */
  name: required(string(), "a name"),
  /** Only the object's own namespace is allowed. */
  namespace: string(),
});

/** The object that a policy attaches to (Gateway, Service, ...). */
export interface PolicyTargetReference extends Of<typeof targetReference> {}

export const portSelector = message({
  /** Number of the port, 1 to 65535. */
  number: required(uint32(), "a port number, 1..65535"),
});

/** A port by number, 1..65535. */
export interface PortSelector extends Of<typeof portSelector> {}

export const percent = message({
  /** 0..100. */
  value: withDefault(double(), 0),
});

/** A share of all requests. */
export interface Percent extends Of<typeof percent> {}

export const tcpKeepalive = message({
  /** Probes without an answer before the connection is dead. */
  probes: uint32(),
  /** Idle time before the first probe. */
  time: duration(),
  /** Time between probes. */
  interval: duration(),
});

/** TCP keepalive of a socket. Absent fields are the operating system's defaults. */
export interface TcpKeepalive extends Of<typeof tcpKeepalive> {}

const tcpSettings = message({
  /** Connections to one host; absent: not limited by the mesh. */
  maxConnections: int32(),
  /** Longest time to make a TCP connection; absent: the mesh's connectTimeout. */
  connectTimeout: duration(),
  /** Probes that keep idle connections open. */
  tcpKeepalive,
  /** Longest life of a connection; absent: unlimited. */
  maxConnectionDuration: duration(),
  /** Longest idle time of a connection; absent: 1 h, the proxy's default; 0 turns the timeout off. */
  idleTimeout: duration(),
});

/** TCP side of a connection pool. */
export interface TcpSettings extends Of<typeof tcpSettings> {}

const httpSettings = message({
  /** Requests waiting for a connection. */
  http1MaxPendingRequests: int32(),
  /** Requests to the destination at the same time. */
  http2MaxRequests: int32(),
  /** 1 turns keep-alive off. */
  maxRequestsPerConnection: int32(),
  /** Retries to all hosts of the destination at the same time. */
  maxRetries: int32(),
  /** Longest time without a request on a connection; absent: 1 h; 0 turns the timeout off. */
  idleTimeout: duration(),
  /** Default DEFAULT: as the mesh configuration says. */
  h2UpgradePolicy: withDefault(enumOf("DEFAULT", "DO_NOT_UPGRADE", "UPGRADE"), "DEFAULT"),
  /** Talk to the destination in the protocol the client used. */
  useClientProtocol: bool(),
  /** Concurrent streams of an HTTP/2 connection. */
  maxConcurrentStreams: int32(),
});

/** HTTP side of a connection pool. */
export interface HttpSettings extends Of<typeof httpSettings> {}

export const connectionPool = message({
  /** Settings of TCP connections, including connections that carry HTTP. */
  tcp: tcpSettings,
  /** Settings of HTTP connections. */
  http: httpSettings,
});

/** Limits of connections to a destination. */
export interface ConnectionPoolSettings extends Of<typeof connectionPool> {}

export const clientTls = message({
  /** Default DISABLE. */
  mode: withDefault(enumOf("DISABLE", "SIMPLE", "MUTUAL", "MESH_MUTUAL"), "DISABLE"),
  /** Path of the client certificate chain (MUTUAL). */
  clientCertificate: string(),
  /** Path of the private key (MUTUAL). */
  privateKey: string(),
  /**
   * Path of the authorities that verify the server; absent: the authorities of the proxy's system (see
   * `insecureSkipVerify`).
   */
  caCertificates: string(),
  /** Name of a secret with key, certificate and authority; excludes the paths. */
  credentialName: string(),
  /**
   * Accepted names in the server's certificate. Absent: the names of the service entry and of the service accounts of
   * its endpoints. Empty: any certificate of the authorities.
   */
  subjectAltNames: keepZero(list(string())),
  /** Server name sent by the client. */
  sni: string(),
  /** The server's certificate is not verified. */
  insecureSkipVerify: keepZero(bool()),
  /** Path of a revocation list. */
  caCrl: string(),
});

/** TLS settings for connections to a destination. */
export interface ClientTlsSettings extends Of<typeof clientTls> {}

const tlsProtocol = enumOf("TLS_AUTO", "TLSV1_0", "TLSV1_1", "TLSV1_2", "TLSV1_3");

const tlsCertificate = message({
  /** File with the certificate. */
  serverCertificate: string(),
  /** File with the certificate's key. */
  privateKey: string(),
  /** File with the authorities of clients' certificates. */
  caCertificates: string(),
});

/** A certificate by file paths. */
export interface TlsCertificate extends Of<typeof tlsCertificate> {}

export const serverTls = message({
  /** Answer plain HTTP with 301 to https. */
  httpsRedirect: bool(),
  /** Default PASSTHROUGH. */
  mode: withDefault(
    enumOf("PASSTHROUGH", "SIMPLE", "MUTUAL", "AUTO_PASSTHROUGH", "MESH_MUTUAL", "OPTIONAL_MUTUAL"),
    "PASSTHROUGH",
  ),
  /** File with the certificate. */
  serverCertificate: string(),
  /** File with the certificate's key. */
  privateKey: string(),
  /** File with the authorities of clients' certificates. */
  caCertificates: string(),
  /** File with the revoked certificates. */
  caCrl: string(),
  /** Name of the secret with the certificate and its key. */
  credentialName: string(),
  /** At most two: an RSA and an ECDSA certificate. */
  credentialNames: list(string()),
  /** Several certificates, from files; the client's algorithms choose. */
  tlsCertificates: list(tlsCertificate),
  /** Accepted names in a client's certificate. */
  subjectAltNames: list(string()),
  /** base64 SHA-256 of accepted public keys. */
  verifyCertificateSpki: list(string()),
  /** hex SHA-256 of accepted certificates. */
  verifyCertificateHash: list(string()),
  /** Default TLS_AUTO. */
  minProtocolVersion: withDefault(tlsProtocol, "TLS_AUTO"),
  /** Default TLS_AUTO. */
  maxProtocolVersion: withDefault(tlsProtocol, "TLS_AUTO"),
  /** Cipher suites; absent: the proxy's defaults. */
  cipherSuites: list(string()),
});

/** TLS settings of a listening port. */
export interface ServerTlsSettings extends Of<typeof serverTls> {}

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

const localityDistribute = message({
  /** `region/zone/subzone`, `*` allowed as a trailing part. */
  from: required(string(), "a locality region/zone/subzone"),
  /** Locality to percent; sums to 100. */
  to: required(map(uint32()), "a map of locality to percent"),
});

/** Share of traffic from a locality to other localities. */
export interface LocalityDistribute extends Of<typeof localityDistribute> {}

const localityFailover = message({
  /** Region of the client. */
  from: required(string(), "a region"),
  /** Region that takes over when the client's region has no healthy endpoint. */
  to: required(string(), "a region"),
});

/** A region, and the region that takes over when the first region has no healthy endpoint. */
export interface LocalityFailover extends Of<typeof localityFailover> {}

export const localityLbSetting = message({
  /** Shares by locality of the client. */
  distribute: list(localityDistribute),
  /** Regions that take over for other regions. */
  failover: list(localityFailover),
  /** Labels compared in order (`label` or `label=value`); endpoints that share more labels come first. */
  failoverPriority: list(labelExpression),
  /** Absent: on. */
  enabled: keepZero(bool()),
});

/** Locality aware load balancing. Only one of the lists is set. */
export interface LocalityLbSetting extends Of<typeof localityLbSetting> {}

export const httpRetry = message({
  /** 0 turns retries off. */
  attempts: withDefault(int32(), 0),
  /** Longest time of a try; absent: the route's timeout. */
  perTryTimeout: duration(),
  /** Comma separated proxy retry conditions, or status codes; absent: the mesh's default. */
  retryOn: string(),
  /** Retries may go to other localities. */
  retryRemoteLocalities: keepZero(bool()),
  /** Retries avoid endpoints that failed before; absent: true. */
  retryIgnorePreviousHosts: keepZero(bool()),
  /** Base interval of the exponential back-off. */
  backoff: duration(),
});

/** Conditions and limits of retries of failed requests. */
export interface HttpRetry extends Of<typeof httpRetry> {}

const httpHealthCheck = message({
  /** Path of the request; absent: /. */
  path: string(),
  /** Port of the workload. */
  port: required(uint32(), "a port number, 1..65535"),
  /** Host of the request; absent: the workload's address. */
  host: string(),
  /** HTTP (default) or HTTPS. */
  scheme: string(),
  /** Headers of the request. */
  httpHeaders: list(message({
    /** Name of the header. */
    name: string(),
    /** Value of the header. */
    value: string(),
  })),
});

/** HTTP probe. */
export interface HttpHealthCheck extends Of<typeof httpHealthCheck> {}

export const readinessProbe = message(
  {
    /** Seconds from the start to the first probe. */
    initialDelaySeconds: int32(),
    /** Absent: 1. */
    timeoutSeconds: int32(),
    /** Absent: 10. */
    periodSeconds: int32(),
    /** Absent: 1. */
    successThreshold: int32(),
    /** Absent: 3. */
    failureThreshold: int32(),
    /** An HTTP request; the answer must be 200 to 399. */
    httpGet: httpHealthCheck,
    /** A port; the connection must be accepted. */
    tcpSocket: message({
      /** Host; absent: the workload's address. */
      host: string(),
      /** Number of the port. */
      port: required(uint32(), "a port number, 1..65535"),
    }),
    /** A command; the exit code must be 0. */
    exec: message({
      /** The command and its arguments. */
      command: required(list(string()), "a command, as a list of strings"),
    }),
    /** A port with the gRPC health service. */
    grpc: message({
      /** Number of the port. */
      port: withDefault(uint32(), 0),
      /** The service in the question; absent: the server as a whole. */
      service: string(),
    }),
  },
  { oneOf: [["httpGet", "tcpSocket", "exec", "grpc"]] },
);

/** How a workload outside the orchestrator is probed. At most one method is set. */
export interface ReadinessProbe extends Of<typeof readinessProbe> {}

/** Whether HTTP/1.1 to a destination is upgraded to HTTP/2. */
export type H2UpgradePolicy = HttpSettings["h2UpgradePolicy"];

/** Client side TLS of a connection to a destination. MESH_MUTUAL uses the mesh's own certificates (ISTIO_MUTUAL in Istio's spelling). */
export type ClientTlsMode = ClientTlsSettings["mode"];

/** Server side TLS of a gateway or sidecar port. MESH_MUTUAL uses the mesh's own certificates. */
export type ServerTlsMode = ServerTlsSettings["mode"];

/** TLS protocol bound; with TLS_AUTO the proxy decides. */
export type TlsProtocol = ServerTlsSettings["minProtocolVersion"];
