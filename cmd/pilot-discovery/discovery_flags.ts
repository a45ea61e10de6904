/**
 * Flags of `pilot-discovery discovery`.
 *
 * @module
 */
import {
  boolFlag,
  durationFlag,
  type FlagValues,
  floatFlag,
  intFlag,
  mapFlag,
  stringFlag,
  stringListFlag,
} from "../../lib/cli/flag.ts";
import { logFlags, vklogFlag } from "../../lib/cli/log_flags.ts";
import { MAX_DURATION_TEXT } from "../../lib/kernel/time/duration.ts";

/** Suites without known weakness. */
export const preferredCiphers: readonly string[] = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
  "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
  "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
  "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
  "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
  "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
  "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
  "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
];

/** Suites with known weaknesses, accepted by name only. */
export const insecureCiphers: readonly string[] = [
  "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
  "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
  "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
  "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
  "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
  "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
  "TLS_RSA_WITH_AES_128_CBC_SHA",
  "TLS_RSA_WITH_AES_128_CBC_SHA256",
  "TLS_RSA_WITH_AES_128_GCM_SHA256",
  "TLS_RSA_WITH_AES_256_CBC_SHA",
  "TLS_RSA_WITH_AES_256_GCM_SHA384",
  "TLS_RSA_WITH_RC4_128_SHA",
];

const NAMESPACE = "mesh-system";

const addresses = {
  ctrlz_address: stringFlag("localhost", "address of the introspection pages; * for all addresses"),
  ctrlz_port: intFlag("uint16", 9876, "port of the introspection pages; 0: any that is free"),
  grpcAddr: stringFlag(":15010", "address of discovery in plain text; empty: on --httpAddr"),
  httpAddr: stringFlag(":8080", "address of readiness and debug pages"),
  httpsAddr: stringFlag(":15017", "address of the injection and validation webhooks; empty: on --httpAddr"),
  monitoringAddr: stringFlag(":15014", "address of metrics; empty: on --httpAddr"),
  secureGRPCAddr: stringFlag(":15012", "address of discovery over TLS; empty: none"),
};

const sources = {
  clusterAliases: mapFlag("other names of clusters: alias1=cluster1,alias2=cluster2"),
  clusterID: stringFlag("Orch", "cluster in which this server runs; when not given, $CLUSTER_ID"),
  clusterRegistriesNamespace: stringFlag(NAMESPACE, "namespace of what describes remote clusters"),
  cniNamespace: stringFlag(NAMESPACE, "namespace of the node plugin; when not given, $POD_NAMESPACE"),
  configDir: stringFlag("", "folder of YAML and JSON files to watch, instead of the orchestrator's objects", {
    complete: "folder",
  }),
  domain: stringFlag("cluster.local", "DNS suffix of services"),
  orchconfig: stringFlag("", "orchestrator config file, instead of the one of the pod", {
    complete: "file",
    also: ["kubeconfig"],
  }),
  orchApiBurst: intFlag("int", 160, "calls to the orchestrator that may go out at once", {
    also: ["kubernetesApiBurst"],
  }),
  orchApiQPS: floatFlag(80, "calls to the orchestrator per second", { also: ["kubernetesApiQPS"] }),
  meshConfig: stringFlag(
    "./etc/mesh/config/mesh",
    "mesh configuration file; when not given, an absent one means the defaults",
    {
      complete: "file",
    },
  ),
  namespace: stringFlag(NAMESPACE, "namespace in which this server runs; when not given, $POD_NAMESPACE", {
    short: "n",
  }),
  networksConfig: stringFlag(
    "./etc/mesh/config/meshNetworks",
    "mesh networks file; when not given, an absent one means none",
    {
      complete: "file",
    },
  ),
  registries: stringListFlag(
    ["Orch"],
    "where services come from, comma separated: Orch, File (manifests in --configDir), Mock",
    {
      allowed: ["Orch", "File", "Mock"],
      spelledAlso: { Kubernetes: "Orch" },
    },
  ),
};

const serving = {
  caCertFile: stringFlag("", "file of the CA that clients' certificates are checked against", { complete: "file" }),
  keepaliveInterval: durationFlag(
    "30s",
    "silence after which a peer is pinged, at least 1s; when not given, $GRPC_KEEPALIVE_INTERVAL",
  ),
  keepaliveMaxServerConnectionAge: durationFlag(
    MAX_DURATION_TEXT,
    "age at which a connection is closed gracefully; 0s is never too",
  ),
  keepaliveTimeout: durationFlag("10s", "time for the answer to a ping; when not given, $GRPC_KEEPALIVE_TIMEOUT"),
  profile: boolFlag("serve profiles under /debug/pprof"),
  shutdownDuration: durationFlag("10s", "time that a graceful stop may take"),
  "tls-cipher-suites": stringListFlag(
    [],
    "cipher suites of TLS, comma separated; when not given, those of the runtime. " +
      `Preferred: ${preferredCiphers.join(", ")}. Insecure: ${insecureCiphers.join(", ")}`,
    { allowed: [...preferredCiphers, ...insecureCiphers] },
  ),
  tlsCertFile: stringFlag("", "file of the server's certificate", { complete: "file" }),
  tlsKeyFile: stringFlag("", "file of that certificate's private key", { complete: "file" }),
};

/** Flags of the command itself. */
export const discoveryFlags = { ...addresses, ...sources, ...serving, ...logFlags("pilot-discovery") };

/** Their values, with the global ones. */
export type DiscoveryFlagValues = FlagValues<typeof discoveryFlags> & FlagValues<typeof vklogFlag>;
