/**
 * Volumes of an injected pod, and their mount paths in the proxy's container. The agent expects these paths
 * (`lib/agent/start/agent_paths.ts`).
 *
 * @module
 */
import type { PodContainer } from "../pod.ts";
import type { PodPart, SidecarInput } from "./input.ts";

export type Mount = NonNullable<PodContainer["volumeMounts"]>[number];
type Volume = PodPart["volumes"][number];

interface Mounted {
  readonly volume: Volume;
  readonly mount: Omit<Mount, "name">;
}

/** Lifetime of the token that proves the workload, seconds. Istio's injector uses the same lifetime. */
const TOKEN_SECONDS = 43_200;

const emptyDir = (name: string, mountPath: string, content: object = {}): Mounted => ({
  volume: { name, emptyDir: content },
  mount: { mountPath },
});

/** Volumes, and mounts of the proxy. */
export function proxyVolumes(input: SidecarInput): { readonly volumes: Volume[]; readonly mounts: Mount[] } {
  const { settings: { values: { global } }, reader } = input;
  const mounted: Mounted[] = [
    emptyDir("workload-socket", "/var/run/secrets/workload-spiffe-uds"),
    emptyDir("credential-socket", "/var/run/secrets/credential-uds"),
    emptyDir("workload-certs", "/var/run/secrets/workload-spiffe-credentials"),
    emptyDir("mesh-envoy", "/etc/mesh/proxy", { medium: "Memory" }),
    emptyDir("mesh-data", "/var/lib/mesh/data"),
    { volume: podInfo(), mount: { mountPath: "/etc/mesh/pod" } },
    { volume: token(global.sds.token.aud), mount: { mountPath: "/var/run/secrets/tokens" } },
    { volume: roots(input), mount: { mountPath: "/var/run/secrets/mesh" } },
    ...(global.mountMtlsCerts ? [certificates(input)] : []),
    ...bootstrapOverride(input),
  ];
  const volumes = reader.json(
    "sidecar.mesh.io/userVolume",
    "a JSON object of volumes by name, or a list of volumes that have names",
    isBag("name"),
  );
  const mounts = reader.json(
    "sidecar.mesh.io/userVolumeMount",
    "a JSON object of mounts by name, or a list, each with mountPath",
    isBag("name", "mountPath"),
  );
  return {
    volumes: [...mounted.map(({ volume }) => volume), ...byName(volumes) as Volume[]],
    mounts: [
      ...mounted.map(({ volume: { name }, mount }) => ({ ...mount, name }) as Mount),
      ...byName(mounts) as Mount[],
    ],
  };
}

function podInfo(): Volume {
  const item = (path: string) => ({ path, fieldRef: { fieldPath: `metadata.${path}` } });
  return { name: "mesh-podinfo", downwardAPI: { items: [item("labels"), item("annotations")] } };
}

function token(audience: string): Volume {
  const serviceAccountToken = { path: "mesh-token", expirationSeconds: TOKEN_SECONDS, audience };
  return { name: "mesh-token", projected: { sources: [{ serviceAccountToken }] } };
}

function roots({ settings: { trustBundle, rootConfigMap } }: SidecarInput): Volume {
  const name = "mesh-ca-cert";
  if (trustBundle === "") return { name, configMap: { name: rootConfigMap } };
  const clusterTrustBundle = { name: trustBundle, path: "root-cert.pem" };
  return { name, projected: { sources: [{ clusterTrustBundle }] } };
}

/** Certificates in a secret named after the service account, like in Istio's charts. */
function certificates({ request: { pod } }: SidecarInput): Mounted {
  const account = pod.spec.serviceAccountName;
  const secretName = account ? `mesh.${account}` : "mesh.default";
  return {
    volume: { name: "mesh-certs", secret: { optional: true, secretName } },
    mount: { mountPath: "/etc/certs", readOnly: true },
  };
}

function bootstrapOverride({ reader }: SidecarInput): Mounted[] {
  const name = reader.annotations["sidecar.mesh.io/bootstrapOverride"];
  if (!name) return [];
  return [{
    volume: { name: "custom-bootstrap-volume", configMap: { name } },
    mount: { mountPath: "/etc/mesh/custom-bootstrap" },
  }];
}

/** Checks a value in either form of {@linkcode byName}, with texts in the given fields of each item. */
function isBag(...fields: readonly string[]): (value: unknown) => boolean {
  return (value) => {
    if (typeof value !== "object" || value === null) return false;
    if (Object.values(value).some((item) => typeof item !== "object" || item === null || Array.isArray(item))) {
      return false;
    }
    return (byName(value) as Record<string, unknown>[]).every((item) =>
      fields.every((field) => typeof item[field] === "string" && item[field] !== "")
    );
  };
}

/** `{"cache": {"emptyDir": {}}}` and `[{"name": "cache", "emptyDir": {}}]` mean the same. */
function byName(bag: unknown): unknown[] {
  if (bag === undefined) return [];
  return Array.isArray(bag) ? bag : Object.entries(bag as object).map(([name, value]) => ({ ...value, name }));
}
