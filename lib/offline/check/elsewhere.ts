/**
 * Findings of translation that rest on what texts lack. A server has all of a mesh, and calls them errors; texts seldom do.
 *
 * @module
 */
import type { Finding, Severity } from "../../finding/finding.ts";
import type { OfflineMesh } from "../offline_mesh.ts";

/** What may lie elsewhere is a warning, except where the texts have all of the mesh. */
export function severityInTexts(
  { name, severity }: Finding,
  mesh: Pick<OfflineMesh, "hasMeshConfig">,
  whole: boolean,
): Severity {
  if (whole || severity !== "error") return severity;
  // Teams that write routes seldom own the gateways that the routes are bound to.
  if (name === "gateway-port-without-rule") return "warning";
  // Without a mesh configuration no provider is known, so that each name of one is unknown.
  return name === "unusable-authorizer" && !mesh.hasMeshConfig ? "warning" : severity;
}
