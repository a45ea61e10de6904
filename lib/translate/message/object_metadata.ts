/**
 * The source object of a part of the configuration, written into the part.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { struct } from "../../pb/wellknown.ts";

/**
 * Metadata with the source object, in the form and place that tools for Istio expect:
 * `/apis/networking.mesh.io/v1/namespaces/<namespace>/virtual-service/<name>`.
 *
 * @param key `VirtualService/namespace/name` or `Gateway/namespace/name`.
 */
export function objectMetadata(key: string): envoy.config.core.v3.Metadata {
  const [kind = "", namespace = "", name = ""] = key.split("/");
  const kebab = kind.replace(/(?<=[a-z])[A-Z]/g, "-$&").toLowerCase();
  const config = `/apis/networking.mesh.io/v1/namespaces/${namespace}/${kebab}/${name}`;
  return { filter_metadata: { istio: struct({ config }) } };
}
