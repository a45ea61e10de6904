/**
 * Ports of pods: containers that listen where a proxy or its agent would listen.
 *
 * @module
 */
import { type UsedPort, usedPorts } from "../../config/agent_texts/own_ports.ts";
import { readProxyConfig } from "../../config/agent_texts/proxy_config.ts";
import { defaultProxySettings } from "../../config/mesh/merge.ts";
import { AnnotationReader } from "../../injection/annotation_reader.ts";
import { readInjectionConfig } from "../../injection/config.ts";
import { whyNot } from "../../injection/decision.ts";
import { roleOf } from "../../injection/names.ts";
import { ownerOf } from "../../injection/owner.ts";
import { ownTexts } from "../../injection/spelling.ts";
import { STATUS_PORT } from "../../injection/traffic.ts";
import { defaultSettings } from "../../kernel/settings/read.ts";
import type { ClusterFacts } from "./facts.ts";
import { meshInjection } from "./injection.ts";
import { fine, firstResults, type PrecheckResult } from "./result.ts";

/** A pod of the cluster. */
export type CheckedPod = NonNullable<ClusterFacts["pods"]>[number];

/** The settings of an agent without variables of its own. */
const SETTINGS = defaultSettings("pilot-agent");

/** The settings of a proxy without annotations. Ports do not depend on the namespace of the servers. */
const USUAL_PROXY = defaultProxySettings({ systemNamespace: "" });

/** The agent's port for DNS. */
const DNS_PORT = Number(SETTINGS.DNS_PROXY_ADDR.slice(SETTINGS.DNS_PROXY_ADDR.lastIndexOf(":") + 1));

/** Containers of pods that would be injected, with a port of the proxy or its agent. One result for each workload. */
export function proxyPorts({ pods, ...facts }: ClusterFacts): PrecheckResult[] {
  const check = "proxy ports";
  if (pods === undefined) return [unlisted(check, "pods")];
  const injected = pods.filter(injectedPods(facts));
  const results = new Map<string, PrecheckResult>();
  for (const pod of injected) {
    const used = portsOf(pod);
    for (const [container, port] of ownContainerPorts(pod)) {
      const title = `${workloadTitle(pod)}: container ${container}: containerPort`;
      const at = `${title} ${port.containerPort}`;
      const wrong = clash(check, title, port, used);
      if (wrong !== undefined && !results.has(at)) results.set(at, wrong);
    }
  }
  // Errors first: the list is cut.
  const all = [...results.values()].sort((a, b) => Number(a.state !== "error") - Number(b.state !== "error"));
  if (all.length > 0) return firstResults(all, "ports of containers are ports of the proxy or its agent");
  return [fine(check, `no container of the ${injected.length} pods to inject has a port of the proxy`)];
}

/** The result for something that this user may not list. */
export function unlisted(check: PrecheckResult["check"], what: "pods" | "Services"): PrecheckResult {
  return {
    ...{ check, state: "warning", message: `not checked: this user may not list ${what} of all namespaces` },
    fix: `Grant the right to list ${what}, or check as another user.`,
  };
}

/** `shop/cart`, with the workload's name in place of the names of its pods. */
export function workloadTitle({ metadata }: CheckedPod): string {
  const { namespace, name, labels, ownerReferences } = metadata;
  const owner = ownerOf({ metadata: { name, labels, ownerReferences }, spec: { containers: [] } }, namespace);
  return `${namespace}/${owner.name}`;
}

/** Whether a pod runs, or will run. */
export function isAlive({ status: { phase } }: CheckedPod): boolean {
  return phase !== "Succeeded" && phase !== "Failed";
}

function injectedPods(facts: Pick<ClusterFacts, "webhooks" | "planned" | "namespaces">) {
  const isTaken = meshInjection(facts);
  const read = readInjectionConfig({});
  if ("problems" in read) throw new Error(read.problems.join("\n"));
  return (pod: CheckedPod): boolean => {
    const { namespace, labels, annotations } = pod.metadata;
    if (!isAlive(pod) || !isTaken({ namespace, labels })) return false;
    const asked = { metadata: { labels, annotations }, spec: { containers: [], hostNetwork: pod.spec.hostNetwork } };
    return whyNot({ pod: asked, namespace }, read.config) === undefined;
  };
}

type ContainerPort = CheckedPod["spec"]["containers"][number]["ports"][number];

/** The ports of the application's containers that go on running. */
export function* ownContainerPorts({ spec }: CheckedPod): Iterable<readonly [container: string, port: ContainerPort]> {
  const running = [...spec.containers, ...spec.initContainers.filter((one) => one.restartPolicy === "Always")];
  for (const container of running) {
    if (roleOf(container) !== undefined) continue;
    for (const port of container.ports) yield [container.name, port];
  }
}

/** The ports of the proxy of a pod, by the annotations of the pod. */
function portsOf({ metadata: { annotations } }: CheckedPod): readonly UsedPort[] {
  const own = ownTexts(annotations);
  const written = own["proxy.mesh.io/config"] === undefined
    ? undefined
    : readProxyConfig({ ...{ mesh: "", meshFile: "", variable: "" }, annotations }).proxy;
  // Settings that cannot be read are refused at injection.
  const proxy = written ?? USUAL_PROXY;
  const statusPort = new AnnotationReader(own).port(STATUS_PORT, proxy.statusPort);
  return usedPorts({ proxy: { ...proxy, statusPort }, settings: SETTINGS });
}

function clash(
  check: PrecheckResult["check"],
  title: string,
  { containerPort, protocol }: ContainerPort,
  used: readonly UsedPort[],
): PrecheckResult | undefined {
  const fix = "Move the application to another port, or exempt the workload: sidecar.mesh.io/inject: false.";
  const user = protocol === "TCP" ? used.find(([, port]) => port === containerPort)?.[0] : undefined;
  if (user !== undefined) {
    const message = `${title}: got ${containerPort}, expected another port: ${user} of the proxy is there`;
    return { check, state: "error", message, fix };
  }
  if (containerPort !== DNS_PORT || protocol === "SCTP") return undefined;
  const message = `${title}: got ${containerPort}, expected another port: DNS of the agent is there if it is captured`;
  return { check, state: "warning", message, fix };
}
