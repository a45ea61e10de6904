/**
 * The server's account and rights.
 *
 * @module
 */
import { granted, IS_DEFAULT, NAMESPACE, ofSystem, revised } from "./names.ts";
import { type Node, noted, text, when } from "../template/node.ts";

const NAME = revised("meshd");

/** A rule of a role. */
export function rule(apiGroups: readonly string[], resources: readonly string[], verbs: readonly string[]): Node {
  return { apiGroups, resources, verbs };
}

/** A rule about named objects. */
export function ruleOf(
  apiGroups: readonly string[],
  resources: readonly string[],
  resourceNames: readonly Node[],
  verbs: readonly string[],
): Node {
  return { apiGroups, resources, resourceNames, verbs };
}

const READ = ["get", "list", "watch"];
const WATCH = ["list", "watch"];
const NETWORKING = ["networking.mesh.io", "networking.istio.io"];
const ADMISSION = "admissionregistration.k8s.io";
/** API groups of exports and imports of services between clusters. */
export const SHARING = ["multicluster.orch.example", "multicluster.x-k8s.io"];

const NETWORKING_KINDS = [
  "virtualservices",
  "destinationrules",
  "gateways",
  "serviceentries",
  "workloadentries",
  "workloadgroups",
  "sidecars",
  "proxyconfigs",
];

/** The kinds of the mesh by API groups, in both spellings. */
const KINDS: readonly (readonly [groups: readonly string[], resources: readonly string[]])[] = [
  [NETWORKING, NETWORKING_KINDS],
  [["networking.mesh.io"], ["proxyfilters"]],
  [["networking.istio.io"], ["envoyfilters"]],
  [
    ["security.mesh.io", "security.istio.io"],
    ["authorizationpolicies", "requestauthentications", "peerauthentications"],
  ],
  [["telemetry.mesh.io", "telemetry.istio.io"], ["telemetries"]],
  [["extensions.mesh.io", "extensions.istio.io"], ["wasmplugins"]],
];

const KIND_READS = KINDS.map(([groups, resources]) => rule(groups, resources, READ));
const KIND_STATUSES = KINDS.map(([groups, resources]) =>
  rule(groups, resources.map((resource) => `${resource}/status`), ["patch"])
);

/** Puts a comment before the first of several rules. */
function notedRules(words: string, [first, ...rest]: readonly Node[]): readonly Node[] {
  return [noted(words, first!), ...rest];
}

/** Rights to publish the mesh's roots as one bundle for the cluster. */
export const TRUST_BUNDLE_RULES: readonly Node[] = [
  rule(["certificates.k8s.io"], ["clustertrustbundles"], ["create"]),
  ruleOf(["certificates.k8s.io"], ["clustertrustbundles"], ["mesh.io:meshd-ca:root-cert"], ["patch"]),
  ruleOf(["certificates.k8s.io"], ["signers"], ["mesh.io/meshd-ca"], ["attest"]),
];

/**
 * Rights to the webhook configurations of injection: to read all, and to write root certificates into the named ones.
 */
export function injectionWebhookRules(names: readonly Node[]): readonly Node[] {
  return [
    noted(
      "The webhook configurations of injection. The configuration of the tag default says which revision has precedence in elections. A server finds the configurations of its revision by a label.",
      rule([ADMISSION], ["mutatingwebhookconfigurations"], WATCH),
    ),
    noted(
      "Root certificates in the configurations of the server's own revision.",
      ruleOf([ADMISSION], ["mutatingwebhookconfigurations"], names, ["patch"]),
    ),
  ];
}

/** The validating webhook belongs to the default revision. The default revision judges the objects of all revisions. */
const VALIDATION_RULE = when(
  IS_DEFAULT,
  noted(
    "Root certificates in the validating webhook's configuration.",
    ruleOf([ADMISSION], ["validatingwebhookconfigurations"], [text`mesh-${NAMESPACE}`], ["list", "watch", "patch"]),
  ),
);

