/**
 * Findings about objects that claim the same thing, and about rules that bypass each other.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** One row for each sort. */
export const CONFLICTS = {
  "certificate-of-several-gateways": {
    code: "MSH0138",
    title: "certificate of several gateways",
    meaning: "Two Gateways of one workload serve different hosts with one certificate.",
    effect: "A client that uses one HTTP/2 connection for both hosts gets 404 for the second one.",
    fix: "Serve the hosts in one server of one Gateway, or give each a certificate of its own.",
  },
  "subsets-not-for-gateway": {
    code: "MSH0140",
    title: "subsets are not for the gateway",
    meaning: "A gateway's route sends to a host whose subsets another VirtualService chooses, for sidecars alone.",
    effect: "Requests through the gateway reach all endpoints of the host.",
    fix: "Write the subsets in the gateway's route, or add the gateway to the other VirtualService.",
  },
  "gateways-of-one-host": {
    code: "MSH0145",
    title: "two Gateways for one host",
    meaning: "Two Gateways of one workload have the same host on the same port.",
    effect: "The older one decides.",
    fix: "Keep the host in one of them.",
  },
  "telemetries-of-one-workload": {
    code: "MSH0159",
    title: "two Telemetries for one workload",
    meaning: "Two Telemetries of a namespace select the same workload.",
    effect: "Both act on that workload; where they say the same, the younger decides.",
    fix: "Merge them, or make their selectors exclude each other.",
  },
  "several-default-telemetries": {
    code: "MSH0160",
    title: "two Telemetries for a whole namespace",
    meaning: "Several Telemetries of a namespace have no selector.",
    effect: "The oldest of them holds; the others do nothing.",
    fix: "Keep one of them, or give the others a selector.",
  },
  "entries-differ-in-protocol": {
    code: "MSH0177",
    title: "two protocols for one port of a host",
    meaning: "Two ServiceEntries have the same host and port with different protocols, and some namespace sees both.",
    effect: "Proxies serve the port with one of the protocols; connections of the other one break.",
    fix: "Write one protocol, give one of them another port, or export each to namespaces of its own.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
