/**
 * The proof of each sort of findings: how a test follows the claim. A new sort needs a row, or nothing compiles.
 * @module
 */
import type { FindingName } from "../../../lib/finding/codes.ts";

/** The removed part of an object. */
export type RemovedPart = "field" | "object" | "rule";

/** How a finding is followed. */
export type Proof =
  /**
   * Claim: a part is without effect. Removing the part from the texts changes no resource of any proxy. The holder of
   * an emptied list goes as well, since an empty list may mean everything. `rule`: the entry of the object's own list
   * around the field. `among: "known"`: the claim is about workloads that texts name, so a proxy that stands for unknown
   * workloads of a namespace, or of a Gateway's selector, may change.
   */
  | { readonly by: "removal"; readonly of: RemovedPart; readonly among?: "known" }
  /** Claim: a part is never used. Removing the part changes the end of no request. */
  | { readonly by: "requests"; readonly of: "field" | "rule" }
  /** Claim: a destination is not served. No route of the finding's object leads to an endpoint of the destination. */
  | { readonly by: "reach" }
  /** Claim: anybody is trusted. Clients get no authority. */
  | { readonly by: "authorities" }
  /** Claim: a winner has the place. Without the winner the requests of the loser end elsewhere. */
  | { readonly by: "winner" }
  /** Claim: an object is refused. The object is not in force. */
  | { readonly by: "refusal" }
  /** A separate test shows the truth; the name is part of the test's name in the file. */
  | { readonly by: "test"; readonly file: string; readonly name: string };

const removal = (of: RemovedPart): Proof => ({ by: "removal", of });
const test = (file: string, name: string): Proof => ({ by: "test", file: `tests/${file}`, name });
/** A test with the name of the sort at the beginning of its name. */
const claims = (file: "gateway_api" | "routing" | "objects", name: string): Proof =>
  test(`analyze/claims_${file}_test.ts`, name);

