/**
 * Lays a template's part over a pod: the user's own containers over the template's, then probes, metrics, order, and what
 * is written about it.
 *
 * @module
 */
import { type JsonTree, mergeTrees } from "../merge.ts";
import { inOrder } from "./order.ts";
import type { InjectedPod, PodContainer } from "../pod.ts";
import { PROBERS, rewriteProbes } from "./probes.ts";
import { mergedMetrics, METRICS } from "./prometheus.ts";
import { type PodPart, PROXY, type SidecarInput } from "../sidecar/input.ts";
import { OVERRIDES, type PodBefore, STATUS } from "./status.ts";

/** The value of an image that leaves it to the injector. */
const AUTO = "auto";

/** The pod, and what is wrong with it. */
export function finished(
  input: SidecarInput,
  part: PodPart,
  before: PodBefore,
): { readonly pod: InjectedPod; readonly problems: readonly string[] } {
  const { settings: { mesh, values, revision }, reader, traffic: { statusPort }, proxy, native } = input;
  const { pod } = before;
  const { containers, initContainers, overrides } = withPart(pod.spec, part);
  const added: Record<string, string> = {};
  const annotations = { ...pod.metadata.annotations, ...part.annotations };
  const problems: string[] = [];
  let applications = containers;
  const rewrites = reader.flag(
    "sidecar.mesh.io/rewriteAppHTTPProbers",
    values.sidecarInjectorWebhook.rewriteAppHTTPProbe,
  );
  if (rewrites && statusPort > 0) {
    const result = rewriteProbes(containers, statusPort, before.probers);
    applications = result.containers;
    problems.push(...result.problems);
    if (Object.keys(result.probers).length > 0) added[PROBERS] = JSON.stringify(result.probers);
  }
  if (reader.flag("prometheus.mesh.io/merge-metrics", mesh.enablePrometheusMerge) && statusPort > 0) {
    const merged = mergedMetrics(annotations, statusPort, before.metrics);
    if (merged !== undefined) Object.assign(annotations, merged.annotations);
    if (merged?.variable !== undefined) added[METRICS] = merged.variable;
  }
  annotations[STATUS] = statusOf(part, revision);
  if (overrides !== undefined) annotations[OVERRIDES] = overrides;
  const holds = proxy.holdApplicationUntilProxyStarts ?? values.global.proxy.holdApplicationUntilProxyStarts;
  const { initContainers: _, ...spec } = mergeTrees(pod.spec as JsonTree, {
    ...(part.volumes.length > 0 && { volumes: part.volumes }),
    ...(part.imagePullSecrets.length > 0 && { imagePullSecrets: part.imagePullSecrets }),
  }) as InjectedPod["spec"];
  const all = {
    ...spec,
    containers: withVariables(applications, added),
    ...(initContainers.length > 0 && { initContainers: withVariables(initContainers, added) }),
  };
  return {
    pod: {
      ...pod,
      metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...part.labels }, annotations },
      spec: inOrder(all, holds && !native),
    },
    problems: [...new Set([...reader.problems, ...problems])],
  };
}

/** Containers with the template's, the user's words about these laid over them. */
function withPart({ containers, initContainers = [] }: InjectedPod["spec"], part: PodPart) {
  const names = new Set([...part.containers, ...part.initContainers].map(({ name }) => name));
  const own = (list: readonly PodContainer[]) => list.filter(({ name }) => names.has(name));
  const words = [...own(containers), ...own(initContainers)];
  const over = (template: PodContainer): PodContainer => {
    const word = words.find(({ name }) => name === template.name);
    if (word === undefined) return template;
    const { image, ...rest } = word;
    return mergeTrees(template as JsonTree, image === undefined || image === AUTO ? rest : word) as PodContainer;
  };
  const rest = (list: readonly PodContainer[]) => list.filter(({ name }) => !names.has(name));
  const overrides = { containers: own(containers), initContainers: own(initContainers) };
  return {
    containers: [...rest(containers), ...part.containers.map(over)],
    initContainers: [...rest(initContainers), ...part.initContainers.map(over)],
    overrides: words.length === 0 ? undefined : JSON.stringify(overrides),
  };
}

function withVariables(containers: PodContainer[], added: Readonly<Record<string, string>>): PodContainer[] {
  const env = Object.entries(added).map(([name, value]) => ({ name, value }));
  if (env.length === 0) return containers;
  return containers.map((one) => one.name === PROXY ? mergeTrees(one as JsonTree, { env }) as PodContainer : one);
}

function statusOf(part: PodPart, revision: string): string {
  const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);
  return JSON.stringify({
    initContainers: names(part.initContainers),
    containers: names(part.containers),
    volumes: names(part.volumes),
    imagePullSecrets: names(part.imagePullSecrets),
    revision: revision || "default",
  });
}
