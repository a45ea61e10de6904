/** Exports and imports of services between clusters, for tests: definitions, and objects in short. */
import type { ObjectDraft, ObjectId } from "./server/objects.ts";

type Draft = ObjectDraft & ObjectId;

/** Group and version in common use. */
export const SHARING_VERSION = "multicluster.x-k8s.io/v1alpha1";

const definition = (group: string, version: string, kind: string): Draft => {
  const plural = `${kind.toLowerCase()}s`;
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      // Names below a part of the API's own domain need an annotation about their approval.
      annotations: { "api-approved.kubernetes.io": "unapproved, for tests" },
    },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: open } }],
    },
  };
};

/** The definitions of a group in one version. */
export function sharingDefinitions(
  group = "multicluster.x-k8s.io",
  version = "v1alpha1",
): readonly [exports: Draft, imports: Draft] {
  return [definition(group, version, "ServiceExport"), definition(group, version, "ServiceImport")];
}

/** A service is for all clusters. */
export function exportDraft(namespace: string, name: string): Draft {
  return { apiVersion: SHARING_VERSION, kind: "ServiceExport", metadata: { namespace, name } };
}

/** A service of any cluster, at the given addresses. */
export function importDraft(namespace: string, name: string, ips: readonly string[]): Draft {
  const spec = { type: "ClusterSetIP", ips, ports: [{ port: 80, protocol: "TCP" }] };
  return { apiVersion: SHARING_VERSION, kind: "ServiceImport", metadata: { namespace, name }, spec };
}
