/**
 * Messages that several kinds share.
 *
 * Rules of every spec type in `lib/config/kinds`:
 * - Field names are what users write (camelCase; snake_case input is accepted and turned into it).
 * - A field that was not written is absent. A scalar, list or map written as its zero value (`0`, `""`, `false`, `[]`,
 *   `{}`) counts as not written, as protobuf does it. Where "written as zero" means something else than "absent", the schema keeps the zero
 *   (`keepZero`).
 * - Durations are numbers in milliseconds (fractions possible), also where the user wrote another unit.
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
    /** Prefix (an empty prefix matches everything that is present). */
    prefix: keepZero(string()),
    /** RE2 regular expression that must match the whole value; checked to compile. */
    regex: keepZero(string()),
  },
  { oneOf: [["exact", "prefix", "regex"]] },
);

/** How a string is compared. Exactly one field is set after validation. */
export interface StringMatch extends Of<typeof stringMatch> {}

export const workloadSelector = message({
  /** Labels that a workload must carry, all of them. */
  matchLabels: labels(),
});

/** Selects workloads by labels; absent or empty selects all in the namespace (all namespaces in the root namespace). */
export interface WorkloadSelector extends Of<typeof workloadSelector> {}

export const labelsSelector = message({
  /** Labels that a workload must carry, all of them. */
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
  /** Connections to one host; absent: no limit of ours. */
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
  /** Requests that may wait for a connection. */
  http1MaxPendingRequests: int32(),
  /** Requests to the destination at the same time. */
  http2MaxRequests: int32(),
  /** 1 turns keep-alive off. */
  maxRequestsPerConnection: int32(),
  /** Retries to all hosts of the destination at the same time. */
  maxRetries: int32(),
  /** Longest time without a request on a connection; absent: 1 h; 0 turns it off. */
  idleTimeout: duration(),
  /** Default DEFAULT: as the mesh configuration says. */
  h2UpgradePolicy: withDefault(enumOf("DEFAULT", "DO_NOT_UPGRADE", "UPGRADE"), "DEFAULT"),
  /** Talk to the destination in the protocol the client used. */
  useClientProtocol: bool(),
  /** Streams of one HTTP/2 connection at the same time. */
  maxConcurrentStreams: int32(),
});

/** HTTP side of a connection pool. */
export interface HttpSettings extends Of<typeof httpSettings> {}

export const connectionPool = message({
  /** Settings of TCP connections, also of those that carry HTTP. */
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
  /** Path of the authorities that verify the server; absent: those of the proxy's system (see `insecureSkipVerify`). */
  caCertificates: string(),
  /** Name of a secret with key, certificate and authority; excludes the paths. */
  credentialName: string(),
  /**
   * Names of which the server's certificate must carry one. Absent: those of the service entry and of the service
   * accounts of its endpoints. Empty: none, any certificate of the authorities will do.
   */
  subjectAltNames: keepZero(list(string())),
  /** Server name that the client sends. */
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
  /** File with its key. */
  privateKey: string(),
  /** File with the authorities that clients' certificates must be of. */
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
  /** File with its key. */
  privateKey: string(),
  /** File with the authorities that clients' certificates must be of. */
  caCertificates: string(),
  /** File with the certificates that are revoked. */
  caCrl: string(),
  /** Name of the secret with the certificate and its key. */
  credentialName: string(),
  /** At most two (one RSA, one ECDSA). */
  credentialNames: list(string()),
  /** Several certificates, from files; the client's algorithms choose. */
  tlsCertificates: list(tlsCertificate),
  /** Names of which a client's certificate must have one. */
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

/** Share of traffic from one locality to others. */
export interface LocalityDistribute extends Of<typeof localityDistribute> {}

const localityFailover = message({
  /** Region of the client. */
  from: required(string(), "a region"),
  /** Region that takes over when that has no healthy endpoint. */
  to: required(string(), "a region"),
});

/** The region that gets another one's traffic when that has no healthy endpoint. */
export interface LocalityFailover extends Of<typeof localityFailover> {}

export const localityLbSetting = message({
  /** Shares by locality of the client. */
  distribute: list(localityDistribute),
  /** Regions that take over for others. */
  failover: list(localityFailover),
  /** Labels compared in order (`label` or `label=value`); endpoints that share more come first. */
  failoverPriority: list(labelExpression),
  /** Absent: on. */
  enabled: keepZero(bool()),
});

/** Locality aware load balancing. Only one of the lists is set. */
export interface LocalityLbSetting extends Of<typeof localityLbSetting> {}

export const httpRetry = message({
  /** 0 turns retries off. */
  attempts: withDefault(int32(), 0),
  /** Longest time of one try; absent: the route's timeout. */
  perTryTimeout: duration(),
  /** Comma separated proxy retry conditions, or status codes; absent: the mesh's default. */
  retryOn: string(),
  /** Retries may go to other localities. */
  retryRemoteLocalities: keepZero(bool()),
  /** Retries go to other endpoints than those that failed; absent: they do. */
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
    /** An HTTP request that must be answered with 200 to 399. */
    httpGet: httpHealthCheck,
    /** A port that must accept a connection. */
    tcpSocket: message({
      /** Host; absent: the workload's address. */
      host: string(),
      /** Number of the port. */
      port: required(uint32(), "a port number, 1..65535"),
    }),
    /** A command that must end with 0. */
    exec: message({
      /** The command and its arguments. */
      command: required(list(string()), "a command, as a list of strings"),
    }),
    /** A port with the gRPC health service. */
    grpc: message({
      /** Number of the port. */
      port: withDefault(uint32(), 0),
      /** Service that is asked for; absent: the server as a whole. */
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

/** TLS protocol bound; TLS_AUTO leaves it to the proxy. */
export type TlsProtocol = ServerTlsSettings["minProtocolVersion"];
