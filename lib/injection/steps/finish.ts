/**
 * Merges the parts of templates into a pod: containers, then probes, metrics, order, and annotations about the
 * injection.
 *
 * @module
 */
import { AnnotationReader } from "../annotation_reader.ts";
import { type JsonTree, mergeTrees } from "../merge.ts";
import type { InjectedPod, PodContainer } from "../pod.ts";
import { isProxy, type PodPart, type SidecarInput } from "../sidecar/input.ts";
import { ownTexts } from "../spelling.ts";
import { inOrder } from "./order.ts";
import { oneOf, type PodContainers, withPart, withPodsVolumes } from "./parts.ts";
import { PROBERS, rewriteProbes } from "./probes.ts";
import { mergedMetrics, METRICS, withoutScraping } from "./prometheus.ts";
import { OVERRIDES, type PodBefore, STATUS } from "./status.ts";
import { agentProblems } from "./agent_problems.ts";

export function finished(
  input: SidecarInput,
  parts: readonly PodPart[],
  before: PodBefore,
): { readonly pod: InjectedPod; readonly problems: readonly string[]; readonly warnings: readonly string[] } {
  const { settings: { config, values, revision }, proxy, native } = input;
  const { pod } = before;
  const part = withPodsVolumes(oneOf(parts), pod.spec);
  const made = withPart(pod.spec, part);
  const reader = new AnnotationReader(ownTexts({ ...pod.metadata.annotations, ...part.annotations }));
  // Without a proxy, nobody would answer on the agent's port.
  const agentPort = [...made.containers, ...made.initContainers].some(isProxy) ? input.traffic.statusPort : 0;
  const probes = probesOf(input, agentPort, reader, made, before);
  const metrics = metricsOf(input, agentPort, reader, before);
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
    ...(probes.initContainers.length > 0 && { initContainers: withVariables(probes.initContainers, added) }),
  };
  const annotations = {
    ...(metrics.merged ? withoutScraping(pod.metadata.annotations) : pod.metadata.annotations),
    ...config.injectedAnnotations,
    ...part.annotations,
    ...metrics.annotations,
    ...statusOf(made, part, pod, revision),
  };
  return {
    pod: {
      ...pod,
      metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...part.labels }, annotations },
      spec: inOrder(all, (holds && !native) || all.containers.some(isWaitedFor)),
    },
    problems: [
      ...new Set([
        ...input.reader.problems,
        ...reader.problems,
        ...probes.problems,
        ...agentProblems(containersOf(all)),
      ]),
    ],
    warnings: [...probes.warnings, ...metrics.warnings, ...exemptUsers(input, pod.spec)],
  };
}

/** Containers of the application with the proxy's user. The rules that redirect traffic exempt this user. */
function exemptUsers(
  { traffic, exempt, applications, companions }: SidecarInput,
  { securityContext }: InjectedPod["spec"],
): string[] {
  if (traffic.mode === "NONE") return [];
  return [...applications, ...companions]
    .filter((one) => (one.securityContext?.runAsUser ?? securityContext?.runAsUser) === exempt.uid)
    .map(({ name }) =>
      `container ${name}: securityContext.runAsUser: got ${exempt.uid}, expected another user: the proxy has this user, so the container's calls do not go through the proxy`
    );
}

/**
 * Whether the proxy's hook delays later containers until the proxy is ready. Such a proxy must be the first container.
 */
function isWaitedFor(container: PodContainer): boolean {
  const command = container.lifecycle?.postStart?.exec?.["command"];
  return isProxy(container) && Array.isArray(command) && command[0] === "pilot-agent" && command[1] === "wait";
}

function probesOf(
  { settings: { values } }: SidecarInput,
  agentPort: number,
  reader: AnnotationReader,
  { containers, initContainers }: PodContainers,
  before: PodBefore,
) {
  const { rewriteAppHTTPProbe } = values.sidecarInjectorWebhook;
  const wanted = reader.flag("sidecar.mesh.io/rewriteAppHTTPProbers", rewriteAppHTTPProbe);
  if (!wanted || agentPort === 0) return { containers, initContainers, variables: {}, problems: [], warnings: [] };
  const { probers, ...rest } = rewriteProbes({ containers, initContainers }, agentPort, before.probers);
  return { ...rest, variables: Object.keys(probers).length === 0 ? {} : { [PROBERS]: JSON.stringify(probers) } };
}

function metricsOf(
  { settings: { mesh } }: SidecarInput,
  agentPort: number,
  reader: AnnotationReader,
  { pod, metrics }: PodBefore,
) {
  const wanted = reader.flag("prometheus.mesh.io/merge-metrics", mesh.enablePrometheusMerge) && agentPort > 0;
  const merged = wanted ? mergedMetrics(pod.metadata.annotations ?? {}, agentPort, metrics) : undefined;
  const { variable, annotations = {}, warnings = [] } = merged ?? {};
  const variables = variable === undefined ? {} : { [METRICS]: variable };
  return { annotations, variables, warnings, merged: merged !== undefined };
}

function containersOf({ containers, initContainers = [] }: InjectedPod["spec"]): PodContainer[] {
  return [...containers, ...initContainers];
}

function withVariables(containers: PodContainer[], added: Readonly<Record<string, string>>): PodContainer[] {
  const env = Object.entries(added).map(([name, value]) => ({ name, value }));
  if (env.length === 0) return containers;
  return containers.map((one) => isProxy(one) ? mergeTrees(one as JsonTree, { env }) as PodContainer : one);
}

/** Annotations with which a later injection undoes this injection. */
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
