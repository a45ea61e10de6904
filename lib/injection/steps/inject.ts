/**
 * Injection takes a pod, and returns the pod with its proxy, or the reason against a proxy.
 *
 * Parts of an earlier injection are removed first, so injecting twice has the same result as injecting once. A pod with
 * the proxy of Istio's injector keeps that proxy.
 *
 * @module
 */
import { AnnotationReader } from "../annotation_reader.ts";
import { whyNot } from "../decision.ts";
import { finished } from "./finish.ts";
import { proxyIds, proxyOwner, withoutSharedUser } from "./ids.ts";
import { ownerOf } from "../owner.ts";
import type { InjectedPod, PodContainer } from "../pod.ts";
import { podProxySettings } from "../proxy_settings.ts";
import { goesOn, isProxy, type PodPart, type SidecarInput } from "../sidecar/input.ts";
import { ownTexts } from "../spelling.ts";
import { otherInjection } from "./other_injector.ts";
import { beforeInjection, type PodBefore } from "./status.ts";
import { BUILT_IN } from "../templates/built_in.ts";
import { textPart } from "../templates/text.ts";
import { podTraffic } from "../traffic.ts";
import type { InjectionConfig, InjectionRequest, InjectionResult, InjectionSettings } from "../types.ts";
import { roleOf } from "../names.ts";

/** The first minor version of the API that starts native sidecars in order by default. */
const NATIVE_SINCE = 29;

/** Decides about a pod and adds the proxy. Never throws for mistakes of a user. */
export function injectPod(request: InjectionRequest, settings: InjectionSettings): InjectionResult {
  const reason = whyNot(request, settings.config);
  if (reason !== undefined) return { kind: "skipped", reason };
  const other = otherInjection(request.pod);
  if (other !== undefined) {
    if ("problem" in other) return { kind: "refused", problems: [other.problem] };
    return { kind: "skipped", reason: other.reason, warnings: [other.warning] };
  }
  const before = podBefore(request.pod, settings);
  const input = sidecarInput({ ...request, pod: before.pod }, settings);
  const parts = partsOf(input);
  const { pod, problems, warnings } = finished(input, parts, before);
  return problems.length > 0 ? { kind: "refused", problems } : { kind: "injected", pod, warnings };
}

/** The pod in its author's version. */
function podBefore(pod: InjectedPod, { platform }: InjectionSettings): PodBefore {
  const before = beforeInjection(pod);
  if (platform !== "openshift") return before;
  return { ...before, pod: withoutSharedUser(before.pod) };
}

/** Reads the pod. The reader keeps the mistakes. */
function sidecarInput(request: InjectionRequest, settings: InjectionSettings): SidecarInput {
  const { pod, namespace } = request;
  const { mesh, proxyConfigs, values } = settings;
  const labels = ownTexts(pod.metadata.labels);
  const reader = new AnnotationReader(ownTexts(pod.metadata.annotations));
  const read = podProxySettings({ mesh, proxyConfigs, namespace, labels, annotations: reader.annotations });
  const proxy = "proxy" in read ? read.proxy : mesh.defaultConfig;
  const traffic = podTraffic(reader, values, proxy);
  const native = reader.flag("sidecar.mesh.io/nativeSidecar", settings.nativeSidecars);
  if ("problems" in read) reader.problems.push(...read.problems);
  const { apiMinor } = settings;
  if (native && apiMinor !== undefined && apiMinor < NATIVE_SINCE) {
    reader.problems.push(
      `annotation sidecar.mesh.io/nativeSidecar, or ENABLE_NATIVE_SIDECARS: got true, expected false, because the API is of version 1.${apiMinor} and native sidecars begin with 1.${NATIVE_SINCE}`,
    );
  }
  const own = ownProxy(pod);
  const ids = proxyIds(settings.platform, request.namespaceAnnotations);
  reader.problems.push(...ids.problems);
  return {
    ...{ role: "sidecar" as const, settings, request, labels, reader, traffic, native, own },
    proxy: {
      ...proxy,
      interceptionMode: traffic.mode,
      ...(traffic.statusPort > 0 && { statusPort: traffic.statusPort }),
    },
    owner: ownerOf(pod, namespace),
    ...proxyOwner(own?.securityContext ?? {}, ids, traffic.mode === "TPROXY"),
    applications: pod.spec.containers.filter((one) => roleOf(one) === undefined),
    companions: (pod.spec.initContainers ?? []).filter((one) => goesOn(one) && roleOf(one) === undefined),
  };
}

/** The parts from the pod's templates, in order. The reader keeps the problems of templates. */
function partsOf(input: SidecarInput): PodPart[] {
  const { reader, settings: { config } } = input;
  const parts: PodPart[] = [];
  const known = [...new Set([...Object.keys(BUILT_IN), ...Object.keys(config.templates)])].sort();
  let unknown = 0;
  for (const name of templatesOf(reader, config)) {
    const text = Object.hasOwn(config.templates, name) ? config.templates[name] : undefined;
    if (text !== undefined) {
      const made = textPart(name, text, input);
      if ("part" in made) parts.push(made.part);
      else reader.problems.push(...made.problems);
    } else if (Object.hasOwn(BUILT_IN, name)) parts.push(BUILT_IN[name]!(input));
    else if (++unknown <= MOST_UNKNOWN) {
      reader.problems.push(
        `template ${JSON.stringify(name.slice(0, 120))}: got an unknown template, expected ${known.join(", ")}`,
      );
    }
  }
  if (unknown > MOST_UNKNOWN) {
    reader.problems.push(`templates: got ${unknown - MOST_UNKNOWN} more that do not exist`);
  }
  return parts;
}

/** Most problems about unknown templates. */
const MOST_UNKNOWN = 10;

/** Names of the pod's templates, with aliases resolved, each once and in the order of the first mention. */
function templatesOf({ annotations }: AnnotationReader, { defaultTemplates, aliases }: InjectionConfig): string[] {
  const written = annotations["inject.mesh.io/templates"];
  const names = written === undefined ? defaultTemplates : written.split(",").map((name) => name.trim());
  const own = [...new Set(names)].flatMap((name) => Object.hasOwn(aliases, name) ? aliases[name]! : [name]);
  return [...new Set(own)].filter((name) => name !== "");
}

/** The user's own fields for the proxy's container. */
function ownProxy({ spec: { containers, initContainers = [] } }: InjectedPod): PodContainer | undefined {
  return [...containers, ...initContainers].find(isProxy);
}
