/**
 * Hosts whose clients stay in their own cluster (`serviceSettings` of the mesh configuration).
 *
 * @module
 */
import type { MeshConfig } from "../../config/mesh/types.ts";
import type { Reader } from "../reader/reader.ts";

/**
 * Whether clients of the host use endpoints of their own cluster only: as the most specific matching host of
 * `serviceSettings` says; unsaid, for the orchestrator's own services (`*.kube-system.svc.<domain>`,
 * `kubernetes.default.svc.<domain>`) and the control plane's (`meshd.<root namespace>.svc.<domain>`).
 */
export function clusterLocal(read: Reader, host: string): boolean {
  return isClusterLocal(read.mesh(), host, read.settings.domainSuffix);
}

/** The same of a mesh configuration. @param domain DNS suffix of services. */
export function isClusterLocal(
  mesh: Pick<MeshConfig, "serviceSettings" | "rootNamespace">,
  host: string,
  domain: string,
): boolean {
  let best = "";
  let local: boolean | undefined;
  for (const { settings, hosts } of mesh.serviceSettings) {
    for (const pattern of hosts ?? []) {
      if (pattern.length > best.length && matches(pattern, host)) {
        best = pattern;
        local = settings?.clusterLocal === true;
      }
    }
  }
  return local ?? localByDefault(host, domain, mesh.rootNamespace);
}

/** An exact host is longer than any pattern that matches it, so "longer" is "more specific". */
function matches(pattern: string, host: string): boolean {
  if (!pattern.startsWith("*")) return pattern === host;
  return host.length >= pattern.length && host.endsWith(pattern.slice(1));
}

function localByDefault(host: string, domain: string, rootNamespace: string): boolean {
  return host.endsWith(`.kube-system.svc.${domain}`) || host === `kubernetes.default.svc.${domain}` ||
    host === `meshd.${rootNamespace}.svc.${domain}`;
}
