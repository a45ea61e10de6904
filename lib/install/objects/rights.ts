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

/** A comment before the first of several rules. */
function notedRules(words: string, [first, ...rest]: readonly Node[]): readonly Node[] {
  return [noted(words, first!), ...rest];
}

/** Rights to publish the mesh's roots as one bundle for the cluster. */
export const TRUST_BUNDLE_RULES: readonly Node[] = [
  rule(["certificates.k8s.io"], ["clustertrustbundles"], ["create"]),
  ruleOf(["certificates.k8s.io"], ["clustertrustbundles"], ["mesh.io:meshd-ca:root-cert"], ["patch"]),
  ruleOf(["certificates.k8s.io"], ["signers"], ["mesh.io/meshd-ca"], ["attest"]),
];

/** Rights to the webhook configurations of a revision: reading all, and writing the roots into the named ones. */
export function injectionWebhookRules(names: readonly Node[]): readonly Node[] {
  return [
    noted(
      "Which revision goes before others in elections, and the webhook configurations of the server's own revision, which a label names.",
      rule([ADMISSION], ["mutatingwebhookconfigurations"], WATCH),
    ),
    noted(
      "The roots in those.",
      ruleOf([ADMISSION], ["mutatingwebhookconfigurations"], names, ["patch"]),
    ),
  ];
}

/** The validating webhook belongs to the default revision. The default revision judges the objects of all revisions. */
const VALIDATION_RULE = when(
  IS_DEFAULT,
  noted(
    "The roots in the validating webhook's configuration.",
    ruleOf([ADMISSION], ["validatingwebhookconfigurations"], [text`mesh-${NAMESPACE}`], ["list", "watch", "patch"]),
  ),
);

const EVERYWHERE: readonly Node[] = [
  noted(
    "Which kinds of the mesh are defined here.",
    rule(["apiextensions.k8s.io"], ["customresourcedefinitions"], WATCH),
  ),
  ...notedRules("The kinds of the mesh, in both spellings.", KIND_READS),
  ...notedRules(
    "Their status, and in that of service entries their addresses: read (above) before it is written.",
    KIND_STATUSES,
  ),
  noted(
    "What configuration refers to, and the mesh configuration.",
    rule([""], ["namespaces", "services", "serviceaccounts", "secrets", "configmaps"], WATCH),
  ),
  noted(
    "Which services clusters share, where somebody has defined that.",
    rule(SHARING, ["serviceexports", "serviceimports"], WATCH),
  ),
  noted("An export of each service, with ENABLE_MCS_AUTO_EXPORT.", rule(SHARING, ["serviceexports"], ["create"])),
  noted("The workloads behind services, and where they run.", rule([""], ["pods", "nodes"], WATCH)),
  noted(
    "Taints of nodes whose plugin is ready (PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS).",
    rule([""], ["nodes"], ["patch"]),
  ),
  rule(["discovery.k8s.io"], ["endpointslices"], WATCH),
  noted(
    "Entries of workloads that register themselves: read (above) before they are written.",
    rule(NETWORKING, ["workloadentries"], ["create", "patch", "delete"]),
  ),
  noted(
    "The root certificates in every namespace, and in that of the server the locks and reports below: a right to create knows no names.",
    rule([""], ["configmaps"], ["create"]),
  ),
  ruleOf([""], ["configmaps"], ["mesh-ca-root-cert"], ["patch"]),
  ...notedRules(
    "The same as one bundle for the cluster, with ENABLE_CLUSTER_TRUST_BUNDLE_API: every account may read it.",
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
  noted("Their status; one is read before it is written.", rule(["networking.k8s.io"], ["ingresses"], ["get"])),
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
    "The authority that the servers make for themselves, unless one is brought along.",
    rule([""], ["secrets"], ["create"]),
  ),
  ruleOf([""], ["secrets"], ["mesh-ca-secret", "istio-ca-secret", "cacerts"], ["get", "update"]),
  noted(
    "How far configuration is on the proxies of each server: config maps that servers make for the one that writes status.",
    rule([""], ["configmaps"], ["patch", "delete"]),
  ),
  when(
    IS_DEFAULT,
    noted(
      "An object that is refused, to see that the API asks the webhook: as a dry run, nothing is stored.",
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
    "Requests: each is made, followed, and taken away.",
    rule(["certificates.k8s.io"], ["certificatesigningrequests"], ["create", "list", "watch", "delete"]),
  ),
  noted(
    "Their approval, of these signers alone. Without these two rules somebody else has to approve them.",
    rule(["certificates.k8s.io"], ["certificatesigningrequests/approval"], ["patch"]),
  ),
  ruleOf(["certificates.k8s.io"], ["signers"], ["issuers.example.com/mesh"], ["approve"]),
]);
