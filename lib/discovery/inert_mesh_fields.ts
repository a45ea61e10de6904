/**
 * Fields of the mesh configuration that are accepted and checked but steer nothing yet, because the part that reads them
 * is not built. A test shows that every other field is read, and that none of these is. The list shrinks to nothing.
 *
 * @module
 */
import type { MeshConfig } from "../config/mesh/types.ts";

/** The fields, by the part that will read them. */
export const inertMeshFields: Readonly<Record<string, readonly (keyof MeshConfig)[]>> = {
  orchestrator: [
    "discoverySelectors",
    "ingressClass",
    "ingressControllerMode",
    "ingressSelector",
    "ingressService",
    "serviceScopeConfigs",
  ],
  "certificates and security": [
    "ca",
    "caCertificates",
    "enableAutoMtls",
    "meshMTLS",
    "verifyCertificateAtClient",
  ],
  telemetry: ["defaultProviders", "enableProxyAccessLogService", "enableTracing"],
  injection: ["enablePrometheusMerge"],
};

/** Those of them that say something else than the defaults, sorted. */
export function inertFieldsIn(mesh: MeshConfig, defaults: MeshConfig): string[] {
  const fields = Object.values(inertMeshFields).flat();
  return fields.filter((field) => JSON.stringify(mesh[field]) !== JSON.stringify(defaults[field])).sort();
}
