/**
 * Ports of Services: ports without a protocol, and Services that disagree about a port of a workload.
 *
 * @module
 */
import { SYSTEM_NAMESPACES } from "../../injection/decision.ts";
import { defaultSettings } from "../../kernel/settings/read.ts";
import { portProtocol, protocolText } from "../../registry/protocol.ts";
import type { ClusterFacts } from "./facts.ts";
import { type CheckedPod, isAlive, ownContainerPorts, unlisted, workloadTitle } from "./pod_ports.ts";
import { fine, firstResults, listedNames, type PrecheckResult } from "./result.ts";

type CheckedService = NonNullable<ClusterFacts["services"]>[number];
type CheckedPort = CheckedService["spec"]["ports"][number];

/** A gateway's port for health checks is answered by its proxy. */
const HEALTH_PORT = defaultSettings("pilot-agent").PROXY_STATUS_PORT;

/** Ports whose protocol a proxy must detect. */
export function serviceProtocols({ services }: ClusterFacts): PrecheckResult[] {
  const check = "service protocols";
  if (services === undefined) return [unlisted(check, "Services")];
  const judged = services.filter(isJudged);
  const silent = judged.flatMap((service) =>
    service.spec.ports.filter((port) => isTcp(port) && port.port !== HEALTH_PORT && protocolOf(port) === "Unsupported")
      .map(({ name, port, appProtocol }) => `${titleOf(service)} ${port} (${saidBy(name, appProtocol)})`)
  );
  if (silent.length === 0) return [fine(check, `the ports of ${judged.length} Services declare their protocols`)];
  const expected = "a name that begins with a protocol (http-..., grpc-..., tcp-...), or appProtocol";
  return [{
    ...{ check, state: "warning", message: `spec.ports: got ${listedNames(silent)}, expected ${expected}` },
    fix: "Declare the protocols: an undeclared protocol is detected, for which servers that speak first wait in vain.",
  }];
}

function saidBy(name: string, appProtocol: string | undefined): string {
  if (appProtocol !== undefined) return `appProtocol ${appProtocol}`;
  return name === "" ? "no name" : `name ${name}`;
}

/** Ports of workloads that two Services declare with different protocols. One result for each workload and port. */
export function sharedPorts({ services, pods }: ClusterFacts): PrecheckResult[] {
  const check = "shared ports";
  if (services === undefined) return [unlisted(check, "Services")];
  if (pods === undefined) return [unlisted(check, "pods")];
  const byNamespace = Map.groupBy(services.filter(isJudged), ({ metadata }) => metadata.namespace);
  const results = new Map<string, PrecheckResult>();
  for (const pod of pods) {
    if (!isAlive(pod) || pod.spec.hostNetwork || pod.spec.containers.length === 0) continue;
    for (const [target, declared] of declaredPorts(pod, byNamespace.get(pod.metadata.namespace) ?? [])) {
      if (new Set(declared.values()).size < 2) continue;
      const words = [...declared].map(([service, protocol]) => `${protocol} by ${service}`);
      const message = `${workloadTitle(pod)}: port ${target}: got ${listedNames(words)}, expected one protocol`;
      results.getOrInsertComputed(message, () => ({
        ...{ check, state: "warning", message },
        fix: "Declare one protocol in all Services of the port: the oldest Service decides how proxies serve it.",
      }));
    }
  }
  if (results.size > 0) return firstResults([...results.values()], "ports of workloads have several protocols");
  return [fine(check, "the Services of each workload agree about its ports")];
}

/** The protocols of each port of a pod, by the Services that lead to the port. */
function declaredPorts(pod: CheckedPod, services: readonly CheckedService[]): Map<number, Map<string, string>> {
  const found = new Map<number, Map<string, string>>();
  const { labels } = pod.metadata;
  for (const service of services) {
    const wanted = Object.entries(service.spec.selector);
    if (wanted.length === 0 || !wanted.every(([key, value]) => labels[key] === value)) continue;
    for (const port of service.spec.ports) {
      const target = isTcp(port) ? targetOf(port, pod) : undefined;
      if (target === undefined) continue;
      const declared = found.getOrInsertComputed(target, () => new Map());
      // Within one Service two ports of different protocols are one user's own choice, and count too.
      const name = declared.has(titleOf(service)) ? `${titleOf(service)} ${port.port}` : titleOf(service);
      declared.set(name, protocolText(protocolOf(port)));
    }
  }
  return found;
}

/** The port of a pod behind a port of a Service; undefined: the pod has no port of the name. */
function targetOf({ port, targetPort = port }: CheckedPort, pod: CheckedPod): number | undefined {
  if (typeof targetPort === "number") return targetPort;
  for (const [, { name, containerPort }] of ownContainerPorts(pod)) if (name === targetPort) return containerPort;
  return undefined;
}

/** An ExternalName stands for another service, whose ports count. */
function isJudged({ metadata: { namespace }, spec: { type } }: CheckedService): boolean {
  return type !== "ExternalName" && !SYSTEM_NAMESPACES.includes(namespace);
}

/** Other transports go past the proxies. */
function isTcp({ protocol }: CheckedPort): boolean {
  return protocol === "TCP";
}

function protocolOf({ name, port, protocol, appProtocol }: CheckedPort) {
  return portProtocol({ name, port, transport: protocol, ...appProtocol === undefined ? {} : { appProtocol } });
}

function titleOf({ metadata: { namespace, name } }: CheckedService): string {
  return `${namespace}/${name}`;
}
