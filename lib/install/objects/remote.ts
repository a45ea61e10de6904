/**
 * Rights for a server of another cluster.
 *
 * @module
 */
import { granted, NAMESPACE, ofSystem } from "./names.ts";
import { type Node, noted } from "../template/node.ts";
import { injectionWebhookRules, rule, ruleOf, SHARING, TRUST_BUNDLE_RULES } from "./rights.ts";

const READER = "mesh-reader";
const WATCH = ["list", "watch"];

/** Rights to read the cluster. */
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
      "Services, the workloads behind them, and where these run.",
      rule([""], ["namespaces", "services", "pods", "nodes"], WATCH),
    ),
    rule(["discovery.k8s.io"], ["endpointslices"], WATCH),
    noted(
      "What proxies of this cluster may be given. Without it the services are read all the same.",
      rule([""], ["secrets", "configmaps"], WATCH),
    ),
    noted(
      "Which services clusters share, where somebody has defined that. Services are read without these too.",
      rule(SHARING, ["serviceexports", "serviceimports"], WATCH),
    ),
    noted(
      "Workload entries of this cluster, where their kind is defined. Services are read without them too.",
      rule(["apiextensions.k8s.io"], ["customresourcedefinitions"], WATCH),
    ),
    rule(["networking.mesh.io", "networking.istio.io"], ["workloadentries"], WATCH),
    noted(
      "Whether a caller's token is one of this cluster, and whether its account may read secrets.",
      rule(["authentication.k8s.io"], ["tokenreviews"], ["create"]),
    ),
    rule(["authorization.k8s.io"], ["subjectaccessreviews"], ["create"]),
  ]),
];

/** Rights to lead the cluster. */
export const REMOTE_LEADER: readonly Node[] = [
  ...granted("ClusterRole", "mesh-leader", READER, [
    noted(
      "The root certificates in every namespace: a right to create knows no names.",
      rule([""], ["configmaps"], ["create"]),
    ),
    ruleOf([""], ["configmaps"], ["mesh-ca-root-cert"], ["patch"]),
    noted(
      "The same as one bundle for the cluster, with ENABLE_CLUSTER_TRUST_BUNDLE_API.",
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
