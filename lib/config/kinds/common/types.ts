/**
 * Messages that several kinds share.
 *
 * Rules of every spec type in `lib/config/kinds`:
 * - Field names are what users write (camelCase; snake_case input is accepted and turned into it).
 * - A field that was not written is absent. A scalar, list or map written as its zero value (`0`, `""`, `false`, `[]`,
 *   `{}`) counts as not written, as protobuf does it; fields where "written as zero" differs from "absent" say so
 *   ("presence kept"), as does a field whose type has no `?`.
 * - Durations are numbers in milliseconds (fractions possible), whatever unit the user wrote.
 * - Enumerations are their names. An enumeration field without `?` carries its default when not written.
 * - Specs are deeply immutable; share them, never copy them to change them.
 *
 * @module
 */

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
  readonly exact?: string;
  /** Prefix; presence kept (an empty prefix matches everything that is present). */
  readonly prefix?: string;
  /** RE2 regular expression that must match the whole value; checked to compile. */
  readonly regex?: string;
}

/** Selects workloads by labels; absent or empty selects all in the namespace (all namespaces in the root namespace). */
export interface WorkloadSelector {
  readonly matchLabels?: StringMap;
}

/** The older selector form of Sidecar, ServiceEntry and ProxyFilter. */
export interface LabelsSelector {
  readonly labels?: StringMap;
}

/** The object that a policy attaches to (Gateway, Service, ...). */
export interface PolicyTargetReference {
  /** API group; absent means the core group. */
  readonly group?: string;
  readonly kind: string;
  readonly name: string;
  /** Only the object's own namespace is allowed. */
  readonly namespace?: string;
}

/** A port by number, 1..65535. */
export interface PortSelector {
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
  /** Idle time before the first probe, ms. */
  readonly time?: number;
  /** Time between probes, ms. */
  readonly interval?: number;
}

/** TCP side of a connection pool. */
export interface TcpSettings {
  /** Connections to one host; absent: no limit of ours. */
  readonly maxConnections?: number;
  /** ms; absent: the mesh's connectTimeout. */
  readonly connectTimeout?: number;
  readonly tcpKeepalive?: TcpKeepalive;
  /** ms; absent: unlimited. */
  readonly maxConnectionDuration?: number;
  /** ms; absent: 1 h, the proxy's default. Presence kept: 0 turns the timeout off. */
  readonly idleTimeout?: number;
}

/** Whether HTTP/1.1 to a destination is upgraded to HTTP/2. */
export type H2UpgradePolicy = "DEFAULT" | "DO_NOT_UPGRADE" | "UPGRADE";

/** HTTP side of a connection pool. */
export interface HttpSettings {
  readonly http1MaxPendingRequests?: number;
  readonly http2MaxRequests?: number;
  /** 1 turns keep-alive off. */
  readonly maxRequestsPerConnection?: number;
  readonly maxRetries?: number;
  /** ms; absent: 1 h. Presence kept: 0 turns it off. */
  readonly idleTimeout?: number;
  /** Default DEFAULT: what the mesh configuration says. */
  readonly h2UpgradePolicy: H2UpgradePolicy;
  /** Talk to the destination in the protocol the client used. */
  readonly useClientProtocol?: boolean;
  readonly maxConcurrentStreams?: number;
}

/** Limits of connections to a destination. */
export interface ConnectionPoolSettings {
  readonly tcp?: TcpSettings;
  readonly http?: HttpSettings;
}

/** Client side TLS of a connection to a destination. MESH_MUTUAL uses the mesh's own certificates (written ISTIO_MUTUAL by the peer's users). */
export type ClientTlsMode = "DISABLE" | "SIMPLE" | "MUTUAL" | "MESH_MUTUAL";

