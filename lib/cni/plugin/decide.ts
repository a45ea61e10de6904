/**
 * Decides about a pod: pass the pod on, redirect the pod's traffic, or hand the pod to the node tunnel. Pure.
 *
 * @module
 */
import { enrolment, SIDECAR_STATUS } from "../enrolment/decide.ts";
import type { PluginConfig } from "../config/plugin_config.ts";
import type { Container, Pod } from "../pods/pod.ts";
import type { PodName } from "./call.ts";

/** A decision, with its reason for people. */
export type Decision =
  | { readonly do: "pass"; readonly why: string }
  | { readonly do: "redirect"; readonly proxy: Container }
  | { readonly do: "ambient" };

/** Names of proxy containers, and of containers that set up redirection themselves. */
const proxyNames = ["mesh-proxy", "istio-proxy"];
const initNames = ["mesh-init", "istio-init"];

/** Keys that say whether a pod is injected. The label takes precedence over the annotation. */
const injectKeys = ["sidecar.mesh.io/inject", "sidecar.istio.io/inject"];

/** The annotation of Istio's injector. */
const istioStatus = "sidecar.istio.io/status";

/** Only for questions about sidecars: a pod of the node tunnel has no proxy. */
export const NO_AMBIENT = { ambientEnabled: false, ambientSelectors: [], excludeNamespaces: [] };

/** Annotations with the mode of redirection. */
export const modeKeys = ["sidecar.mesh.io/interceptionMode", "sidecar.istio.io/interceptionMode"];

/**
 * The decision without a look-up of the pod. Undefined: look the pod up. A node agent's own pod never waits for the
 * orchestrator or for a node agent. Otherwise a node with expired credentials could never get new credentials.
 */
export function decideByName(pod: PodName | undefined, config: PluginConfig): Decision | undefined {
  if (pod === undefined) return { do: "pass", why: "not a pod of the orchestrator" };
  if (config.excludeNamespaces.includes(pod.namespace)) return { do: "pass", why: "its namespace is excluded" };
  const agent = config.podNamespace !== "" && pod.namespace === config.podNamespace &&
    config.agentPods !== "" && pod.name.startsWith(config.agentPods);
  return agent ? { do: "pass", why: "it is the node agent" } : undefined;
}

/** The decision by the pod's own fields. */
export function decide(
  pod: Pod,
  config: Pick<PluginConfig, "ambientEnabled" | "ambientSelectors" | "excludeNamespaces">,
  namespaceLabels: Readonly<Record<string, string>>,
): Decision {
  const pass = (why: string): Decision => ({ do: "pass", why });
  if (pod.hostNetwork) return pass("it uses the node's own network");
  const { ambientEnabled, ambientSelectors: selectors, excludeNamespaces } = config;
  if (ambientEnabled && enrolment(pod, namespaceLabels, { selectors, excludeNamespaces }).isIn) {
    return { do: "ambient" };
  }
  const init = pod.containers.find((c) => initNames.includes(c.name));
  if (init !== undefined) return pass(`its init container ${init.name} sets up redirection`);
  const proxy = pod.containers.find((c) => proxyNames.includes(c.name));
  if (proxy === undefined) return pass("it has no proxy container");
  if (isTrue(proxy.env["DISABLE_PROXY"] ?? proxy.env["DISABLE_ENVOY"])) return pass("its proxy is disabled");
  const kind = proxy.args[0] === "proxy" ? proxy.args[1] ?? "" : "";
  if (kind !== "" && !kind.startsWith("-") && kind !== "sidecar") return pass(`its proxy is a ${kind}, not a sidecar`);
  if (isFalse(valueOf(pod.labels, injectKeys) ?? valueOf(pod.annotations, injectKeys))) {
    return pass("injection is switched off for it");
  }
  const status = SIDECAR_STATUS.find((key) => Object.hasOwn(pod.annotations, key));
  if (status === undefined) return pass("it was not injected");
  // Two plugins would set up two sets of rules. Without Istio's plugin, the pod's own validation keeps the pod from starting.
  if (status === istioStatus) return pass("Istio's injector added its proxy, and Istio's plugin redirects it");
  if (valueOf(pod.annotations, modeKeys) === "NONE") return pass("its interception mode is NONE");
  return { do: "redirect", proxy };
}

/** The first present value of several keys. */
export function valueOf(table: Readonly<Record<string, string>>, keys: readonly string[]): string | undefined {
  return keys.map((key) => (Object.hasOwn(table, key) ? table[key] : undefined)).find((value) => value !== undefined);
}

/** True and false in the spelling of Istio's programs. */
export function isTrue(text: string | undefined): boolean {
  return text !== undefined && ["1", "t", "T", "true", "TRUE", "True"].includes(text);
}

function isFalse(text: string | undefined): boolean {
  return text !== undefined && ["0", "f", "F", "false", "FALSE", "False"].includes(text);
}
