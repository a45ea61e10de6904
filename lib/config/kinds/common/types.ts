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

export type * from "./probe_types.ts";

/** Any JSON value: the free-form parts of a spec (patches, plugin configuration). */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
/** A JSON object; keys `__proto__` never occur. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** String keys to string values (labels, headers). `__proto__` never occurs as a key. */
export type StringMap = Readonly<Record<string, string>>;

/** How a string is compared. Exactly one field is set after validation. */
export interface StringMatch {
  /** The whole text. */
  readonly exact?: string;
  /** Prefix (an empty prefix matches everything that is present). */
  readonly prefix?: string;
  /** RE2 regular expression that must match the whole value; checked to compile. */
  readonly regex?: string;
}

/** Selects workloads by labels; absent or empty selects all in the namespace (all namespaces in the root namespace). */
export interface WorkloadSelector {
  /** Labels that a workload must carry, all of them. */
  readonly matchLabels?: StringMap;
}

/** The older selector form of Sidecar, ServiceEntry and ProxyFilter. */
export interface LabelsSelector {
  /** Labels that a workload must carry, all of them. */
  readonly labels?: StringMap;
}

/** The object that a policy attaches to (Gateway, Service, ...). */
export interface PolicyTargetReference {
  /** API group; absent means the core group. */
  readonly group?: string;
  /** Kind of the object, such as Gateway or Service. */
  readonly kind: string;
  /** Name of the object. */
  readonly name: string;
  /** Only the object's own namespace is allowed. */
  readonly namespace?: string;
}

/** A port by number, 1..65535. */
export interface PortSelector {
  /** Number of the port, 1 to 65535. */
  readonly number: number;
}

/** A share of all requests. */
export interface Percent {
  /** 0..100. */
  readonly value: number;
}

/** TCP keepalive of a socket. Absent fields are the operating system's defaults. */
export interface TcpKeepalive {
  /** Probes without an answer before the connection is dead. */
  readonly probes?: number;
  /** Idle time before the first probe. */
  readonly time?: number;
  /** Time between probes. */
  readonly interval?: number;
}

/** TCP side of a connection pool. */
export interface TcpSettings {
  /** Connections to one host; absent: no limit of ours. */
  readonly maxConnections?: number;
  /** Longest time to make a TCP connection; absent: the mesh's connectTimeout. */
  readonly connectTimeout?: number;
  /** Probes that keep idle connections open. */
  readonly tcpKeepalive?: TcpKeepalive;
  /** Longest life of a connection; absent: unlimited. */
  readonly maxConnectionDuration?: number;
  /** Longest idle time of a connection; absent: 1 h, the proxy's default; 0 turns the timeout off. */
  readonly idleTimeout?: number;
}

/** Whether HTTP/1.1 to a destination is upgraded to HTTP/2. */
export type H2UpgradePolicy = "DEFAULT" | "DO_NOT_UPGRADE" | "UPGRADE";

/** HTTP side of a connection pool. */
export interface HttpSettings {
  /** Requests that may wait for a connection. */
  readonly http1MaxPendingRequests?: number;
  /** Requests to the destination at the same time. */
  readonly http2MaxRequests?: number;
  /** 1 turns keep-alive off. */
  readonly maxRequestsPerConnection?: number;
  /** Retries to all hosts of the destination at the same time. */
  readonly maxRetries?: number;
  /** Longest time without a request on a connection; absent: 1 h; 0 turns it off. */
  readonly idleTimeout?: number;
  /** Default DEFAULT: as the mesh configuration says. */
  readonly h2UpgradePolicy: H2UpgradePolicy;
  /** Talk to the destination in the protocol the client used. */
  readonly useClientProtocol?: boolean;
  /** Streams of one HTTP/2 connection at the same time. */
  readonly maxConcurrentStreams?: number;
}

/** Limits of connections to a destination. */
export interface ConnectionPoolSettings {
  /** Settings of TCP connections, also of those that carry HTTP. */
  readonly tcp?: TcpSettings;
  /** Settings of HTTP connections. */
  readonly http?: HttpSettings;
}

/** Client side TLS of a connection to a destination. MESH_MUTUAL uses the mesh's own certificates (ISTIO_MUTUAL in Istio's spelling). */
export type ClientTlsMode = "DISABLE" | "SIMPLE" | "MUTUAL" | "MESH_MUTUAL";

