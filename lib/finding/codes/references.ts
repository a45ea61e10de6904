/**
 * References between objects: to hosts, gateways, subsets, ports.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** The rows, by sort. */
export const REFERENCES = {
  "unknown-host": {
    code: "MSH0101",
    title: "host does not exist",
    warningTitle: "host is not known",
    meaning: "A destination names a host that no service has.",
    effect: "Requests to the host are answered with 503, connections are closed.",
    warningEffect:
      "Unless a service elsewhere has the host, requests to the host are answered with 503, connections are closed.",
    fix: "Correct the host, or add a ServiceEntry or Service for it.",
  },
  "unknown-gateway": {
    code: "MSH0101",
    title: "gateway does not exist",
    warningTitle: "gateway is not known",
    meaning: "A VirtualService names a Gateway that does not exist.",
    effect: "The routes are served nowhere through that gateway.",
    warningEffect: "Unless the Gateway is elsewhere, the routes are served nowhere through it.",
    fix: "Correct the name (namespace/name), or add the Gateway.",
  },
  "unknown-subset": {
    code: "MSH0101",
    title: "subset does not exist",
    meaning: "A destination names a subset that no DestinationRule of its host defines.",
    effect: "Requests to the subset are answered with 503.",
    fix: "Use an existing subset, or add the subset to the DestinationRule.",
  },
  "unknown-delegate": {
    code: "MSH0101",
    title: "delegate does not exist",
    warningTitle: "delegate is not known",
    meaning: "A VirtualService delegates to an object that does not exist, or that is not a delegate.",
    effect: "The rule with the delegate is left out.",
    warningEffect: "Unless the delegate is elsewhere, the rule with it is left out.",
    fix: "Correct the name, or add the VirtualService without hosts.",
  },
  "unresolved-reference": {
    code: "MSH0101",
    title: "reference cannot be followed",
    meaning: "An object refers to another object that must not be used in this way.",
    effect: "The part with the reference is left out.",
    fix: "Change the reference, or the other object.",
  },
  "port-required": {
    code: "MSH0112",
    title: "port is needed",
    meaning: "A destination names no port, and its service has several.",
    effect: "The port that the client called is used; where the service lacks it, requests are answered with 503.",
    fix: "Write port.number.",
  },
  "unknown-port": {
    code: "MSH1101",
    title: "service lacks the port",
    meaning: "A destination names a port that its service does not have.",
    effect: "Requests to the port are answered with 503, connections are closed.",
    fix: "Use a port of the service.",
  },
  "unknown-import": {
    code: "MSH0101",
    title: "Sidecar imports a host that does not exist",
    warningTitle: "Sidecar imports a host that is not known",
    meaning:
      "The egress of a Sidecar names a host that nothing in the named namespace has, or that the namespace does not export.",
    effect: "The entry imports nothing: workloads of the Sidecar do not know the host.",
    fix: "Write the host's full name, and the namespace of its service or VirtualService.",
  },
  "unknown-namespace": {
    code: "MSH0101",
    title: "namespace does not exist",
    warningTitle: "namespace is not known",
    meaning:
      "An object names an unknown namespace: of callers or clients, of an export, of a Sidecar's import, or of the VirtualServices for a Gateway.",
    effect: "No caller matches it.",
    fix: "Correct the name of the namespace.",
  },
  "unknown-rule-host": {
    code: "MSH0174",
    title: "rule for a host that does not exist",
    warningTitle: "rule for a host that is not known",
    meaning: "A DestinationRule is for a host that no service has.",
    effect: "The rule acts on nothing.",
    fix: "Correct the host, or add a ServiceEntry or Service for it.",
  },
  "rule-without-clusters": {
    code: "MSH1041",
    title: "rule for a host without clusters of its own",
    meaning:
      "A DestinationRule is for a host without a service of its own: requests to the host use the clusters of a wildcard that covers the host, or of the service behind an alias.",
    effect: "The rule acts on nothing.",
    fix: "Write the rule for the host that has the clusters, or add a ServiceEntry for this host.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
