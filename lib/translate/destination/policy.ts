/**
 * The traffic policy of one port of a host, or of one subset on the port.
 *
 * Rules of Istio: settings of a port replace the whole policy for the port, and omitted settings fall back to defaults,
 * not to the policy of all ports. The settings of a subset replace the same parts of the rule's policy.
 *
 * @module
 */
import type {
  PortPolicy,
  ProxyProtocolSettings,
  Subset,
  TrafficPolicy,
} from "../../config/kinds/destination_rule/schema.ts";

/** A policy with the settings of ports resolved. */
export interface EffectivePolicy extends PortPolicy {
  readonly proxyProtocol?: ProxyProtocolSettings;
}

const nothing: EffectivePolicy = {};

/** The policy for one port: the port's own settings if any, else the settings of all ports. */
export function portPolicy(policy: TrafficPolicy | undefined, port: number): EffectivePolicy {
  if (policy === undefined) return nothing;
  return ownPortPolicy(policy, port) ?? policy;
}

function ownPortPolicy(policy: TrafficPolicy, port: number): EffectivePolicy | undefined {
  return policy.portLevelSettings?.find((s) => s.port?.number === port);
}

/** The policy for a subset on a port: the rule's policy, with parts replaced by the subset's settings. */
export function subsetPolicy(rule: TrafficPolicy | undefined, subset: Subset, port: number): EffectivePolicy {
  const base = portPolicy(rule, port);
  const own = subset.trafficPolicy;
  if (own === undefined) return base;
  const ofPort = ownPortPolicy(own, port);
  if (ofPort !== undefined) return withProxyProtocol(ofPort, base);
  return merge(base, own);
}

/** Settings of a subset for the port replace all four parts, set or not; only the PROXY protocol is kept. */
function withProxyProtocol(ofPort: EffectivePolicy, base: EffectivePolicy): EffectivePolicy {
  return base.proxyProtocol === undefined ? ofPort : { ...ofPort, proxyProtocol: base.proxyProtocol };
}

function merge(base: EffectivePolicy, own: EffectivePolicy): EffectivePolicy {
  const loadBalancer = own.loadBalancer ?? base.loadBalancer;
  const connectionPool = own.connectionPool ?? base.connectionPool;
  const outlierDetection = own.outlierDetection ?? base.outlierDetection;
  const tls = own.tls ?? base.tls;
  const proxyProtocol = own.proxyProtocol ?? base.proxyProtocol;
  return {
    ...(loadBalancer && { loadBalancer }),
    ...(connectionPool && { connectionPool }),
    ...(outlierDetection && { outlierDetection }),
    ...(tls && { tls }),
    ...(proxyProtocol && { proxyProtocol }),
  };
}
