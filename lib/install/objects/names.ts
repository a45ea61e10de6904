/**
 * Names of the installation's objects. The names of a revision other than `default` end with the revision.
 *
 * @module
 */
import { type Node, not, text, type ValueCondition, when } from "../template/node.ts";
import { value } from "../values/values.ts";

export const NAMESPACE = value("namespace");
export const REVISION = value("revision");

/** Whether the installation is the default revision. */
export const IS_DEFAULT: ValueCondition = { is: REVISION, text: "default" };
export const IS_CANARY: ValueCondition = not(IS_DEFAULT);

/** Whether the servers deploy managed Gateways. */
export const DEPLOYS_GATEWAYS: ValueCondition = { filled: value("gatewayApi.deployments") };

/** Whether the servers make the built-in classes of Gateways. */
export const MAKES_CLASSES: ValueCondition = { filled: value("gatewayApi.classes") };

/** Whether the mesh has ambient mode. */
export const AMBIENT: ValueCondition = { filled: value("ambient.enabled") };

/** Account of the node tunnels, and name of their other objects. */
export const TUNNEL = "ztunnel";

/** A name, followed by the revision unless the revision is `default`. */
export function revised(name: string): Node {
  return when(IS_DEFAULT, name, text`${name}-${REVISION}`);
}

/** Metadata of a namespaced object of the control plane. @param labels Default: no labels. */
export function ofSystem(name: Node, labels?: Node): Node {
  return { name, namespace: NAMESPACE, ...(labels === undefined ? {} : { labels }) };
}

/** Labels of the servers of a revision. */
export const SERVER_LABELS = { app: "meshd", "mesh.io/rev": REVISION } as const;

/** An environment variable with a field of the pod as its value. */
export function fieldOf(name: string, fieldPath: string): Node {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}

/** The namespace of the control plane. @param more Further metadata. */
export function systemNamespace(more: { readonly [key: string]: Node } = {}): Node {
  const level = value("podSecurity");
  const labels = when({ filled: level }, { "pod-security.kubernetes.io/enforce": level });
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE, labels, ...more } };
}

/** A role, and the binding to an account of the control plane's namespace. */
export function granted(
  scope: "Role" | "ClusterRole",
  name: Node,
  account: Node,
  rules: readonly Node[],
): readonly Node[] {
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const metadata = scope === "Role" ? ofSystem(name) : { name };
  return [
    { apiVersion, kind: scope, metadata, rules },
    {
      ...{ apiVersion, kind: `${scope}Binding`, metadata },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: scope, name },
      subjects: [{ kind: "ServiceAccount", name: account, namespace: NAMESPACE }],
    },
  ];
}
