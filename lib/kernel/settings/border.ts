/**
 * The border between Istio's names of variables and our names. No code behind the border knows Istio's names.
 *
 * If a variable is set under both names, the value under our name counts.
 *
 * @module
 */

/** Environment as a plain table. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables without a common prefix rule: Istio's name and our name. */
export const renamed: Readonly<Record<string, string>> = {
  DISABLE_ENVOY: "DISABLE_PROXY",
  ENABLE_SELECTOR_BASED_K8S_GATEWAY_POLICY: "ENABLE_SELECTOR_BASED_ORCH_GATEWAY_POLICY",
  ENVOY_PROMETHEUS_PORT: "PROXY_METRICS_PORT",
  ENVOY_SKIP_DEPRECATED_LOGS: "PROXY_SKIP_DEPRECATED_LOGS",
  ENVOY_STATUS_PORT: "PROXY_STATUS_PORT",
  ENVOY_USER: "PROXY_USER",
  EXTERNAL_ISTIOD: "EXTERNAL_MESHD",
  GCP_METADATA: "CLOUD_METADATA",
  GCP_QUOTA_PROJECT: "CLOUD_QUOTA_PROJECT",
  GCP_ZONE: "CLOUD_ZONE",
  ISTIO_ENVOY_ENABLE_CORE_DUMP: "MESH_PROXY_ENABLE_CORE_DUMP",
  ISTIO_KUBE_APP_PROBERS: "MESH_ORCH_APP_PROBERS",
  ISTIO_KUBE_CLIENT_CONTENT_TYPE: "MESH_ORCH_CLIENT_CONTENT_TYPE",
  ISTIO_PROMETHEUS_ANNOTATIONS: "MESH_METRICS_ANNOTATIONS",
  K8S_INGRESS_NS: "ORCH_INGRESS_NS",
  K8S_SIGNER: "ORCH_SIGNER",
  KUBECONFIG_MODE: "ORCHCONFIG_MODE",
  KUBERNETES_SERVICE_HOST: "ORCH_SERVICE_HOST",
  KUBERNETES_SERVICE_PORT: "ORCH_SERVICE_PORT",
  KUBE_CA_FILE: "ORCH_CA_FILE",
  KUBE_VIRT_INTERFACES: "ORCH_VIRT_INTERFACES",
  PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES: "PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES",
  PILOT_ENVOY_FILTER_STATS: "PILOT_PROXY_FILTER_STATS",
  PILOT_INSECURE_MULTICLUSTER_KUBECONFIG_OPTIONS: "PILOT_INSECURE_MULTICLUSTER_ORCHCONFIG_OPTIONS",
};

/** Istio's prefixes and ours; `ISTIO_` also covers node metadata (`ISTIO_META_*`, `ISTIO_METAJSON_*`). */
const renamedPrefixes: Readonly<Record<string, string>> = { ISTIO_: "MESH_", ISTIOD_: "MESHD_" };

/** Values with another spelling in Istio: by our variable name, Istio's value and our value. */
const renamedValues: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  EXTERNAL_CA: { ISTIOD_RA_KUBERNETES_API: "ISTIOD_RA_ORCH_API" },
  PILOT_CERT_PROVIDER: { istiod: "meshd" },
  PILOT_JWT_ENABLE_REMOTE_JWKS: { istiod: "meshd", envoy: "proxy" },
};

/** Prefix of signer names given to PILOT_CERT_PROVIDER in Istio. */
const SIGNER_PREFIX = "k8s.io/";

/** Our name of a variable in either spelling. */
export function ourName(name: string): string {
  const exact = renamed[name];
  if (exact !== undefined) return exact;
  for (const [theirs, ours] of Object.entries(renamedPrefixes)) {
    if (name.startsWith(theirs)) return ours + name.slice(theirs.length);
  }
  return name;
}

function ourValue(name: string, value: string): string {
  if (name === "PILOT_CERT_PROVIDER" && value.startsWith(SIGNER_PREFIX)) {
    return "orch.io/" + value.slice(SIGNER_PREFIX.length);
  }
  return renamedValues[name]?.[value] ?? value;
}

/** An environment in our spelling, with the given name of each renamed variable. */
export interface OurEnvironment {
  readonly env: Readonly<Record<string, string>>;
  readonly givenAs: ReadonlyMap<string, string>;
}

/** Turns an environment into our spelling. Unknown names pass unchanged. */
export function inOurSpelling(env: Environment): OurEnvironment {
  const result: Record<string, string> = Object.create(null);
  const givenAs = new Map<string, string>();
  for (const [given, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const name = ourName(given);
    if (name !== given) {
      if (env[name] !== undefined) continue;
      givenAs.set(name, given);
    }
    result[name] = ourValue(name, value);
  }
  return { env: result, givenAs };
}

/** Every spelling of a variable of ours: our name first. */
export function spellings(name: string): string[] {
  const found = [name];
  for (const [theirs, ours] of Object.entries(renamed)) if (ours === name) found.push(theirs);
  if (found.length > 1) return found;
  for (const [theirs, ours] of Object.entries(renamedPrefixes)) {
    if (name.startsWith(ours)) found.push(theirs + name.slice(ours.length));
  }
  return found;
}
