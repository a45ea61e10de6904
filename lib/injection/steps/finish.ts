/**
 * Lays what templates made over a pod: containers, then probes, metrics, order, and what is written about all of it.
 *
 * @module
 */
import { AnnotationReader } from "../annotation_reader.ts";
import { type JsonTree, mergeTrees } from "../merge.ts";
import type { InjectedPod, PodContainer } from "../pod.ts";
import { isProxy, type PodPart, type SidecarInput } from "../sidecar/input.ts";
import { ownTexts } from "../spelling.ts";
import { inOrder } from "./order.ts";
import { oneOf, type PodContainers, withPart } from "./parts.ts";
import { PROBERS, rewriteProbes } from "./probes.ts";
import { mergedMetrics, METRICS } from "./prometheus.ts";
import { OVERRIDES, type PodBefore, STATUS } from "./status.ts";

/** The pod, and what is wrong with it. */
export function finished(
  input: SidecarInput,
  parts: readonly PodPart[],
  before: PodBefore,
): { readonly pod: InjectedPod; readonly problems: readonly string[] } {
  const { settings: { values, revision }, proxy, native } = input;
  const { pod } = before;
  const part = oneOf(parts);
  const made = withPart(pod.spec, part);
  const reader = new AnnotationReader(ownTexts({ ...pod.metadata.annotations, ...part.annotations }));
  const probes = probesOf(input, reader, made.containers, before);
  const metrics = metricsOf(input, reader, before);
  const { initContainers: _, ...spec } = mergeTrees(pod.spec as JsonTree, {
    ...part.rest,
    ...(part.volumes.length > 0 && { volumes: part.volumes }),
    ...(part.imagePullSecrets.length > 0 && { imagePullSecrets: part.imagePullSecrets }),
  }) as InjectedPod["spec"];
  const added = { ...probes.variables, ...metrics.variables };
  const holds = proxy.holdApplicationUntilProxyStarts ?? values.global.proxy.holdApplicationUntilProxyStarts;
  const all = {
    ...spec,
    containers: withVariables(probes.containers, added),
    ...(made.initContainers.length > 0 && { initContainers: withVariables(made.initContainers, added) }),
  };
  const annotations = {
    ...pod.metadata.annotations,
    ...part.annotations,
    ...metrics.annotations,
    ...statusOf(made, part, pod, revision),
  };
  return {
    pod: {
      ...pod,
      metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...part.labels }, annotations },
      spec: inOrder(all, holds && !native),
    },
    problems: [...new Set([...input.reader.problems, ...reader.problems, ...probes.problems])],
  };
}

function probesOf(
  { settings: { values }, traffic: { statusPort } }: SidecarInput,
  reader: AnnotationReader,
  containers: PodContainer[],
  before: PodBefore,
) {
  const { rewriteAppHTTPProbe } = values.sidecarInjectorWebhook;
  const wanted = reader.flag("sidecar.mesh.io/rewriteAppHTTPProbers", rewriteAppHTTPProbe);
  if (!wanted || statusPort === 0) return { containers, variables: {}, problems: [] };
  const { probers, ...rest } = rewriteProbes(containers, statusPort, before.probers);
  return { ...rest, variables: Object.keys(probers).length === 0 ? {} : { [PROBERS]: JSON.stringify(probers) } };
}

function metricsOf(
  { settings: { mesh }, traffic: { statusPort } }: SidecarInput,
  reader: AnnotationReader,
  { pod, metrics }: PodBefore,
) {
  const wanted = reader.flag("prometheus.mesh.io/merge-metrics", mesh.enablePrometheusMerge) && statusPort > 0;
  const merged = wanted ? mergedMetrics(pod.metadata.annotations ?? {}, statusPort, metrics) : undefined;
  const variable = merged?.variable;
  return { annotations: merged?.annotations ?? {}, variables: variable === undefined ? {} : { [METRICS]: variable } };
}

function withVariables(containers: PodContainer[], added: Readonly<Record<string, string>>): PodContainer[] {
  const env = Object.entries(added).map(([name, value]) => ({ name, value }));
  if (env.length === 0) return containers;
  return containers.map((one) => isProxy(one) ? mergeTrees(one as JsonTree, { env }) as PodContainer : one);
}

/** Annotations by which a later injection takes this one back. */
function statusOf(
  { added, own }: PodContainers,
  part: PodPart,
  { spec: { volumes = [] } }: InjectedPod,
  revision: string,
): Record<string, string> {
  const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);
  const status = {
    initContainers: added.initContainers,
    containers: added.containers,
    volumes: names(part.volumes.filter((one) => volumes.every(({ name }) => name !== one.name))),
    imagePullSecrets: names(part.imagePullSecrets),
    revision: revision || "default",
  };
  const overrides = own.containers.length + own.initContainers.length > 0 && { [OVERRIDES]: JSON.stringify(own) };
  return { [STATUS]: JSON.stringify(status), ...overrides };
}
