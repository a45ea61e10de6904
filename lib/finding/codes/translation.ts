/**
 * Findings of translation: objects that exclude each other, and configuration that proxies do not get as it is written.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** One row for each sort. */
export const TRANSLATION = {
  "reaches-no-proxy": {
    code: "MSH1036",
    title: "no proxy has anything of this",
    meaning:
      "An object, or a rule, match, subset, port, host, import, telemetry setting, server or patch of it, could be for some proxy, and no resource of any proxy is made from it.",
    effect: "It has no effect.",
    fix: "Write what is expected there, or remove the part.",
  },
  "duplicate-subset": {
    code: "MSH1014",
    title: "subset twice",
    meaning: "Several rules define a subset of one host.",
    effect: "The oldest rule's subset holds, the others are left out.",
    fix: "Define the subset once, or give the others another name.",
  },
  "too-few-addresses": {
    code: "MSH1015",
    title: "too few automatic addresses",
    meaning: "More services ask for an automatic address than there are.",
    effect: "The youngest services have none and are reached by their host alone.",
    fix: "Give services addresses of their own.",
  },
  "listener-conflict": {
    code: "MSH1016",
    title: "listener conflict",
    meaning: "Two hosts want one listener in ways that exclude each other.",
    effect: "The older one has the listener; the other one is not reached on that port.",
    fix: "Use another port or the same protocol, or give one of them an address.",
  },
  "tcp-listener-conflict": {
    code: "MSH1017",
    title: "TCP listener conflict",
    meaning: "Two TCP services want the same connections of one listener.",
    effect: "The older one gets all connections.",
    fix: "Use another port, or give one of them an address.",
  },
  "inbound-conflict": {
    code: "MSH1018",
    title: "inbound port conflict",
    meaning: "Two services want one port of a workload.",
    effect: "The older service decides how the port is served.",
    fix: "Declare one protocol for the port in both services.",
  },
  "domain-conflict": {
    code: "MSH1019",
    title: "domain conflict",
    meaning: "Two virtual hosts of one route configuration want one domain.",
    effect: "The first one has the domain; the other one is not reached by it.",
    fix: "Merge the routes, or give one of them another host.",
  },
  "gateway-not-as-written": {
    code: "MSH1020",
    title: "gateway does not serve this as written",
    meaning: "A gateway does not serve something, or not as it is written.",
    effect: "The part that the message names is not served.",
    fix: "Change the Gateway so that the reason that the message gives does not hold any more.",
  },
  "gateway-port-without-rule": {
    code: "MSH0195",
    title: "gateway port without a rule",
    meaning:
      "A server of a Gateway takes bytes, TCP or TLS that is passed on, and no VirtualService of the Gateway says where they go. Of files it is a warning, since such rules often lie elsewhere; with `--whole`, and of a running server, it is an error.",
    effect: "Nothing listens for this server.",
    fix: "Add a VirtualService with a tcp or tls rule for the port, or remove the server.",
  },
  "not-as-written": {
    code: "MSH1021",
    title: "proxies do not get this as written",
    meaning: "Proxies do not get something, or not as it is written.",
    effect: "What the message says is not sent, or is sent as the message says; the rest of the object holds.",
    fix: "Change the object so that the reason that the message gives does not hold any more.",
  },
  "unusable-authorizer": {
    code: "MSH1022",
    title: "external authorizer that cannot be asked",
    meaning: "A CUSTOM policy names an extension provider that does not exist, or that cannot be asked by the proxy.",
    effect: "Requests that the policy's rules match are refused.",
    fix: "Correct the name, or the provider in extensionProviders of the mesh configuration.",
  },
  "http-rule-for-bytes": {
    code: "MSH1023",
    title: "rule about requests on a port that carries bytes",
    meaning:
      "A rule of an AuthorizationPolicy compares what only HTTP has, and the workload has a port that carries bytes.",
    effect:
      "There an ALLOW rule never matches, and any other rule matches without regard to it, so that it denies more.",
    fix: "Limit the rule to its ports (operation.ports), or declare the port's protocol as HTTP.",
  },
  "patch-refused": {
    code: "MSH1027",
    title: "patch that Envoy cannot read",
    meaning: "The value of a patch is no configuration of the Envoy that this version configures.",
    effect:
      "The patch is left out; the others of the object are in force. One that may refuse requests is not left out: what it matches keeps its last version, and a proxy without one gets a resource that lets nothing in.",
    fix: "Change the field that the message names.",
  },
  "patch-partly": {
    code: "MSH1028",
    title: "patch with a part that has no effect",
    meaning:
      "The value of a patch that refuses nothing has a field or a name that this version of Envoy does not know, or that cannot change.",
    effect: "That part is left out; the rest of the patch is in force.",
    fix: "Change or remove what the message names.",
  },
  "patch-failed": {
    code: "MSH1029",
    title: "patch that fails where it matches",
    meaning: "A patch matches configuration that it cannot be applied to.",
    effect:
      "The patch does nothing there; the others are in force. Where it may refuse requests, what it matches keeps its last version, and a proxy without one gets a resource that lets nothing in.",
    fix: "Change the match or the value so that they fit.",
  },
  "patch-beyond-limits": {
    code: "MSH1053",
    title: "patch beyond Envoy's limits",
    meaning:
      "The value of a patch is one that every Envoy rejects, such as a duration below zero, or lacks what Envoy wants.",
    effect:
      "The patch is left out. One that may refuse requests is not: proxies reject the resource, and keep the version that they have or let nothing in.",
    fix: "Write a value that the message expects.",
  },
  "patch-rejected": {
    code: "MSH1033",
    title: "patch that a proxy rejects",
    meaning: "A proxy rejects a resource that patches changed.",
    effect:
      "The version that the proxy took last stays. A proxy without one gets the resource without the fewest ProxyFilters that explain the rejection; where one of these may refuse requests, it gets a resource that lets nothing in.",
    fix: "Change the value of the patch that the proxy's words are about.",
  },
  "listener-without-chains": {
    code: "MSH1030",
    title: "listener without filter chains",
    meaning: "Patches take all filter chains of a listener away.",
    effect: "Proxies do not get the listener, since Envoy refuses one without chains.",
    fix: "Remove the listener by a patch, or leave it a chain.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
