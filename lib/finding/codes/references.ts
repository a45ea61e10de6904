/**
 * References between objects: to hosts, gateways, subsets, ports.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** One row for each sort. */
export const REFERENCES = {
  "unknown-host": {
    code: "MSH0101",
    title: "host does not exist",
    warningTitle: "host is not known",
    meaning: "A destination names a host that no service has.",
    effect: "Requests that are sent there are answered with 503, connections are closed.",
    warningEffect:
      "Unless a service elsewhere has the host, requests that are sent there are answered with 503, connections are closed.",
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
    effect: "Requests that are sent there are answered with 503.",
    fix: "Use a subset that exists, or add it to the DestinationRule.",
  },
  "unknown-delegate": {
    code: "MSH0101",
    title: "delegate does not exist",
    warningTitle: "delegate is not known",
    meaning: "A VirtualService delegates to an object that does not exist, or that is no delegate.",
    effect: "The rule with the delegate is left out.",
    warningEffect: "Unless the delegate is elsewhere, the rule with it is left out.",
    fix: "Correct the name, or add the VirtualService without hosts.",
  },
  "unresolved-reference": {
    code: "MSH0101",
    title: "reference cannot be followed",
    meaning: "An object refers to another one that may not be used in this way.",
    effect: "The part that refers to it is left out.",
    fix: "Change the reference, or what it refers to.",
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
    effect: "Requests that are sent there are answered with 503, connections are closed.",
    fix: "Use a port of the service.",
  },
  "unknown-import": {
    code: "MSH0101",
    title: "Sidecar imports a host that does not exist",
    warningTitle: "Sidecar imports a host that is not known",
    meaning: "The egress of a Sidecar names a host that nothing in that namespace has, or that it does not export.",
    effect: "Nothing is imported by it: workloads of the Sidecar do not know the host.",
    fix: "Write the host's full name, and the namespace that its service or VirtualService lies in.",
  },
  "unknown-namespace": {
    code: "MSH0101",
    title: "namespace does not exist",
    warningTitle: "namespace is not known",
    meaning:
      "An object names a namespace that none of the known ones is: that of callers or clients, one to which the object is exported, from which a Sidecar imports, or whose VirtualServices a Gateway takes.",
    effect: "No caller matches it.",
    fix: "Correct the name of the namespace.",
  },
  "unknown-rule-host": {
    code: "MSH0174",
    title: "rule for a host that does not exist",
    warningTitle: "rule for a host that is not known",
    meaning: "A DestinationRule is for a host that no service has.",
    effect: "It acts on nothing.",
    fix: "Correct the host, or add a ServiceEntry or Service for it.",
  },
  "rule-without-clusters": {
    code: "MSH1041",
    title: "rule for a host without clusters of its own",
    meaning:
      "A DestinationRule is for a host that has no service of that name: requests to the host use the clusters of the wildcard that covers it, or of the service that its alias stands for.",
    effect: "It acts on nothing.",
    fix: "Write the rule for the host that has the clusters, or add a ServiceEntry for this one.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
