/**
 * Hosts whose clients stay in their own cluster (`serviceSettings` of the mesh configuration).
 *
 * @module
 */
import type { MeshConfig } from "../../config/mesh/types.ts";
import type { Reader } from "../reader/reader.ts";

/**
 * Whether clients of the host use only endpoints of their own cluster. The most specific matching host in
 * `serviceSettings` decides. By default, the orchestrator's own services (`*.kube-system.svc.<domain>`,
 * `kubernetes.default.svc.<domain>`) and the server's host in `discoveryAddress` are local.
 */
export function clusterLocal(read: Reader, host: string): boolean {
  return isClusterLocal(read.mesh(), host, read.settings.domainSuffix);
}

/**
 * The same answer from a mesh configuration alone.
 *
 * @param domain DNS suffix of services.
 */
export function isClusterLocal(
  mesh: Pick<MeshConfig, "serviceSettings" | "defaultConfig">,
  host: string,
  domain: string,
): boolean {
  let best = "";
  let local = false;
  for (const { settings, hosts } of mesh.serviceSettings) {
    for (const pattern of hosts ?? []) {
      if (pattern.length > best.length && matches(pattern, host)) {
        best = pattern;
        local = settings?.clusterLocal === true;
      }
    }
  }
  return local || localByDefault(mesh, host, domain).length > best.length;
}

/** An exact host is longer than any pattern matching the host, so "longer" means "more specific". */
function matches(pattern: string, host: string): boolean {
  if (!pattern.startsWith("*")) return pattern === host;
  return host.length >= pattern.length && host.endsWith(pattern.slice(1));
}

/** The pattern that makes a host local by default. Empty: the host is not local by default. */
function localByDefault(
  { defaultConfig: { discoveryAddress } }: Pick<MeshConfig, "defaultConfig">,
  host: string,
  domain: string,
): string {
  const ofOrchestrator = `.kube-system.svc.${domain}`;
  if (host.endsWith(ofOrchestrator)) return `*${ofOrchestrator}`;
  const server = discoveryAddress.slice(0, discoveryAddress.lastIndexOf(":"));
  const isServer = host === server || host === `${server}.${domain}`;
  return isServer || host === `kubernetes.default.svc.${domain}` ? host : "";
}
