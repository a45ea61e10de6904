/** Definitions of Istio's kinds, which this project does not ship. The definitions accept every object. */
import type { MeshDefinition } from "../../../lib/orch/resources/definitions.ts";
import type { ObjectDraft, ObjectId } from "./server/objects.ts";

/** A definition without constraints. */
export function openDefinition({ written, group, plural }: MeshDefinition): ObjectDraft & ObjectId {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope: "Namespaced", names: { kind: written, listKind: `${written}List`, plural } },
      versions: [{ name: "v1", served: true, storage: true, subresources: { status: {} }, schema }],
    },
  };
}
