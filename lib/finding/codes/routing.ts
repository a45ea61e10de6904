/**
 * Rules and hosts of VirtualServices that hide each other.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** The rows, by sort. */
export const ROUTING = {
  "dropped-traffic-policy": {
    code: "MSH1111",
    title: "trafficPolicy of another DestinationRule",
    meaning:
      "Several DestinationRules of a namespace are for one host and the same clients, and have traffic policies.",
    effect: "The trafficPolicy of the oldest DestinationRule is in force; the others have no effect.",
    fix:
      "Write one trafficPolicy with all wanted settings, or give the rules different clients by workloadSelector or exportTo.",
  },
  "hidden-rules": {
    code: "MSH0109",
    title: "host of another VirtualService",
    meaning: "Several VirtualServices have rules for one host on sidecars.",
    effect: "The oldest VirtualService decides; the rules of the others are never used.",
    fix: "Merge the rules into one VirtualService, or use delegates.",
  },
  "unreachable-rule": {
    code: "MSH0130",
    title: "rule is never used",
    meaning: "Earlier rules of the same VirtualService take all requests that a rule matches.",
    effect: "No request reaches the rule.",
    fix: "Move the rule before the others, or remove it.",
  },
  "ineffective-match": {
    code: "MSH0131",
    title: "match is never used",
    meaning: "An earlier rule of the same VirtualService has the same match, or a wider match.",
    effect: "No request reaches the rule by this match.",
    fix: "Remove the match, or move the rule before the earlier rule.",
  },
  "host-not-in-gateway": {
    code: "MSH0132",
    title: "gateway does not serve the host",
    meaning:
      "A VirtualService is bound to a Gateway, but no server of the Gateway has one of its hosts. Or a host is in no server of its Gateways that is open to its namespace.",
    effect: "The gateway answers 404 for the host, or refuses the connection.",
    fix: "Add the host to a server of the Gateway, or bind the VirtualService to another Gateway.",
  },
  "unserved-gateway-port": {
    code: "MSH0162",
    title: "gateway port that nothing leads to",
    meaning: "A server of a Gateway has a port, but no service in front of the Gateway's workloads leads to the port.",
    effect: "Clients do not reach the port through a service.",
    fix: "Use a targetPort of the service, or add the port to the service.",
  },
  "hidden-by-export": {
    code: "MSH1105",
    title: "destination is not exported here",
    meaning:
      "A destination exists, but is not exported to a namespace that sends to it: the namespace of the route, of some clients, or of the gateway's workloads.",
    effect: "Requests to the destination are answered with 503, connections are closed.",
    fix: "Add the namespace to exportTo of the destination.",
  },
  "hidden-subset": {
    code: "MSH1106",
    title: "subset is not in force here",
    meaning:
      "A subset exists, but its DestinationRule is not in force for some clients of the route: another rule decides for these clients, or no rule does.",
    effect: "Requests to the subset are answered with 503.",
    fix: "Define the subset in the rule that decides, or export the DestinationRule to the namespace.",
  },
  "subset-without-endpoints": {
    code: "MSH0173",
    title: "subset without endpoints",
    meaning: "A subset is for labels that no endpoint of its service has.",
    effect: "Requests to the subset are answered with 503.",
    fix: "Correct the labels of the subset, or the weight.",
  },
  "unseen-route": {
    code: "MSH1108",
    title: "no sidecar sees the route",
    meaning: "A VirtualService is for sidecars, but exportTo hides it from all sidecars, or every Sidecar does.",
    effect: "The rules of the VirtualService are never used.",
    fix: "Correct exportTo, or add its host to the egress of a Sidecar.",
  },
  "route-left-out": {
    code: "MSH1109",
    title: "Sidecar leaves the route out",
    meaning:
      "A Sidecar imports a host's service, but not the VirtualService for the host. A Sidecar must import the namespace of each.",
    effect: "Workloads of the Sidecar send to the host without the rules.",
    fix: "Add the VirtualService's namespace with the host to the egress of the Sidecar.",
  },
  "hidden-from-own-namespace": {
    code: "MSH0187",
    title: "route's namespace does not see the destination",
    meaning:
      "A destination of a VirtualService exists, but is not exported to the namespace of the VirtualService, while other namespaces see both. Clients in that namespace do not reach the destination. A gateway does not either, unless its workloads run in a namespace that the destination is exported to.",
    effect: "Requests of these clients to the destination are answered with 503, connections are closed.",
    fix:
      "Add the namespace to exportTo of the destination, or export the route only to namespaces that see the destination.",
  },
  "route-hidden-from-gateway": {
    code: "MSH1110",
    title: "gateway does not see the route",
    meaning: "A VirtualService is bound to a Gateway, but is not exported to the namespace of the Gateway's workloads.",
    effect: "The gateway answers 404 for the hosts of the VirtualService.",
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
    effect: "Connections for the rule go to the destination of the earlier rule.",
    fix: "Use another port, or TLS with tls rules, which match server names.",
  },
  "entry-port-not-served": {
    code: "MSH1043",
    title: "port of a younger entry is not served",
    meaning:
      "A ServiceEntry has the same host as an older ServiceEntry of its namespace, and its port cannot be merged: the older entry has the port with another resolution, or is exported to other namespaces.",
    effect: "The host does not have this port.",
    fix: "Merge both into one ServiceEntry, or use different hosts or ports.",
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
      "A WorkloadEntry has a host name or a Unix socket as its address, and the resolution of a selecting ServiceEntry cannot use such an address.",
    effect: "The service goes without this endpoint.",
    fix: "Write an IP address, or change the resolution of the ServiceEntry.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
