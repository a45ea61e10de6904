/**
 * Rights that a server of another cluster needs in this cluster.
 *
 * @module
 */
import { granted, NAMESPACE, ofSystem } from "./names.ts";
import { type Node, noted } from "../template/node.ts";
import { injectionWebhookRules, rule, ruleOf, SHARING, TRUST_BUNDLE_RULES } from "./rights.ts";

const READER = "mesh-reader";
const WATCH = ["list", "watch"];

/** Rights to read this cluster. */
export const REMOTE_READER: readonly Node[] = [
  { apiVersion: "v1", kind: "ServiceAccount", metadata: ofSystem(READER) },
  {
    ...{ apiVersion: "v1", kind: "Secret" },
    metadata: {
      ...{ name: "mesh-reader-token", namespace: NAMESPACE },
      annotations: { "kubernetes.io/service-account.name": READER },
    },
    type: "kubernetes.io/service-account-token",
  },
  ...granted("ClusterRole", READER, READER, [
    noted(
      "Services, their workloads, and the nodes of the workloads.",
      rule([""], ["namespaces", "services", "pods", "nodes"], WATCH),
    ),
    rule(["discovery.k8s.io"], ["endpointslices"], WATCH),
    noted(
      "Certificates and other data for proxies of this cluster. Optional: services are read without this rule too.",
      rule([""], ["secrets", "configmaps"], WATCH),
    ),
    noted(
      "Exports and imports of services between clusters, if their kinds are defined. Optional, as above.",
      rule(SHARING, ["serviceexports", "serviceimports"], WATCH),
    ),
    noted(
      "Workload entries of this cluster, if their kind is defined. Optional, as above.",
      rule(["apiextensions.k8s.io"], ["customresourcedefinitions"], WATCH),
    ),
    rule(["networking.mesh.io", "networking.istio.io"], ["workloadentries"], WATCH),
    noted(
      "Gateways between networks, with AMBIENT_ENABLE_MULTI_NETWORK and if their kind is defined. Optional, as above.",
      rule(["gateway.networking.k8s.io"], ["gateways", "gatewayclasses"], WATCH),
    ),
    noted(
      "Whether this cluster made a caller's token, and whether the caller's account may read secrets.",
      rule(["authentication.k8s.io"], ["tokenreviews"], ["create"]),
    ),
    rule(["authorization.k8s.io"], ["subjectaccessreviews"], ["create"]),
  ]),
];

/** Rights to lead this cluster. */
export const REMOTE_LEADER: readonly Node[] = [
  ...granted("ClusterRole", "mesh-leader", READER, [
    noted(
      "The config map of root certificates in every namespace. RBAC cannot restrict the creation of objects by name.",
      rule([""], ["configmaps"], ["create"]),
    ),
    ruleOf([""], ["configmaps"], ["mesh-ca-root-cert"], ["patch"]),
    noted(
      "The root certificates as one ClusterTrustBundle, with ENABLE_CLUSTER_TRUST_BUNDLE_API.",
      TRUST_BUNDLE_RULES[0]!,
    ),
    ...TRUST_BUNDLE_RULES.slice(1),
    noted("An export of each service, with ENABLE_MCS_AUTO_EXPORT.", rule(SHARING, ["serviceexports"], ["create"])),
    ...injectionWebhookRules(["mesh-sidecar-injector", "mesh-revision-tag-default"]),
  ]),
  ...granted("Role", "mesh-leader", READER, [
    noted(
      "The locks of the leader election.",
      ruleOf([""], ["configmaps"], [
        "mesh-namespace-controller-election",
        "mesh-clustertrustbundle-controller-election",
        "mesh-serviceexport-controller-election",
      ], ["get", "update"]),
    ),
  ]),
];
