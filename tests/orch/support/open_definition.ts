/** Definitions of kinds that this project does not ship: Istio's, the Gateway API's. The definitions accept every object. */
import { isClusterWideKind } from "../../../lib/config/kinds/kinds.ts";
import { versionsOfKind } from "../../../lib/config/spelling/spelling.ts";
import { GATEWAY_API_DEFINITIONS, type MeshDefinition } from "../../../lib/orch/resources/definitions.ts";
import type { ApiServer } from "./server/api_server.ts";
import type { ObjectDraft, ObjectId } from "./server/objects.ts";

/** A definition without constraints. */
export function openDefinition({ kind, written, group, plural }: MeshDefinition): ObjectDraft & ObjectId {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
    metadata: {
      name: `${plural}.${group}`,
      // An API server asks for this annotation in groups below k8s.io.
      annotations: { "api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/gateway-api" },
    },
    spec: {
      ...{
        group,
        scope: isClusterWideKind(kind) ? "Cluster" : "Namespaced",
        names: { kind: written, listKind: `${written}List`, plural },
      },
      versions: [{ name: versionsOfKind(kind)[0], served: true, storage: true, subresources: { status: {} }, schema }],
    },
  };
}

/** The definitions of Gateways and their classes. They accept every object. */
export async function defineGateways({ objects }: ApiServer): Promise<void> {
  for (const one of GATEWAY_API_DEFINITIONS) {
    if (["ApiGateway", "GatewayClass"].includes(one.kind)) await objects.define(openDefinition(one));
  }
}
