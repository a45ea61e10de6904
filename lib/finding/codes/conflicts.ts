/**
 * Findings about objects that claim the same thing, and about rules that bypass each other.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** The rows, by sort. */
export const CONFLICTS = {
  "certificate-of-several-gateways": {
    code: "MSH0138",
    title: "certificate of several gateways",
    meaning: "Two Gateways of one workload serve different hosts with one certificate.",
    effect: "A client that uses one HTTP/2 connection for both hosts gets 404 for the second host.",
    fix: "Serve the hosts in one server of one Gateway, or give each host a certificate of its own.",
  },
  "subsets-not-for-gateway": {
    code: "MSH0140",
    title: "gateway does not use the subsets",
    meaning:
      "A gateway's route sends to a host. Another VirtualService chooses the host's subsets, but only for sidecars.",
    effect: "Requests through the gateway reach all endpoints of the host.",
    fix: "Write the subsets in the gateway's route, or add the gateway to the other VirtualService.",
  },
  "gateways-of-one-host": {
    code: "MSH0145",
    title: "two Gateways for one host",
    meaning: "Two Gateways of one workload have the same host on the same port.",
    effect: "The older Gateway serves the host.",
    fix: "Keep the host in one of the Gateways.",
  },
  "telemetries-of-one-workload": {
    code: "MSH0159",
    title: "two Telemetries for one workload",
    meaning: "Two Telemetries of a namespace select the same workload.",
    effect: "Both act on the workload; if both set one field, the younger Telemetry decides.",
    fix: "Merge the Telemetries, or make their selectors exclude each other.",
  },
  "several-default-telemetries": {
    code: "MSH0160",
    title: "two Telemetries for a whole namespace",
    meaning: "Several Telemetries of a namespace have no selector.",
    effect: "The oldest Telemetry is in force; the others do nothing.",
    fix: "Keep one of the Telemetries, or give the others a selector.",
  },
  "entries-differ-in-protocol": {
    code: "MSH0177",
    title: "two protocols for one port of a host",
    meaning: "Two ServiceEntries have the same host and port with different protocols, and some namespace sees both.",
    effect: "Proxies serve the port with one of the protocols; connections with the other protocol break.",
    fix: "Write one protocol, give one of the entries another port, or export each entry to other namespaces.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