const EVERYWHERE: readonly Node[] = [
  noted(
    "Which kinds of the mesh this cluster defines.",
    rule(["apiextensions.k8s.io"], ["customresourcedefinitions"], WATCH),
  ),
  ...notedRules("The kinds of the mesh, in both spellings.", KIND_READS),
  ...notedRules(
    "The status of these kinds. The status of a service entry holds the entry's assigned addresses. The server reads a status (rules above) before it writes it.",
    KIND_STATUSES,
  ),
  noted(
    "Objects that configuration refers to, and the mesh configuration.",
    rule([""], ["namespaces", "services", "serviceaccounts", "secrets", "configmaps"], WATCH),
  ),
  noted(
    "Exports and imports of services between clusters, if their kinds are defined.",
    rule(SHARING, ["serviceexports", "serviceimports"], WATCH),
  ),
  noted("An export of each service, with ENABLE_MCS_AUTO_EXPORT.", rule(SHARING, ["serviceexports"], ["create"])),
  noted("The workloads of services, and their nodes.", rule([""], ["pods", "nodes"], WATCH)),
  noted(
    "Taints of nodes whose plugin is ready (PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS).",
    rule([""], ["nodes"], ["patch"]),
  ),
  rule(["discovery.k8s.io"], ["endpointslices"], WATCH),
  noted(
    "Entries of workloads that register themselves. The server reads an entry (rules above) before it writes it.",
    rule(NETWORKING, ["workloadentries"], ["create", "patch", "delete"]),
  ),
  noted(
    "The config map of root certificates in every namespace, and the locks and reports in the server's namespace (below). RBAC cannot restrict the creation of objects by name.",
    rule([""], ["configmaps"], ["create"]),
  ),
  ruleOf([""], ["configmaps"], ["mesh-ca-root-cert"], ["patch"]),
  ...notedRules(
    "The root certificates as one ClusterTrustBundle, with ENABLE_CLUSTER_TRUST_BUNDLE_API. Every account may read the bundle.",
    TRUST_BUNDLE_RULES,
  ),
  ...injectionWebhookRules([revised("mesh-sidecar-injector"), when(IS_DEFAULT, "mesh-revision-tag-default")]),
  VALIDATION_RULE,
  noted("Tokens that workloads show.", rule(["authentication.k8s.io"], ["tokenreviews"], ["create"])),
  noted(
    "Whether the accounts of proxies may read secrets that configuration names.",
    rule(["authorization.k8s.io"], ["subjectaccessreviews"], ["create"]),
  ),
  noted(
    "Ingresses, which become Gateways and VirtualServices.",
    rule(["networking.k8s.io"], ["ingresses", "ingressclasses"], WATCH),
  ),
  noted(
    "The status of Ingresses. The server reads a status before it writes it.",
    rule(["networking.k8s.io"], ["ingresses"], ["get"]),
  ),
  rule(["networking.k8s.io"], ["ingresses/status"], ["patch"]),
];

const IN_NAMESPACE: readonly Node[] = [
  noted(
    "The locks of the leader election, which all revisions share.",
    ruleOf([""], ["configmaps"], [
      "mesh-namespace-controller-election",
      "mesh-clustertrustbundle-controller-election",
      "mesh-leader",
      "mesh-ip-autoallocate",
      "mesh-auto-registration",
      "mesh-node-untaint",
      when(IS_DEFAULT, "mesh-validation-controller-election"),
      "mesh-serviceexport-controller-election",
    ], ["get", "update"]),
  ),
  rule(["coordination.k8s.io"], ["leases"], ["create"]),
  ruleOf(["coordination.k8s.io"], ["leases"], ["mesh-status-leader"], ["get", "update"]),
  noted(
    "The certificate authority that the servers make, unless you bring one.",
    rule([""], ["secrets"], ["create"]),
  ),
  ruleOf([""], ["secrets"], ["mesh-ca-secret", "istio-ca-secret", "cacerts"], ["get", "update"]),
  noted(
    "Reports on how many proxies of each server have a configuration: each server writes a config map, and the leader for status reads it.",
    rule([""], ["configmaps"], ["patch", "delete"]),
  ),
  when(
    IS_DEFAULT,
    noted(
      "An invalid object, as a dry run. If the API refuses the object, the API asks the webhook. Nothing is stored.",
      rule(["networking.mesh.io"], ["gateways"], ["create"]),
    ),
  ),
];

export const ACCOUNT: Node = { apiVersion: "v1", kind: "ServiceAccount", metadata: ofSystem(NAME) };

export const RIGHTS: readonly Node[] = [
  ...granted("ClusterRole", NAME, NAME, EVERYWHERE),
  ...granted("Role", NAME, NAME, IN_NAMESPACE),
];

/** Rights where signers of the orchestrator sign certificates. */
export const SIGNING_RIGHTS: readonly Node[] = granted("ClusterRole", "meshd-signing", "meshd", [
  noted(
    "Requests for certificates: the server makes, watches and deletes them.",
    rule(["certificates.k8s.io"], ["certificatesigningrequests"], ["create", "list", "watch", "delete"]),
  ),
  noted(
    "Approval of requests for these signers alone. Without these two rules somebody else has to approve the requests.",
    rule(["certificates.k8s.io"], ["certificatesigningrequests/approval"], ["patch"]),
  ),
  ruleOf(["certificates.k8s.io"], ["signers"], ["issuers.example.com/mesh"], ["approve"]),
]);
