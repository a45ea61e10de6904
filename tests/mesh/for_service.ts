/**
 * Virtual services whose rules are for the service of one namespace, as routes at services give.
 *
 * @module
 */
import { HashedObject } from "../../lib/config/hashed_object.ts";
import { type AnyConfigObject, isKind } from "../../lib/config/types.ts";

/** Annotation of a tree with the namespace of the service. */
export const FOR_SERVICE_OF = "test.mesh.io/for-service-of";

/** The object with the internal fields for its annotation; other objects as they are. */
export function forService(object: AnyConfigObject): AnyConfigObject {
  const serviceNamespace = object.meta.annotations[FOR_SERVICE_OF];
  if (serviceNamespace === undefined || !isKind(object, "VirtualService")) return object;
  const { kind, meta, spec, origin } = object;
  return new HashedObject(kind, meta, { ...spec, internal: { semantics: "gateway", serviceNamespace } }, origin);
}
