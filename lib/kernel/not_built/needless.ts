/**
 * Settings, fields and values that will never have an effect here, because there is nothing for them to change, and metrics
 * that would never change.
 *
 * @module
 */

/** The settings, with the reason. */
export const NEEDLESS_SETTINGS: Readonly<Record<string, string>> = {
  HTTP_STRIP_FRAGMENT_FROM_PATH_UNSAFE_IF_DISABLED: "Envoy has no such switch any more",
  PEER_METADATA_DISCOVERY: "stock Envoy has no such extension",
  USE_REMOTE_CERTS: "a secret `cacerts` of the configuration's API is used wherever no folder has an authority",
  XDS_AUTH_PROVIDER: "what an agent shows is what it has: a certificate of its machine, else its token",
  MESH_ORCH_CLIENT_CONTENT_TYPE:
    "JSON is read, and kinds of definitions have nothing else: protobuf would save 0.05 of 2.7 CPU s of a start with 80,000 endpoints",
  ENABLE_VTPROTOBUF: "the encoder here has one mode",
  MUTEX_PROFILE_FRACTION: "there is no lock to profile in one thread",
  PILOT_CONVERT_SIDECAR_SCOPE_CONCURRENCY: "a scope is made when the first proxy asks for it, and shared",
  PILOT_DISABLE_MX_ALPN: "the protocol `istio-peer-exchange` is never offered: stock Envoy lacks the filter behind it",
  PILOT_ENABLE_ALPN_FILTER: "stock Envoy has no such filter",
  PILOT_UNIFIED_SIDECAR_SCOPE: "scopes are made in one way only",
  PILOT_XDS_CACHE_INDEX_CLEAR_INTERVAL: "what indexes a cached resource goes with it",
  PILOT_XDS_CACHE_SIZE: "build results are shared by all proxies, and bounded for each host (256 variants), not in all",
  UNSAFE_PILOT_ENABLE_DELTA_TEST: "property tests show that deltas are the least",
  UNSAFE_PILOT_ENABLE_RUNTIME_ASSERTIONS: "assertions are tests here",
};

/** Fields of the mesh configuration, with the reason. */
export const NEEDLESS_MESH_FIELDS: Readonly<Record<string, string>> = {
  ca: "agents name an authority elsewhere by CA_ADDR; Istio does not read the field either",
  verifyCertificateAtClient:
    "DestinationRules say whether and by which authorities clients verify a server; Istio does not read the field either",
};

/** Values of fields that are not taken, with the reason; a warning names each that is given. */
export const NEEDLESS_VALUES: Readonly<Record<string, string>> = {
  "configSources[].address k8s://CLUSTER":
    "a control plane in that cluster serves its configuration at xds://HOST:PORT; Istio reads nothing from there either",
};

const NO_QUEUE = "an agent has no queues of controllers: it watches nothing of the orchestrator";

/** Metrics that a program has no use for, by program, with the reason: they are not on its page. */
export const NEEDLESS_METRICS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "pilot-agent": {
    pilot_worker_queue_depth: NO_QUEUE,
    pilot_worker_queue_duration: NO_QUEUE,
    pilot_worker_queue_latency: NO_QUEUE,
  },
};

/** Programs that have no use for a metric, each with the reason. */
export function needlessIn(metric: string): [program: string, reason: string][] {
  return Object.entries(NEEDLESS_METRICS).flatMap(([program, { [metric]: reason }]) =>
    reason === undefined ? [] : [[program, reason]]
  );
}
