/**
 * The server's account and rights.
 *
 * @module
 */
import {
  DEPLOYS_GATEWAYS,
  granted,
  IS_DEFAULT,
  MAKES_CLASSES,
  NAMESPACE,
  ofSystem,
  revised,
  REVISION,
} from "./names.ts";
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
const GATEWAY_API = ["gateway.networking.k8s.io"];
const EXPERIMENTAL_API = ["gateway.networking.x-k8s.io"];
const INFERENCE = ["inference.networking.k8s.io"];
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

/** The kinds of the Gateway API with a status, as definitions of v1.6.1 name them. */
const GATEWAY_API_KINDS = [
  "gatewayclasses",
  "gateways",
  "listenersets",
  "httproutes",
  "grpcroutes",
  "tlsroutes",
  "tcproutes",
  "udproutes",
  "backendtlspolicies",
];

/** The experimental kinds of the Gateway API, as definitions of v1.6.1 name them. */
const EXPERIMENTAL_KINDS = ["xbackends", "xbackendtrafficpolicies", "xmeshes"];

/** The kinds of the Gateway API's Inference Extension v1.6.0. */
const INFERENCE_KINDS = ["inferencepools"];

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

/** Rights to deploy managed Gateways. Another rule lets the server list and watch services and accounts. */
const DEPLOYMENT_RULES: readonly Node[] = [
  noted(
    "Deployments of managed Gateways. The server leaves objects alone that it has not made.",
    rule(["apps"], ["deployments"], [...READ, "create", "patch"]),
  ),
  rule([""], ["services", "serviceaccounts"], ["get", "create", "patch"]),
  noted(
    "Autoscalers and budgets that overlays of Gateways ask for.",
    rule(["autoscaling"], ["horizontalpodautoscalers"], [...READ, "create", "patch", "delete"]),
  ),
  rule(["policy"], ["poddisruptionbudgets"], [...READ, "create", "patch", "delete"]),
];

/** The right to make the built-in classes. */
const CLASS_RULE = noted("The built-in classes of Gateways.", rule(GATEWAY_API, ["gatewayclasses"], ["create"]));

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
  ...notedRules("The kinds of the Gateway API, if they are defined. A ReferenceGrant has no status.", [
    rule(GATEWAY_API, GATEWAY_API_KINDS, READ),
    rule(GATEWAY_API, ["referencegrants"], WATCH),
    rule(GATEWAY_API, GATEWAY_API_KINDS.map((resource) => `${resource}/status`), ["patch"]),
    rule(EXPERIMENTAL_API, EXPERIMENTAL_KINDS, READ),
    rule(EXPERIMENTAL_API, EXPERIMENTAL_KINDS.map((resource) => `${resource}/status`), ["patch"]),
  ]),
  ...notedRules("The kinds of the Gateway API's Inference Extension, if they are defined and the setting is on.", [
    rule(INFERENCE, INFERENCE_KINDS, READ),
    rule(INFERENCE, INFERENCE_KINDS.map((resource) => `${resource}/status`), ["patch"]),
  ]),
  ...DEPLOYMENT_RULES.map((one) => when(DEPLOYS_GATEWAYS, one)),
  when(MAKES_CLASSES, CLASS_RULE),
  noted(
    "Objects that configuration refers to, and the mesh configuration.",
    rule([""], ["namespaces", "services", "serviceaccounts", "secrets", "configmaps"], WATCH),
  ),
  ...notedRules("Whether the waypoint of a service is used, in its status (AMBIENT_ENABLE_STATUS).", [
    rule([""], ["services"], ["get"]),
    rule([""], ["services/status"], ["patch"]),
  ]),
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
    "The config map of root certificates in every namespace, and the locks, reports, calls and rollouts in the server's namespace (below). RBAC cannot restrict the creation of objects by name.",
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
  ruleOf(["coordination.k8s.io"], ["leases"], [
    "mesh-status-leader",
    when(DEPLOYS_GATEWAYS, text`mesh-gateway-deployment-${REVISION}`),
    text`mesh-gateway-status-leader-${REVISION}`,
    text`mesh-rollout-leader-${REVISION}`,
  ], ["get", "update"]),
  noted(
    "The certificate authority that the servers make, unless you bring one.",
    rule([""], ["secrets"], ["create"]),
  ),
  ruleOf([""], ["secrets"], ["mesh-ca-secret", "istio-ca-secret", "cacerts"], ["get", "update"]),
  noted(
    "Reports on how many proxies of each server have a configuration: each server writes a config map, and the leader for status reads it. What the workloads of a namespace have called is another config map, which all servers write. The state of a staged rollout is a config map, which the leader for rollouts writes and all servers read.",
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
    "Approval of requests only for these signers. Without these two rules somebody else has to approve the requests.",
    rule(["certificates.k8s.io"], ["certificatesigningrequests/approval"], ["patch"]),
  ),
  ruleOf(["certificates.k8s.io"], ["signers"], ["issuers.example.com/mesh"], ["approve"]),
]);
