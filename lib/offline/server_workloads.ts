/**
 * The workloads that a running server knows: connected proxies, and pods.
 *
 * @module
 */
import type { FactStore } from "../config/facts/store.ts";
import type { Fact } from "../config/facts/types.ts";
import { hasEnded, workloadName } from "../registry/orch/pod.ts";
import type { ProxyState } from "../translate/machine/per_proxy/proxy_state.ts";
import { profileOf } from "../translate/reader/proxy_profile.ts";
import { impliedProxies, type ImpliedProxy } from "./workloads.ts";

/** Whether a gRPC library asks in place of a proxy. */
export function isLibrary({ proxy }: ProxyState): boolean {
  return profileOf(proxy.properties.type).library;
}

/** A connected proxy. */
export function connected(
  { proxy: { id, nodeId, namespace, addresses, serviceAccount, properties } }: ProxyState,
): ImpliedProxy {
  const { labels } = properties;
  const [address = ""] = addresses;
  const node = { id: nodeId, metadata: { NAMESPACE: namespace, LABELS: labels } };
  return {
    ...{ type: id.type, namespace, name: id.name, address, labels, cause: "", standsIn: false, node, runs: true },
    ...(serviceAccount === "" ? {} : { account: serviceAccount }),
  };
}

/** Pods that have not ended, with or without a proxy, in the order of their names. @param isAsked which pods matter */
export function podsOf(facts: FactStore, isAsked: (pod: Fact<"Pod">) => boolean): readonly ImpliedProxy[] {
  const asked = facts.list("Pod").filter((pod) => isAsked(pod) && !hasEnded(pod.spec));
  const labelsOf = (namespace: string) => facts.get("Namespace", "", namespace)?.meta.labels;
  const owners = new Map(asked.map(({ key, meta: { name }, spec }) => [key, workloadName(name, spec)]));
  return impliedProxies([], { domain: "", gatewaysInNamespace: false }, asked, labelsOf).map((pod) => {
    const owner = owners.get(pod.cause);
    // People know the name of a Deployment better than the names of its pods.
    return { ...pod, ...owner === undefined ? {} : { entry: owner } };
  });
}

/** Pods that run without a proxy beside them, as far as the orchestrator says. */
export function podsWithoutProxy(facts: FactStore, isAsked: (pod: Fact<"Pod">) => boolean): readonly ImpliedProxy[] {
  return podsOf(facts, isAsked).filter(({ runs }) => runs === false);
}
