/**
 * Findings about policies: rules that leave something open, and objects without workloads.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** The rows, by sort. */
export const POLICIES = {
  "unknown-annotation": {
    code: "MSH0108",
    title: "unknown annotation",
    meaning: "An object has an annotation in one of the mesh's domains, but with an unknown name.",
    effect: "The annotation is ignored.",
    fix: "Correct its name, or remove it.",
  },
  "unverified-server": {
    code: "MSH0128",
    title: "server certificates are not verified",
    meaning:
      "A DestinationRule makes clients speak TLS, and turns off the verification of the server (`insecureSkipVerify`).",
    effect: "Any program that answers at the address is trusted.",
    fix: "Remove insecureSkipVerify, and write caCertificates if the authority is not a public one.",
  },
  "unverified-server-port": {
    code: "MSH0129",
    title: "server certificates of a port are not verified",
    meaning: "A DestinationRule makes clients of a port speak TLS, and turns off the verification of the server.",
    effect: "Any program that answers at the address is trusted.",
    fix: "Remove insecureSkipVerify, and write caCertificates if the authority is not a public one.",
  },
  "address-required": {
    code: "MSH0134",
    title: "TCP port without an address",
    meaning: "A ServiceEntry has a TCP port, but no address that tells its connections from others.",
    effect:
      "Proxies without automatic addresses send every connection to that port to this service, whatever the dialled address.",
    fix: "Write addresses, another protocol, or turn on automatic addresses (DNS_CAPTURE and DNS_AUTO_ALLOCATE).",
  },
  "selects-nothing": {
    code: "MSH0101",
    title: "selector matches no workload",
    warningTitle: "selector matches no known workload",
    meaning: "An object selects workloads by labels, and no known workload has these labels.",
    effect: "The object acts on no workload.",
    fix: "Correct the labels, or the namespace of the object.",
  },
  "sidecars-of-one-workload": {
    code: "MSH0110",
    title: "two Sidecars for one workload",
    meaning: "Two Sidecars of a namespace select the same workload.",
    effect: "The oldest Sidecar is in force; the other one does not act on the workload.",
    fix: "Merge the Sidecars, or make their selectors exclude each other.",
  },
  "several-default-sidecars": {
    code: "MSH0111",
    title: "two Sidecars for a whole namespace",
    meaning: "Several Sidecars of a namespace have no workload selector.",
    effect: "The oldest Sidecar is in force; the others act on no workload.",
    fix: "Keep one of the Sidecars, or give the others a workloadSelector.",
  },
  "policy-without-workload": {
    code: "MSH0127",
    title: "policy for no workload",
    warningTitle: "policy for no known workload of the mesh",
    meaning: "An AuthorizationPolicy is for workloads that are not known, or that get no proxy.",
    effect: "The policy protects nothing.",
    fix: "Correct the labels, or the namespace of the policy.",
  },
  "policy-port-of-service": {
    code: "MSH1037",
    title: "policy for the port of a service",
    meaning: "A policy names the port of a service, but the workloads of the service do not listen on this port.",
    effect: "Connections arrive at the port of the workload, so a condition on this port never holds.",
    fix: "Write the port of the workload: the targetPort of the service.",
  },
  "matches-no-request": {
    code: "MSH1038",
    title: "value that no request has",
    meaning: "A pattern of a policy, or of a match of a VirtualService, has the right form, but fits no request.",
    effect: "A condition with only this value never matches.",
    fix: "Write the value as requests have it.",
  },
  "claims-without-authentication": {
    code: "MSH0149",
    title: "claims that nothing verifies",
    meaning: "A gateway's rule looks at claims of tokens, but no RequestAuthentication verifies tokens at the gateway.",
    effect: "No request has such claims, so the rule never works as intended.",
    fix: "Add a RequestAuthentication for the workloads of the gateway.",
  },
  "sidecar-in-ambient": {
    code: "MSH0167",
    title: "Sidecar for workloads without sidecar",
    meaning: "A Sidecar is for workloads in ambient mode, which have no sidecar proxy.",
    effect: "The Sidecar does nothing.",
    fix: "Remove the Sidecar, or take the workloads out of ambient mode.",
  },
  "beyond-tunnel": {
    code: "MSH1061",
    title: "rule beyond the node tunnel",
    meaning:
      "An AuthorizationPolicy for workloads in ambient mode has a condition that the node tunnel cannot compare. A tunnel knows the client's identity and address, and the address and port of the workload.",
    effect: "A DENY rule refuses connections without the condition. An ALLOW rule is left out, and accepts nothing.",
    fix: "Attach the policy to a waypoint with targetRefs, or compare identities, addresses and ports only.",
  },
  "action-beyond-tunnel": {
    code: "MSH1062",
    title: "action beyond the node tunnel",
    meaning: "An AuthorizationPolicy for workloads in ambient mode has the action CUSTOM or AUDIT.",
    effect: "Node tunnels ask no authorizer and mark no connections: the policy does nothing at these workloads.",
    fix: "Attach the policy to a waypoint with targetRefs.",
  },
  "client-behind-waypoint": {
    code: "MSH1063",
    title: "client hidden by a waypoint",
    meaning:
      "An AuthorizationPolicy compares clients at workloads in ambient mode behind a waypoint. The node tunnel of such a workload sees the waypoint as the client.",
    effect: "The rule compares the identity and the address of the waypoint with the written clients.",
    fix: "Attach the policy to the waypoint with targetRefs, and let a policy with a selector admit the waypoint.",
  },
  "waypoint-not-used": {
    code: "MSH1064",
    title: "waypoint is not used",
    meaning:
      "A Service, ServiceEntry, workload or Namespace asks for a waypoint by the label `mesh.io/use-waypoint`, and connections do not go through the waypoint.",
    effect: "Connections go to the workloads directly, or are refused if a policy needs the waypoint.",
    fix:
      "Correct the label or the Gateway: the Gateway needs an address in its status, an HBONE listener that admits the namespace, and `mesh.io/waypoint-for` with `service` (for a workload `workload`) or `all`.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
