/**
 * Findings of translation: objects that exclude each other, and configuration that proxies do not get as it is written.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** The rows, by sort. */
export const TRANSLATION = {
  "reaches-no-proxy": {
    code: "MSH1036",
    title: "reaches no proxy",
    meaning:
      "An object, or a part of it (rule, match, subset, port, host, import, telemetry setting, server or patch), could be for some proxy, but no resource of any proxy is made from it.",
    effect: "The part has no effect.",
    fix: "Write an expected value, or remove the part.",
  },
  "duplicate-subset": {
    code: "MSH1014",
    title: "subset twice",
    meaning: "Several rules define a subset of one host.",
    effect: "The subset of the oldest rule is in force; the others are left out.",
    fix: "Define the subset once, or give the others another name.",
  },
  "too-few-addresses": {
    code: "MSH1015",
    title: "too few automatic addresses",
    meaning: "More services ask for an automatic address than there are addresses.",
    effect: "The youngest services get no address, and are reached only by their host.",
    fix: "Give services addresses of their own.",
  },
  "listener-conflict": {
    code: "MSH1016",
    title: "listener conflict",
    meaning: "Two hosts need one listener in ways that exclude each other.",
    effect: "The older host gets the listener; the other host is not reached on the port.",
    fix: "Use another port or the same protocol, or give one of the hosts an address.",
  },
  "tcp-listener-conflict": {
    code: "MSH1017",
    title: "TCP listener conflict",
    meaning: "Two TCP services claim the same connections of one listener.",
    effect: "The older service gets all connections.",
    fix: "Use another port, or give one of the services an address.",
  },
  "inbound-conflict": {
    code: "MSH1018",
    title: "inbound port conflict",
    meaning: "Two services claim one port of a workload.",
    effect: "The older service decides how the port is served.",
    fix: "Declare one protocol for the port in both services.",
  },
  "domain-conflict": {
    code: "MSH1019",
    title: "domain conflict",
    meaning: "Two virtual hosts of one route configuration claim one domain.",
    effect: "The first virtual host gets the domain; the other one is not reached by it.",
    fix: "Merge the routes, or give one of the virtual hosts another host.",
  },
  "gateway-not-as-written": {
    code: "MSH1020",
    title: "gateway does not serve this as written",
    meaning: "A gateway does not serve something, or not as it is written.",
    effect: "The part named in the message is not served.",
    fix: "Change the Gateway so that the reason in the message no longer holds.",
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
    effect:
      "The part named in the message is not sent, or is sent as the message says; the rest of the object is in force.",
    fix: "Change the object so that the reason in the message no longer holds.",
  },
  "unusable-authorizer": {
    code: "MSH1022",
    title: "external authorizer that cannot be asked",
    meaning: "A CUSTOM policy names an extension provider that does not exist, or that cannot be asked by the proxy.",
    effect: "Requests that match the policy's rules are refused.",
    fix: "Correct the name, or the provider in extensionProviders of the mesh configuration.",
  },
  "http-rule-for-bytes": {
    code: "MSH1023",
    title: "rule about requests on a port that carries bytes",
    meaning:
      "A rule of an AuthorizationPolicy has a condition that only HTTP has, and the workload has a port for other bytes.",
    effect:
      "On this port an ALLOW rule never matches. Any other rule matches as if the condition were absent, so a DENY rule denies more.",
    fix: "Limit the rule to its ports (operation.ports), or declare the port's protocol as HTTP.",
  },
  "patch-refused": {
    code: "MSH1027",
    title: "patch that Envoy cannot read",
    meaning: "The value of a patch is not configuration for the supported version of Envoy.",
    effect:
      "The patch is left out; the object's other patches are in force. A patch that may refuse requests is not left out: the matched resource keeps its last version, and a proxy without a last version gets a resource that lets nothing in.",
    fix: "Change the field that the message names.",
  },
  "patch-partly": {
    code: "MSH1028",
    title: "patch with a part that has no effect",
    meaning:
      "The value of a patch that refuses nothing has a field or a name that this version of Envoy does not know, or that cannot change.",
    effect: "This part is left out; the rest of the patch is in force.",
    fix: "Change or remove the part named in the message.",
  },
  "patch-failed": {
    code: "MSH1029",
    title: "patch that fails where it matches",
    meaning: "A patch matches configuration, but cannot be applied to it.",
    effect:
      "The patch does nothing there; the other patches are in force. If the patch may refuse requests, the matched resource keeps its last version, and a proxy without a last version gets a resource that lets nothing in.",
    fix: "Change the match or the value so that both fit together.",
  },
  "patch-beyond-limits": {
    code: "MSH1053",
    title: "patch beyond Envoy's limits",
    meaning:
      "Every Envoy rejects the value of a patch, such as a duration below zero, or a value without a field that Envoy requires.",
    effect:
      "The patch is left out. A patch that may refuse requests is not left out: proxies reject the resource, and keep their last version or let nothing in.",
    fix: "Write a value as the message expects.",
  },
  "patch-rejected": {
    code: "MSH1033",
    title: "patch that a proxy rejects",
    meaning: "A proxy rejects a resource that patches changed.",
    effect:
      "The proxy keeps its last version. A proxy without a last version gets the resource without the fewest ProxyFilters that explain the rejection. If one of these ProxyFilters may refuse requests, the proxy gets a resource that lets nothing in.",
    fix: "Change the value of the patch that the proxy's message is about.",
  },
  "rollout-without-effect": {
    code: "MSH1136",
    title: "rollout without effect",
    meaning:
      "An object has annotations of a staged rollout, but the object is never staged, or the annotations have values without a meaning.",
    effect: "The object goes to all its proxies at once.",
    fix: "Change or remove the annotation named in the message.",
  },
  "rollout-taken-back": {
    code: "MSH1137",
    title: "rollout that was stopped",
    meaning: "The newest version of an object did harm at the first proxies of its rollout.",
    effect: "All proxies have the last version that had reached all proxies.",
    fix: "Correct the object: the next version begins at the first stage.",
  },
  "rollout-in-progress": {
    code: "MSH1138",
    title: "rollout in progress",
    meaning: "The newest version of an object has reached the first proxies of its staged rollout.",
    effect: "All other proxies have the last version that had reached all proxies.",
    fix: "Wait for the end of the rollout. Without the annotation the newest version goes to all proxies at once.",
  },
  "rollout-at-once": {
    code: "MSH1139",
    title: "edit that was not staged",
    meaning: "An object has a plan of a staged rollout, but its newest version must not be at only some proxies.",
    effect: "The newest version went to all proxies at once.",
    fix: "Nothing needs to be done. The next edit is staged if it changes nothing that protects.",
  },
  "listener-without-chains": {
    code: "MSH1030",
    title: "listener without filter chains",
    meaning: "Patches remove all filter chains of a listener.",
    effect: "Proxies do not get the listener, since Envoy refuses one without chains.",
    fix: "Remove the listener by a patch, or keep one of its chains.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
