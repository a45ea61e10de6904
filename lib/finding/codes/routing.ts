/**
 * Rules and hosts of VirtualServices that hide each other.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** One row for each sort. */
export const ROUTING = {
  "dropped-traffic-policy": {
    code: "MSH1111",
    title: "trafficPolicy of another DestinationRule",
    meaning:
      "Several DestinationRules of a namespace are for one host and the same clients, and have traffic policies.",
    effect: "The trafficPolicy of the oldest of them holds; nothing of the others' does.",
    fix:
      "Write one trafficPolicy with all that is wanted, or give the rules different clients by workloadSelector or exportTo.",
  },
  "hidden-rules": {
    code: "MSH0109",
    title: "host of another VirtualService",
    meaning: "Several VirtualServices have rules for one host on sidecars.",
    effect: "The oldest one decides; the rules of the others are never used.",
    fix: "Merge them into one VirtualService, or use delegates.",
  },
  "unreachable-rule": {
    code: "MSH0130",
    title: "rule is never used",
    meaning: "Earlier rules of the same VirtualService take all that a rule matches.",
    effect: "No request reaches the rule.",
    fix: "Move the rule before the others, or remove it.",
  },
  "ineffective-match": {
    code: "MSH0131",
    title: "match is never used",
    meaning: "An earlier rule of the same VirtualService has the same match, or one that covers it.",
    effect: "No request reaches the rule by this match.",
    fix: "Remove the match, or move the rule before the other one.",
  },
  "host-not-in-gateway": {
    code: "MSH0132",
    title: "gateway does not serve the host",
    meaning:
      "A VirtualService is bound to a Gateway none of whose servers has its host, or has a host that no server of its Gateways has for its namespace.",
    effect: "The gateway answers 404 for the host, or refuses the connection.",
    fix: "Add the host to a server of the Gateway, or bind the VirtualService to another one.",
  },
  "unserved-gateway-port": {
    code: "MSH0162",
    title: "gateway port that nothing leads to",
    meaning: "A server of a Gateway has a port that no service in front of its workloads sends connections to.",
    effect: "Clients do not reach the port through a service.",
    fix: "Use a targetPort of the service, or add the port to the service.",
  },
  "hidden-by-export": {
    code: "MSH1105",
    title: "destination is not exported here",
    meaning:
      "A destination exists, but its exportTo does not name the namespace that sends there: that of the route, of some of its clients, or of the gateway's workloads.",
    effect: "Requests that are sent there are answered with 503, connections are closed.",
    fix: "Add the namespace to exportTo of the destination.",
  },
  "hidden-subset": {
    code: "MSH1106",
    title: "subset is not in force here",
    meaning:
      "A subset exists, but in a DestinationRule that is not in force for some clients of the route: another rule decides for them, or none does.",
    effect: "Requests that are sent there are answered with 503.",
    fix: "Define the subset in the rule that decides, or export the DestinationRule to the namespace.",
  },
  "subset-without-endpoints": {
    code: "MSH0173",
    title: "subset without endpoints",
    meaning: "A subset is for labels that none of the endpoints of its service has.",
    effect: "Requests that are sent there are answered with 503.",
    fix: "Correct the labels of the subset, or the weight.",
  },
  "unseen-route": {
    code: "MSH1108",
    title: "no sidecar sees the route",
    meaning: "A VirtualService is for sidecars, and exportTo or every Sidecar hides it from all of them.",
    effect: "Its rules are never used.",
    fix: "Correct exportTo, or add its host to the egress of a Sidecar.",
  },
  "route-left-out": {
    code: "MSH1109",
    title: "Sidecar leaves the route out",
    meaning:
      "A Sidecar imports a host's service and not the VirtualService that its namespace has for the host: of each, the namespace that it lies in must be imported.",
    effect: "Workloads with that Sidecar send to the host past the rules.",
    fix: "Add the VirtualService's namespace with the host to the egress of the Sidecar.",
  },
  "hidden-from-own-namespace": {
    code: "MSH0187",
    title: "route's namespace does not see the destination",
    meaning:
      "A destination of a VirtualService exists and is not exported to the namespace of the VirtualService, while others see both. Clients in that namespace do not reach it; nor does a gateway, unless its workloads run where the destination is exported to.",
    effect: "Requests of those clients that are sent there are answered with 503, connections are closed.",
    fix: "Add the namespace to exportTo of the destination, or export the route only to those who see the destination.",
  },
  "route-hidden-from-gateway": {
    code: "MSH1110",
    title: "gateway does not see the route",
    meaning: "A VirtualService is bound to a Gateway whose workloads run in a namespace that it is not exported to.",
    effect: "The gateway answers 404 for its hosts.",
    fix: "Add the namespace of the gateway's workloads to exportTo.",
  },
  "post-tunnel": {
    code: "MSH1112",
    title: "tunnel that may end Envoy",
    meaning:
      "A tunnel uses POST. Envoy 1.40 ends with a segmentation fault when the other end closes such a tunnel first.",
    effect: "A server behind the tunnel can take the whole proxy down.",
    fix: "Use CONNECT.",
  },
  "hidden-tcp-rule": {
    code: "MSH1042",
    title: "TCP rule that no connection reaches",
    meaning:
      "A tcp rule is for a port of a gateway at which an earlier rule, of this or an older VirtualService, takes all connections. The hosts of VirtualServices do not tell plain connections apart.",
    effect: "Connections that are meant for it go to the destination of the earlier rule.",
    fix: "Use another port, or TLS with tls rules, which go by server name.",
  },
  "entry-port-not-served": {
    code: "MSH1043",
    title: "port of a younger entry is not served",
    meaning:
      "A ServiceEntry has a host that an older one of its namespace has too, and its port cannot be merged: the older one has the port with another resolution, or is exported to other namespaces.",
    effect: "The host does not have this port.",
    fix: "Put both into one ServiceEntry, or give them different hosts or ports.",
  },
  "server-without-name": {
    code: "MSH0193",
    title: "traffic does not name the server",
    meaning:
      "A destination has resolution DYNAMIC_DNS: proxies dial the host that the traffic names. Copies of requests name another host than the requests do, connections under a tcp rule name none, and of several destinations of one tls or tcp rule only one name is resolved.",
    effect: "Nothing is sent to the destination.",
    fix: "Name a host under the wildcard as the only destination, or give the destination a service with addresses.",
  },
  "upgrade-outside-mesh": {
    code: "MSH1044",
    title: "HTTP/2 to a server outside of the mesh",
    meaning:
      "A DestinationRule, or h2UpgradePolicy of the mesh configuration, upgrades connections to HTTP/2 for servers that have no proxy of the mesh. HTTP/2 carries WebSocket as extended CONNECT alone, which proxies of the mesh take and many servers do not.",
    effect:
      "Other requests are served; WebSocket requests are answered with 503 where the server takes no extended CONNECT.",
    fix: "Set h2UpgradePolicy to DO_NOT_UPGRADE for hosts whose clients use WebSocket.",
  },
  "unusable-address": {
    code: "MSH0196",
    title: "address that the service cannot use",
    meaning:
      "A WorkloadEntry has a host name for an address, or a Unix socket, and a ServiceEntry that selects it has a resolution that cannot use such an address.",
    effect: "The service goes without this endpoint.",
    fix: "Write an IP address, or change the resolution of the ServiceEntry.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