export const PROOFS: Readonly<Record<FindingName, Proof>> = {
  "unknown-host": { by: "reach" },
  "unknown-gateway": removal("field"),
  "unknown-subset": { by: "reach" },
  "unknown-delegate": removal("rule"),
  "unresolved-reference": claims("objects", "unresolved-reference:"),
  "port-required": claims("routing", "port-required:"),
  "unknown-port": { by: "reach" },
  "unknown-import": removal("field"),
  "unknown-namespace": claims("routing", "unknown-namespace:"),
  "unknown-rule-host": removal("object"),
  "rule-without-clusters": removal("object"),
  "dropped-traffic-policy": removal("field"),
  "hidden-rules": removal("object"),
  "unreachable-rule": { by: "requests", of: "rule" },
  "ineffective-match": { by: "requests", of: "field" },
  "host-not-in-gateway": removal("field"),
  "unserved-gateway-port": claims("routing", "unserved-gateway-port:"),
  "hidden-by-export": { by: "reach" },
  "hidden-subset": { by: "reach" },
  "subset-without-endpoints": { by: "reach" },
  "unseen-route": removal("object"),
  "route-left-out": claims("routing", "route-left-out:"),
  "route-hidden-from-gateway": removal("object"),
  "post-tunnel": claims("routing", "post-tunnel:"),
  "hidden-tcp-rule": { by: "requests", of: "rule" },
  "entry-port-not-served": test(
    "offline/as_written_test.ts",
    "a port that an older entry has with another resolution stays that entry's, and is found",
  ),
  "certificate-of-several-gateways": claims("routing", "certificate-of-several-gateways:"),
  "subsets-not-for-gateway": claims("routing", "subsets-not-for-gateway:"),
  "gateways-of-one-host": claims("routing", "gateways-of-one-host:"),
  "telemetries-of-one-workload": test(
    "mesh/telemetry_test.ts",
    "of several for a namespace the oldest holds; of several for a workload all do, the youngest last",
  ),
  "several-default-telemetries": removal("object"),
  "entries-differ-in-protocol": claims("routing", "entries-differ-in-protocol:"),
  "unknown-annotation": removal("field"),
  "unverified-server": { by: "authorities" },
  "unverified-server-port": { by: "authorities" },
  "address-required": claims("routing", "address-required:"),
  "selects-nothing": { by: "removal", of: "object", among: "known" },
  "sidecars-of-one-workload": removal("object"),
  "several-default-sidecars": removal("object"),
  "policy-without-workload": { by: "removal", of: "object", among: "known" },
  "claims-without-authentication": claims("routing", "claims-without-authentication:"),
  "beyond-tunnel": test(
    "mesh/tunnel/authorization_test.ts",
    "a DENY rule refuses without the attributes of requests, and no match is ever empty",
  ),
  "action-beyond-tunnel": test(
    "mesh/tunnel/authorization_test.ts",
    "tunnels get no policy for a named object, no dry run, no AUDIT and no CUSTOM policy, and the reason is said",
  ),
  "client-behind-waypoint": test(
    "simulate/tunnel_connect_test.ts",
    "behind a waypoint the workload's tunnel sees the waypoint: an allow-list of clients refuses everything",
  ),
  "waypoint-not-used": test(
    "analyze/unused_waypoints_test.ts",
    "a finding says what tunnels do: they get no waypoint, or a name that nothing has",
  ),
  "sidecar-in-ambient": claims("routing", "sidecar-in-ambient:"),
  "filter-order": test(
    "patches/listener_test.ts",
    "where HTTP filters come, by operation and by whether the patch names one",
  ),
  "filter-replace-ignored": removal("object"),
  "filter-add-ignored": removal("object"),
  "filter-remove-ignored": removal("object"),
  "filter-order-by-version": test(
    "patches/compile_test.ts",
    "a patch may match a version, found anywhere in the proxy's version, and metadata, with each key equal",
  ),
  "filter-without-effect": removal("object"),
  "filter-of-no-proxy": removal("object"),
  "filter-route-last": test(
    "patches/routes_test.ts",
    "where routes come, by operation and by whether the patch names one",
  ),
  "namespace-not-injected": test(
    "webhook/injector_entries_test.ts",
    "a namespace without a label of injection gets no proxies, unless a pod asks for one itself",
  ),
  "several-injection-labels": test(
    "webhook/injector_entries_test.ts",
    "if a namespace has a label for injection and a label for a revision, the label for injection decides",
  ),
  "pod-without-proxy": claims("objects", "pod-without-proxy:"),
  "image-auto-without-injection": claims("objects", "image-auto-without-injection, image-auto-in-pod:"),
  "image-auto-in-pod": claims("objects", "image-auto-without-injection, image-auto-in-pod:"),
  "reserved-user": test("injection/redirection_test.ts", "redirect alike, and never the proxy's own traffic"),
  "services-differ-in-transport": test(
    "discovery/measure_test.ts",
    "a UDP port and a port of an alias do not count as clusters",
  ),
  "services-differ-in-port": test(
    "offline/offered_protocols_test.ts",
    "of two ports of a service at one workload port the first in its list gives the protocol; the conflict is found",
  ),
  "port-without-protocol": test(
    "registry/protocol_test.ts",
    "a protocol is found by its name in any case, and sniffed when unknown",
  ),
  "incomplete-credential": test(
    "analyze/credentials_test.ts",
    "a remote cluster's secret that lacks a key is found with the cluster's name",
  ),
  "unusable-credential": test(
    "e2e/credentials_envoy_test.ts",
    "what a real Envoy does not load, or lets nobody in with, is not sent, with the reason; all else is",
  ),
  "ingress-backend-unavailable": test(
    "discovery/ingress_findings_test.ts",
    "a port name that the service lacks and two certificates for one host are reported",
  ),
  "ingress-part-left-out": test(
    "ingress/incremental_test.ts",
    "an Ingress that cannot be read as one leaves the others of its host as they are",
  ),
  "misplaced-annotation": removal("field"),
  "wrong-annotation": claims("objects", "wrong-annotation:"),
  "deprecated-annotation": claims("objects", "deprecated-annotation:"),
  "alpha-annotation": claims("objects", "alpha-annotation:"),
  "syntax": test("folder/index_test.ts", "a document that does not parse keeps the object that its head names"),
  "unreadable-file": test(
    "folder/index_test.ts",
    "a removed file takes its objects with it; an unreadable one keeps them",
  ),
  "lost-file": test(
    "discovery/mesh_source_test.ts",
    "the settings of a removed mesh file stay in force until it is back, with a finding",
  ),
  "unknown-kind": { by: "refusal" },
  "unknown-field": { by: "refusal" },
  "missing-field": { by: "refusal" },
  "wrong-value": { by: "refusal" },
  "exclusive-fields": { by: "refusal" },
  "deprecated-field": claims("objects", "deprecated-field:"),
  "too-many": claims("objects", "too-many:"),
  "duplicate-object": test("folder/index_test.ts", "of two documents of a file with one object the first wins"),
  "hidden-object": test(
    "discovery/config_sources_test.ts",
    "folders of the mesh configuration are read beside the flag's folder, whose objects have precedence until they are removed",
  ),
  "derivation-failed": test(
    "config/derive/engine_test.ts",
    "a derivation that throws affects only its input, whose objects stay; the finding ends when the derivation works again",
  ),
  "authority-not-valid": test(
    "discovery/authority_findings_test.ts",
    "the pages say that the authority's certificate is not valid now, and are silent about a valid or missing certificate",
  ),
  "no-effect": test(
    "discovery/config_sources_test.ts",
    "sources that are not read are named, and a changed list needs a restart",
  ),
  "no-log-provider": removal("rule"),
  "no-telemetry-provider": removal("rule"),
  "unusable-telemetry-provider": claims("objects", "unusable-telemetry-provider:"),
  "unknown-registry": test(
    "mesh/networks_test.ts",
    "an address is in the network of its range, else in the cluster's network",
  ),
  "needs-restart": test(
    "discovery/config_sources_test.ts",
    "sources that are not read are named, and a changed list needs a restart",
  ),
  "keys-not-fetched": test(
    "discovery/token_keys_test.ts",
    "a start does not wait for keys that were tried and failed, and the proxies' configuration has a provider for them",
  ),
  "root-namespace-of-empty-folder": test(
    "discovery/root_namespace_test.ts",
    "a root namespace chosen for an empty folder is a warning in the log and on the page, until the namespace has an object",
  ),
  "unusable-mesh-configuration": test(
    "offline/mesh_configuration_test.ts",
    "a mesh configuration of the new version with errors is a new finding, and the defaults take its place",
  ),
  "outside-root-namespace": test(
    "discovery/root_namespace_test.ts",
    "a server takes the root namespace of its folder at start, and reports later objects in another root namespace",
  ),
  "reaches-no-proxy": test(
    "effect/property_test.ts",
    "parts reported as reaching no proxy can be removed, one by one and together, without a change of any proxy's resources",
  ),
  "duplicate-subset": removal("object"),
  "scope-without-effect": test("discovery/scope_warnings_test.ts", "an entry that decides about no service is told"),
  "too-few-addresses": test(
    "registry/allocation/allocate_test.ts",
    "when all addresses are taken the youngest service has no address, and gets the next free address",
  ),
  "listener-conflict": { by: "winner" },
  "tcp-listener-conflict": { by: "winner" },
  "inbound-conflict": test(
    "offline/check_test.ts",
    "if two service ports share a port of a workload, the first one is served, and a finding names the other one",
  ),
  "domain-conflict": test(
    "translate/route/domain_owners_test.ts",
    "otherwise the older host owns the domain, and the younger host gets the domain when the older host goes",
  ),
  "unusable-address": claims("objects", "unusable-address:"),
  "gateway-port-without-rule": test(
    "offline/elsewhere_test.ts",
    "a gateway's port of bytes without a rule is a warning",
  ),
  "gateway-not-as-written": test(
    "debug/live_findings_test.ts",
    "live: a Gateway whose only server lost its port to an older one is not in force",
  ),
  "not-as-written": test(
    "offline/as_written_test.ts",
    "header operations of the rule that delegates and of its delegate hold together; of a clash the delegate's, and it is found",
  ),
  "unusable-authorizer": claims("objects", "unusable-authorizer:"),
  "http-rule-for-bytes": claims("objects", "http-rule-for-bytes:"),
  "patch-refused": test(
    "patches/compile_test.ts",
    "one patch that cannot be read leaves the others in force, with their places",
  ),
  "patch-partly": test(
    "patches/compile_test.ts",
    "a value is checked against the messages of Envoy, and unknown fields are reported",
  ),
  "patch-failed": test(
    "discovery/patches_test.ts",
    "a part that a patch adds under an existing name is left out with a finding, and is in force nowhere",
  ),
  "patch-rejected": test(
    "discovery/stand_ins_test.ts",
    "a new proxy gets a cluster without the one rejected filter of many",
  ),
  "rollout-without-effect": removal("field"),
  "rollout-taken-back": test(
    "discovery/rollout/driver_test.ts",
    "a proxy that rejects the newest version stops the rollout, and all proxies have the last good version",
  ),
  "rollout-in-progress": test(
    "discovery/rollout/driver_test.ts",
    "a new version goes to a tenth of twenty proxies, then to half, then to all",
  ),
  "rollout-at-once": test(
    "rollout/staged_objects_test.ts",
    "an edit of TLS settings goes everywhere at once, and any other edit of a DestinationRule is staged",
  ),
  "listener-without-chains": test(
    "patches/listener_test.ts",
    "the default chain is patched like the others; without any chain a listener is useless",
  ),
  "filter-behind-terminal": claims("objects", "filter-behind-terminal:"),
  "policy-port-of-service": claims("objects", "policy-port-of-service:"),
  "matches-no-request": { by: "requests", of: "field" },
  "hidden-from-own-namespace": test(
    "analyze/visibility_entries_test.ts",
    "clients of the route's own namespace that do not see the destination under its own host are found",
  ),
  "missing-credential": test(
    "analyze/credentials_test.ts",
    "a destination rule's credential is checked like a gateway's, and reported as missing where other secrets are known",
  ),
  "refused-credential": test(
    "analyze/credentials_test.ts",
    "a Secret that exists but is refused is not reported as missing",
  ),
  "suites-without-certificate": test(
    "e2e/credentials_envoy_test.ts",
    "what a real Envoy does not load, or lets nobody in with, is not sent, with the reason; all else is",
  ),
  "mesh-configuration-elsewhere": test(
    "offline/check_whole_test.ts",
    "equal objects are one mesh configuration; of different objects none is taken, and each is named",
  ),
  "unread-definition": test(
    "discovery/orch/gateway_api_test.ts",
    "a definition in unread versions is a finding that ends with a newer definition",
  ),
  "not-attached": claims("gateway_api", "not-attached:"),
  "unusable-backend": claims("gateway_api", "unusable-backend:"),
  "refused-rule": claims("gateway_api", "refused-rule:"),
  "match-of-another-rule": claims("gateway_api", "match-of-another-rule:"),
  "route-behind-virtual-service": claims("gateway_api", "route-behind-virtual-service:"),
  "listener-without-place": claims("gateway_api", "listener-without-place:"),
  "listener-not-as-written": claims("gateway_api", "listener-not-as-written:"),
  "unused-backend-policy": claims("gateway_api", "unused-backend-policy:"),
  "unserved-gateway": claims("gateway_api", "unserved-gateway:"),
  "gateway-without-network": test(
    "discovery/network_gateways_test.ts",
    "a gateway without a network is found by nobody, and forwards to workloads without a network alone",
  ),
  "global-service-without-gateway": test(
    "discovery/network_gateways_test.ts",
    "the way into another network: by HBONE through its gateway, by mutual TLS through its gateway, directly, or none",
  ),
  "gateway-api-off": claims("gateway_api", "gateway-api-off:"),
  "unused-external-backend": claims("gateway_api", "unused-external-backend:"),
  "refused-mesh-parameters": claims("gateway_api", "refused-mesh-parameters:"),
  "derived-gateway": claims("gateway_api", "derived-gateway:"),
  "unknown-cluster": test(
    "discovery/stock_values_test.ts",
    "proxies of any other cluster are a finding and a log line, once for each name, until they disconnect",
  ),
  "upgrade-outside-mesh": test(
    "e2e/websocket_test.ts",
    "WebSocket reaches its server through two proxies that talk HTTP/2, which",
  ),
  "server-without-name": test("e2e/dynamic_dns_test.ts", "DYNAMIC_DNS"),
  "patch-beyond-limits": test(
    "patches/limits_test.ts",
    "a message that is merged lacks nothing, the same message whole does",
  ),
};
