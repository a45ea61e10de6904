/**
 * Names the object behind a chain, in the form and place where tools of the field look for it.
 *
 * Permissions: none.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { struct } from "../../pb/wellknown.ts";

/**
 * Metadata of a chain.
 *
 * @param kind The kind in kebab case (`virtual-service`, `sidecar`).
 * @param object `namespace/name`.
 */
export function configMetadata(kind: "virtual-service" | "sidecar", object: string): envoy.config.core.v3.Metadata {
  const [namespace, name] = object.split("/");
  const config = `/apis/networking.mesh.io/v1/namespaces/${namespace}/${kind}/${name}`;
  return { filter_metadata: { istio: struct({ config }) } };
}
