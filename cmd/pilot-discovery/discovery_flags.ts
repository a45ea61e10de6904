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
import { parseAddress } from "../../lib/cli/address.ts";
import { logFlags, vklogFlag } from "../../lib/cli/log_flags.ts";
import { option, orNone } from "../../lib/cli/option.ts";
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

const isAddress = (text: string) => parseAddress(text) !== undefined;
const addressOrNone = (text: string) => text === "" ? undefined : parseAddress(text);
const OPTIONAL_ADDRESS = {
  good: (text: string) => text === "" || isAddress(text),
  expected: "host:port or :port, port from 0 to 65535",
};
const AT_LEAST_ZERO = { good: (value: number) => value >= 0, expected: "0 or more" };

const addresses = {
  grpcAddr: option("grpcAddr", stringFlag(":15010", "address of discovery in plain text; empty: on --httpAddr"), {
    check: OPTIONAL_ADDRESS,
    read: addressOrNone,
  }),
  httpAddr: option("httpAddr", stringFlag(":8080", "address of readiness and debug pages"), {
    check: { ...OPTIONAL_ADDRESS, good: isAddress },
    read: (text) => parseAddress(text) ?? { host: "", port: 0 },
  }),
  httpsAddr: option(
    "httpsAddr",
    stringFlag(":15017", "address of the injection and validation webhooks; empty: on --httpAddr"),
    { check: OPTIONAL_ADDRESS, read: addressOrNone },
  ),
  monitoringAddr: option("monitoringAddr", stringFlag(":15014", "address of metrics; empty: on --httpAddr"), {
    check: OPTIONAL_ADDRESS,
    read: addressOrNone,
  }),
  secureGRPCAddr: option("secureGrpcAddr", stringFlag(":15012", "address of discovery over TLS; empty: none"), {
    check: OPTIONAL_ADDRESS,
    read: addressOrNone,
  }),
};

const sources = {
  clusterAliases: option("clusterAliases", mapFlag("other names of clusters: alias1=cluster1,alias2=cluster2")),
  clusterID: option("clusterId", stringFlag("Orch", "cluster in which this server runs; when not given, $CLUSTER_ID"), {
    variable: "CLUSTER_ID",
  }),
  clusterRegistriesNamespace: option(
    "clusterRegistriesNamespace",
    stringFlag(NAMESPACE, "namespace of what describes remote clusters"),
  ),
  cniNamespace: option(
    "cniNamespace",
    stringFlag(NAMESPACE, "namespace of the node plugin; when not given, $POD_NAMESPACE"),
    { variable: "POD_NAMESPACE" },
  ),
  configDir: option(
    "configDir",
    stringFlag("", "folder of YAML and JSON files to watch, instead of the orchestrator's objects", {
      complete: "folder",
    }),
    { read: orNone },
  ),
  domain: option("domain", stringFlag("cluster.local", "DNS suffix of services")),
  orchconfig: option(
    "orchconfig",
    stringFlag("", "orchestrator config file, instead of the one of the pod", {
      complete: "file",
      also: ["kubeconfig"],
    }),
    { read: orNone },
  ),
  orchApiBurst: option(
    "orchApiBurst",
    intFlag("int", 160, "calls to the orchestrator that may go out at once", {
      also: ["kubernetesApiBurst"],
    }),
    { check: AT_LEAST_ZERO },
  ),
  orchApiQPS: option(
    "orchApiQps",
    floatFlag(80, "calls to the orchestrator per second", { also: ["kubernetesApiQPS"] }),
    { check: AT_LEAST_ZERO },
  ),
  meshConfig: option(
    "meshConfig",
    stringFlag(
      "./etc/mesh/config/mesh",
      "mesh configuration file; when not given, an absent one means the defaults",
      {
        complete: "file",
      },
    ),
  ),
  namespace: option(
    "namespace",
    stringFlag(NAMESPACE, "namespace in which this server runs; when not given, $POD_NAMESPACE", {
      short: "n",
    }),
    { variable: "POD_NAMESPACE" },
  ),
  networksConfig: option(
    "networksConfig",
    stringFlag(
      "./etc/mesh/config/meshNetworks",
      "mesh networks file; when not given, an absent one means none",
      {
        complete: "file",
      },
    ),
  ),
  registries: option(
    "registries",
    stringListFlag(
      ["Orch"],
      "where services come from, comma separated: Orch, File (manifests in --configDir), Mock",
      {
        allowed: ["Orch", "File", "Mock"],
        spelledAlso: { Kubernetes: "Orch" },
      },
    ),
    { read: (names) => [...new Set(names)] as ("Orch" | "File" | "Mock")[] },
  ),
};

const serving = {
  keepaliveInterval: option(
    "keepaliveInterval",
    durationFlag(
      "30s",
      "silence after which a peer is pinged, at least 1s; when not given, $GRPC_KEEPALIVE_INTERVAL",
    ),
    { variable: "GRPC_KEEPALIVE_INTERVAL" },
  ),
  keepaliveMaxServerConnectionAge: option(
    "keepaliveMaxServerConnectionAge",
    durationFlag(
      MAX_DURATION_TEXT,
      "age at which a connection is closed gracefully; 0s is never too",
    ),
    { check: { ...AT_LEAST_ZERO, expected: "0s or more" }, read: (age) => age || Infinity },
  ),
  keepaliveTimeout: option(
    "keepaliveTimeout",
    durationFlag("10s", "time for the answer to a ping; when not given, $GRPC_KEEPALIVE_TIMEOUT"),
    { variable: "GRPC_KEEPALIVE_TIMEOUT" },
  ),
  profile: option("profile", boolFlag("serve profiles under /debug/pprof")),
  shutdownDuration: option("shutdownDuration", durationFlag("10s", "time that a graceful stop may take"), {
    check: { ...AT_LEAST_ZERO, expected: "0s or more" },
  }),
};

/** Flags that only together make an option: the address of the introspection pages, and TLS. */
const together = {
  ctrlz_address: stringFlag("localhost", "address of the introspection pages; * for all addresses"),
  ctrlz_port: intFlag("uint16", 9876, "port of the introspection pages; 0: any that is free"),
  caCertFile: stringFlag("", "file of the CA that clients' certificates are checked against", { complete: "file" }),
  "tls-cipher-suites": stringListFlag(
    [],
    "cipher suites of TLS, comma separated; when not given, those of the runtime. " +
      `Preferred: ${preferredCiphers.join(", ")}. Insecure: ${insecureCiphers.join(", ")}`,
    { allowed: [...preferredCiphers, ...insecureCiphers] },
  ),
  tlsCertFile: stringFlag("", "file of the server's certificate", { complete: "file" }),
  tlsKeyFile: stringFlag("", "file of that certificate's private key", { complete: "file" }),
};

/** The other flags with their options. */
export const discoveryRows = { ...addresses, ...sources, ...serving };

/** The command's own flags. */
export const discoveryFlags = { ...discoveryRows, ...together, ...logFlags("pilot-discovery") };

/** Values of the command's flags and of the global flags. */
export type DiscoveryFlagValues = FlagValues<typeof discoveryFlags> & FlagValues<typeof vklogFlag>;