/** TLS settings for connections to a destination. */
export interface ClientTlsSettings {
  /** Default DISABLE. */
  readonly mode: ClientTlsMode;
  /** Path of the client certificate chain (MUTUAL). */
  readonly clientCertificate?: string;
  /** Path of the private key (MUTUAL). */
  readonly privateKey?: string;
  /** Path of the authorities that verify the server; absent: those of the proxy's system (see `insecureSkipVerify`). */
  readonly caCertificates?: string;
  /** Name of a secret with key, certificate and authority; excludes the paths. */
  readonly credentialName?: string;
  /**
   * Names of which the server's certificate must carry one. Absent: those of the service entry and of the service
   * accounts of its endpoints. Empty: none, any certificate of the authorities will do.
   */
  readonly subjectAltNames?: readonly string[];
  /** Server name that the client sends. */
  readonly sni?: string;
  /** The server's certificate is not verified. */
  readonly insecureSkipVerify?: boolean;
  /** Path of a revocation list. */
  readonly caCrl?: string;
}

/** Server side TLS of a gateway or sidecar port. MESH_MUTUAL uses the mesh's own certificates. */
export type ServerTlsMode =
  | "PASSTHROUGH"
  | "SIMPLE"
  | "MUTUAL"
  | "AUTO_PASSTHROUGH"
  | "MESH_MUTUAL"
  | "OPTIONAL_MUTUAL";
/** TLS protocol bound; TLS_AUTO leaves it to the proxy. */
export type TlsProtocol = "TLS_AUTO" | "TLSV1_0" | "TLSV1_1" | "TLSV1_2" | "TLSV1_3";

/** A certificate by file paths. */
export interface TlsCertificate {
  /** File with the certificate. */
  readonly serverCertificate?: string;
  /** File with its key. */
  readonly privateKey?: string;
  /** File with the authorities that clients' certificates must be of. */
  readonly caCertificates?: string;
}

/** TLS settings of a listening port. */
export interface ServerTlsSettings {
  /** Answer plain HTTP with 301 to https. */
  readonly httpsRedirect?: boolean;
  /** Default PASSTHROUGH. */
  readonly mode: ServerTlsMode;
  /** File with the certificate. */
  readonly serverCertificate?: string;
  /** File with its key. */
  readonly privateKey?: string;
  /** File with the authorities that clients' certificates must be of. */
  readonly caCertificates?: string;
  /** File with the certificates that are revoked. */
  readonly caCrl?: string;
  /** Name of the secret with the certificate and its key. */
  readonly credentialName?: string;
  /** At most two (one RSA, one ECDSA). */
  readonly credentialNames?: readonly string[];
  /** Several certificates, from files; the client's algorithms choose. */
  readonly tlsCertificates?: readonly TlsCertificate[];
  /** Names of which a client's certificate must have one. */
  readonly subjectAltNames?: readonly string[];
  /** base64 SHA-256 of accepted public keys. */
  readonly verifyCertificateSpki?: readonly string[];
  /** hex SHA-256 of accepted certificates. */
  readonly verifyCertificateHash?: readonly string[];
  /** Default TLS_AUTO. */
  readonly minProtocolVersion: TlsProtocol;
  /** Default TLS_AUTO. */
  readonly maxProtocolVersion: TlsProtocol;
  /** Cipher suites; absent: the proxy's defaults. */
  readonly cipherSuites?: readonly string[];
}

/** Share of traffic from one locality to others. */
export interface LocalityDistribute {
  /** `region/zone/subzone`, `*` allowed as a trailing part. */
  readonly from: string;
  /** Locality to percent; sums to 100. */
  readonly to: Readonly<Record<string, number>>;
}

/** The region that gets another one's traffic when that has no healthy endpoint. */
export interface LocalityFailover {
  /** Region of the client. */
  readonly from: string;
  /** Region that takes over when that has no healthy endpoint. */
  readonly to: string;
}

/** Locality aware load balancing. Only one of the lists is set. */
export interface LocalityLbSetting {
  /** Shares by locality of the client. */
  readonly distribute?: readonly LocalityDistribute[];
  /** Regions that take over for others. */
  readonly failover?: readonly LocalityFailover[];
  /** Labels compared in order (`label` or `label=value`); endpoints that share more come first. */
  readonly failoverPriority?: readonly string[];
  /** Absent: on. */
  readonly enabled?: boolean;
}

/** Conditions and limits of retries of failed requests. */
export interface HttpRetry {
  /** 0 turns retries off. */
  readonly attempts: number;
  /** Longest time of one try; absent: the route's timeout. */
  readonly perTryTimeout?: number;
  /** Comma separated proxy retry conditions, or status codes; absent: the mesh's default. */
  readonly retryOn?: string;
  /** Retries may go to other localities. */
  readonly retryRemoteLocalities?: boolean;
  /** Retries go to other endpoints than those that failed; absent: they do. */
  readonly retryIgnorePreviousHosts?: boolean;
  /** Base interval of the exponential back-off. */
  readonly backoff?: number;
}
