/**
 * PeerAuthentications as policies of node tunnels: a DENY policy refuses connections without an identity.
 *
 * A tunnel always offers mutual TLS, so DISABLE has the effect of PERMISSIVE.
 *
 *     mode      ports                           listed at the workload
 *     STRICT    no exception                    the fixed policy
 *     STRICT    some not STRICT                 the object's policy: no identity, and none of these ports
 *     another   some STRICT                     the object's policy: no identity, and one of these ports
 *     another   no exception                    nothing
 *
 * @module
 */
import { Action, Scope } from "../../../proto/gen/enums.ts";
import type { istio } from "../../../proto/gen/types.ts";
import type { PeerTlsPolicy } from "../peer_authentication.ts";
import type { TunnelAuthorization } from "./authorization.ts";

type Match = istio.security.Match;

/** Name of the policy for workloads that are STRICT at all ports. The name, from Istio, is no name of an object. */
export const STRICT_NAME = "istio_converted_static_strict";

/** The policy for workloads that are STRICT at all ports. */
export function strictPolicy(rootNamespace: string): TunnelAuthorization {
  return refusing(rootNamespace, STRICT_NAME, [{ rules: [{ matches: [withoutIdentity()] }] }]);
}

/** Name of an object's policy for the exceptions of its ports. The name, from Istio, is no name of another object. */
export function portsPolicyName(name: string): string {
  return `converted_peer_authentication_${name}`;
}

/**
 * The policy of an object for the exceptions of its ports. Undefined: every port is as strict as the workload.
 *
 * @param policy The merged policy of the workloads for which the object decides.
 */
export function portsPolicy(
  object: { readonly namespace: string; readonly name: string },
  policy: PeerTlsPolicy,
): TunnelAuthorization | undefined {
  const ports = exceptions(policy);
  if (ports.length === 0) return undefined;
  const groups = policy.mode === "STRICT"
    ? [{ rules: [{ matches: [withoutIdentity()] }, ...ports.map(except)] }]
    : ports.map((port) => ({ rules: [{ matches: [{ ...withoutIdentity(), destination_ports: [port] }] }] }));
  return refusing(object.namespace, portsPolicyName(object.name), groups);
}

/** What is listed at a workload: the fixed policy, the policy of the object that decides about ports, or nothing. */
export function listedFor(policy: PeerTlsPolicy): "strict" | "ports" | undefined {
  if (exceptions(policy).length > 0) return "ports";
  return policy.mode === "STRICT" ? "strict" : undefined;
}

/** Ports that are strict where the workload is not, or the other way. In ascending order. */
function exceptions({ mode, ports }: PeerTlsPolicy): number[] {
  const isStrict = mode === "STRICT";
  return [...ports].filter(([, own]) => (own === "STRICT") !== isStrict).map(([port]) => port).sort((a, b) => a - b);
}

function withoutIdentity(): Match {
  return { not_principals: [{ presence: {} }] };
}

function except(port: number): istio.security.Rules {
  return { matches: [{ not_destination_ports: [port] }] };
}

function refusing(namespace: string, name: string, groups: istio.security.Group[]): TunnelAuthorization {
  return { name, namespace, scope: Scope.WORKLOAD_SELECTOR, action: Action.DENY, groups };
}