/** TLS settings for connections to a destination. */
export interface ClientTlsSettings {
  /** Default DISABLE. */
  readonly mode: ClientTlsMode;
  /** Path of the client certificate chain (MUTUAL). */
  readonly clientCertificate?: string;
  /** Path of the private key (MUTUAL). */
  readonly privateKey?: string;
  /** Path of the authorities that verify the server; absent: not verified, or the system's (see `insecureSkipVerify`). */
  readonly caCertificates?: string;
  /** Name of a secret with key, certificate and authority; excludes the paths. */
  readonly credentialName?: string;
  /**
   * Names of which the server's certificate must carry one. Absent: those of the service entry and of the service
   * accounts of its endpoints. Empty: none, any certificate of the authorities will do.
   */
  readonly subjectAltNames?: readonly string[];
  readonly sni?: string;
  /** Presence kept. */
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
  readonly serverCertificate?: string;
  readonly privateKey?: string;
  readonly caCertificates?: string;
}

/** TLS settings of a listening port. */
export interface ServerTlsSettings {
  /** Answer plain HTTP with 301 to https. */
  readonly httpsRedirect?: boolean;
  /** Default PASSTHROUGH. */
  readonly mode: ServerTlsMode;
  readonly serverCertificate?: string;
  readonly privateKey?: string;
  readonly caCertificates?: string;
  readonly caCrl?: string;
  readonly credentialName?: string;
  /** At most two (one RSA, one ECDSA). */
  readonly credentialNames?: readonly string[];
  readonly tlsCertificates?: readonly TlsCertificate[];
  readonly subjectAltNames?: readonly string[];
  /** base64 SHA-256 of accepted public keys. */
  readonly verifyCertificateSpki?: readonly string[];
  /** hex SHA-256 of accepted certificates. */
  readonly verifyCertificateHash?: readonly string[];
  /** Default TLS_AUTO. */
  readonly minProtocolVersion: TlsProtocol;
  /** Default TLS_AUTO. */
  readonly maxProtocolVersion: TlsProtocol;
  readonly cipherSuites?: readonly string[];
}

/** Share of traffic from one locality to others. */
export interface LocalityDistribute {
  /** `region/zone/subzone`, `*` allowed as a trailing part. */
  readonly from: string;
  /** Locality to percent; sums to 100. */
  readonly to: Readonly<Record<string, number>>;
}

/** Where traffic of a region goes when it has no healthy endpoint. */
export interface LocalityFailover {
  readonly from: string;
  readonly to: string;
}

/** Locality aware load balancing. Only one of the lists is set. */
export interface LocalityLbSetting {
  readonly distribute?: readonly LocalityDistribute[];
  readonly failover?: readonly LocalityFailover[];
  /** Labels compared in order (`label` or `label=value`); endpoints that share more come first. */
  readonly failoverPriority?: readonly string[];
  /** Presence kept; absent: on. */
  readonly enabled?: boolean;
}

/** When and how a failed request is tried again. */
export interface HttpRetry {
  /** Presence kept: 0 turns retries off. */
  readonly attempts: number;
  /** ms; absent: the route's timeout. */
  readonly perTryTimeout?: number;
  /** Comma separated proxy retry conditions, or status codes; absent: the mesh's default. */
  readonly retryOn?: string;
  /** Presence kept. */
  readonly retryRemoteLocalities?: boolean;
  /** Presence kept; absent: on. */
  readonly retryIgnorePreviousHosts?: boolean;
  /** Base interval of the exponential back-off, ms. Presence kept. */
  readonly backoff?: number;
}

/** HTTP probe. */
export interface HttpHealthCheck {
  readonly path?: string;
  readonly port: number;
  readonly host?: string;
  /** HTTP (default) or HTTPS. */
  readonly scheme?: string;
  readonly httpHeaders?: readonly { readonly name?: string; readonly value?: string }[];
}

/** How a workload outside the orchestrator is probed. At most one method is set. */
export interface ReadinessProbe {
  readonly initialDelaySeconds?: number;
  /** Absent: 1. */
  readonly timeoutSeconds?: number;
  /** Absent: 10. */
  readonly periodSeconds?: number;
  /** Absent: 1. */
  readonly successThreshold?: number;
  /** Absent: 3. */
  readonly failureThreshold?: number;
  readonly httpGet?: HttpHealthCheck;
  readonly tcpSocket?: { readonly host?: string; readonly port: number };
  readonly exec?: { readonly command: readonly string[] };
  readonly grpc?: { readonly port: number; readonly service?: string };
}
