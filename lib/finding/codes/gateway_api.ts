/**
 * Objects of the Gateway API that are not in force as written.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** The rows, by sort. */
export const GATEWAY_API = {
  "not-attached": {
    code: "MSH1121",
    title: "attached to nothing",
    warningTitle: "parent is not known",
    meaning:
      "A parentRef attaches a route or ListenerSet to nothing: the parent does not exist, has no such listener, or does not take the object.",
    effect: "The parent does not serve the object. Other parents are not affected.",
    warningEffect: "Unless the parent exists elsewhere, nothing serves the object by this parentRef.",
    fix:
      "Correct the named field, or change the parent (allowedRoutes, allowedListeners, hostname) so that it takes the object.",
  },
  "unusable-backend": {
    code: "MSH1122",
    title: "backend that cannot be used",
    meaning:
      "A backendRef of a route leads nowhere: its kind is not supported, a ReferenceGrant is missing, there is no such service or port, or an InferencePool has no endpoint picker.",
    effect:
      "Requests for the backend are answered with 500, calls with UNAVAILABLE; connections are closed. Other backends and rules serve.",
    fix: "Correct the backendRef, or add the service or the ReferenceGrant.",
  },
  "refused-rule": {
    code: "MSH1123",
    title: "rule that is not served as written",
    meaning: "A rule of a route has a filter or value that cannot be served.",
    effect: "Requests of the rule are answered with 500, calls with UNAVAILABLE. Other rules serve.",
    fix: "Write an expected value, or remove the field.",
  },
  "match-of-another-rule": {
    code: "MSH1124",
    title: "match that another rule takes",
    meaning:
      "Two rules at one host have the same match. The rule of the older route takes all requests. Of routes of the same age the first by namespace and name wins, and within a route the earlier rule.",
    effect: "No request reaches the later rule by this match.",
    fix: "Change one of the matches, or remove the later rule.",
  },
  "route-behind-virtual-service": {
    code: "MSH1125",
    title: "route and VirtualService for one service",
    meaning:
      "A route and a VirtualService are for one service. For each client only one of both decides: an object for the client's namespace before an object for all namespaces, then the older object, and of objects of the same age the VirtualService.",
    effect: "The rules of the route are not used.",
    fix: "Write all rules of the service into the route, or all into the VirtualService.",
  },
  "listener-without-place": {
    code: "MSH1126",
    title: "listener whose place is taken",
    meaning:
      "Two listeners of a Gateway and its ListenerSets cannot be told apart by port, protocol and hostname. The Gateway's own listeners go first, then the oldest ListenerSet.",
    effect: "The listener is not served. Routes of the listener get no requests through it.",
    fix: "Give the listener another port or hostname, or remove it.",
  },
  "listener-not-as-written": {
    code: "MSH1127",
    title: "listener that is not served as written",
    meaning:
      "A listener has a protocol, certificate, authority or kind of route that cannot be used, or its ListenerSet may not add listeners to the Gateway.",
    effect: "The listener is not served.",
    fix: "Correct the field, or add the Secret or the ReferenceGrant.",
  },
  "unused-backend-policy": {
    code: "MSH1128",
    title: "policy of a backend that is not in force",
    meaning:
      "A BackendTLSPolicy or XBackendTrafficPolicy has a target that does not exist or that an older policy has, or authorities or a session that cannot be used.",
    effect: "Connections to the target do not follow this policy.",
    fix: "Correct the named field, or remove the policy.",
  },
  "unserved-gateway": {
    code: "MSH1129",
    title: "Gateway that is not served as written",
    warningTitle: "Gateway that nothing here serves",
    meaning:
      "The class of a Gateway does not exist or is switched off, or the Gateway has an address, parameters or a client certificate that cannot be used.",
    effect: "The Gateway is not served, or is served without the named field.",
    fix: "Correct the named field, or add the GatewayClass, ConfigMap or Secret.",
  },
  "gateway-api-off": {
    code: "MSH1130",
    title: "the Gateway API is switched off",
    meaning:
      "An object is of a kind of the Gateway API, and PILOT_ENABLE_GATEWAY_API is false; or the kind is experimental, and PILOT_ENABLE_ALPHA_GATEWAY_API is false; or the object is an InferencePool, and ENABLE_GATEWAY_API_INFERENCE_EXTENSION is false.",
    effect: "The object has no effect.",
    fix: "Set the named variable to true, or remove the object.",
  },
  "gateway-without-network": {
    code: "MSH1133",
    title: "gateway between networks without a network",
    meaning: "A Gateway of the class mesh-east-west has no label `topology.mesh.io/network`.",
    effect:
      "No client in another network finds the Gateway, and its proxies forward only to workloads without a network.",
    fix: "Label the Gateway with the name of the network behind it.",
  },
  "global-service-without-gateway": {
    code: "MSH1134",
    title: "global service without a gateway between networks",
    meaning:
      "A Service has the scope GLOBAL by serviceScopeConfigs of the mesh configuration, and the mesh has no Gateway of the class mesh-east-west that names a network.",
    effect: "Clients in other networks do not reach the workloads of the Service by HBONE.",
    fix:
      "Add a Gateway of the class mesh-east-west with the label `topology.mesh.io/network`, or give the Service the scope LOCAL.",
  },
  "unused-external-backend": {
    code: "MSH1132",
    title: "XBackend that is not used as written",
    meaning:
      "An XBackend has a host of the cluster or an IP address, asks for a certificate of the client, or has authorities that cannot be used.",
    effect: "Requests for the backend are answered with 500, calls with UNAVAILABLE; connections are closed.",
    fix: "Correct the named field.",
  },
  "refused-mesh-parameters": {
    code: "MSH1131",
    title: "XMesh that is not accepted",
    meaning: "An XMesh of this mesh's controller has a parametersRef. The mesh takes no parameters.",
    effect: "The status of the XMesh says that it is not accepted. Traffic stays the same.",
    fix: "Remove the parametersRef.",
  },
  "derived-gateway": {
    code: "MSH1135",
    title: "VirtualService at a listener of the Gateway API",
    meaning:
      "A VirtualService names the Gateway that is made of a listener of the Gateway API. The name depends on the names of the Gateway and of the listener.",
    effect:
      "The rules are served. When the listener is renamed or removed, the Gateway is gone, and requests for the hosts get 404.",
    fix: "Write a route of the Gateway API with the listener as its parent, or keep the names.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
