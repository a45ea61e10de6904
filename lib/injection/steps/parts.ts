/**
 * Parts of templates laid over each other, and over a pod's containers.
 *
 * @module
 */
import { type JsonTree, mergeTrees } from "../merge.ts";
import type { InjectedPod, PodContainer } from "../pod.ts";
import { istioVolume, roleOf } from "../names.ts";
import type { PodPart } from "../sidecar/input.ts";

/** The value of a container's image that leaves the choice to the injector. */
const AUTO = "auto";

/** The pull policy that the API writes for an image without a tag and a container without a policy. */
const DEFAULTED_POLICY = "Always";

const NOTHING: PodPart = {
  ...{ labels: {}, annotations: {}, containers: [], initContainers: [], volumes: [], imagePullSecrets: [], rest: {} },
};

/** Merges several parts. Later parts have precedence. */
export function oneOf(parts: readonly PodPart[]): PodPart {
  return parts.reduce<PodPart>(
    (base, part) => mergeTrees(base as unknown as JsonTree, part as unknown as JsonTree) as unknown as PodPart,
    NOTHING,
  );
}

/** The containers of a pod, with the containers of a part. */
export interface PodContainers {
  readonly containers: PodContainer[];
  readonly initContainers: PodContainer[];
  /** Containers of the part, with their names in the pod. */
  readonly added: { readonly containers: string[]; readonly initContainers: string[] };
  /** The user's own containers of the same names. */
  readonly own: { readonly containers: PodContainer[]; readonly initContainers: PodContainer[] };
}

/**
 * Adds a part's containers to a pod's containers. Fields that the user wrote for a part's container have precedence.
 */
export function withPart({ containers, initContainers = [] }: InjectedPod["spec"], part: PodPart): PodContainers {
  const wanted = [...part.containers, ...part.initContainers];
  const isOwn = (one: PodContainer) => wanted.some((template) => means(one, template));
  const own = (list: readonly PodContainer[]) => list.filter(isOwn);
  const rest = (list: readonly PodContainer[]) => list.filter((one) => !isOwn(one));
  const words = [...own(containers), ...own(initContainers)];
  const over = (template: PodContainer) => withWords(template, words.find((one) => means(one, template)));
  const made = { containers: part.containers.map(over), initContainers: part.initContainers.map(over) };
  const names = (list: readonly PodContainer[]) => list.map(({ name }) => name);
  return {
    containers: [...rest(containers), ...made.containers],
    initContainers: [...rest(initContainers), ...made.initContainers],
    added: { containers: names(made.containers), initContainers: names(made.initContainers) },
    own: { containers: own(containers), initContainers: own(initContainers) },
  };
}

/** Whether a container of the pod has fields for a template's container: by name, or by role in either spelling. */
function means(own: PodContainer, template: PodContainer): boolean {
  if (own.name === template.name) return true;
  const [ofOwn, ofTemplate] = [roleOf(own), roleOf(template)];
  if (ofOwn === undefined || ofTemplate === undefined) return false;
  return ofOwn === ofTemplate || (isAuto(own) && ofOwn !== "proxy" && ofTemplate !== "proxy");
}

/** Whether the image is left to injection. */
function isAuto({ image }: PodContainer): boolean {
  return image === undefined || image === AUTO;
}

/**
 * A template's container with the user's fields. If the node's plugin redirects, the pod has a checking container in
 * place of the redirecting container. Fields for the redirecting container then give the checking container their
 * resources alone, and never the name: the plugin skips pods with a redirecting container.
 */
function withWords(template: PodContainer, own: PodContainer | undefined): PodContainer {
  if (own === undefined) return template;
  const isOtherRole = own.name !== template.name && roleOf(own) !== roleOf(template);
  const words = isOtherRole ? { name: template.name, resources: own.resources ?? {} } : own;
  const { image: _, imagePullPolicy, ...rest } = words as PodContainer;
  if (!isAuto(words)) return mergeTrees(template as JsonTree, words) as PodContainer;
  // The API derives a policy from the image's tag before it asks the webhook, and `auto` has no tag.
  const policy = imagePullPolicy === undefined || imagePullPolicy === DEFAULTED_POLICY ? {} : { imagePullPolicy };
  return mergeTrees(template as JsonTree, { ...rest, ...policy }) as PodContainer;
}

/** Renames the part's volumes to Istio's names if the pod has volumes with Istio's names: both are the same volumes. */
export function withPodsVolumes(part: PodPart, { volumes = [] }: InjectedPod["spec"]): PodPart {
  const names = new Set(volumes.map(({ name }) => name));
  const renamed = new Map(part.volumes.flatMap(({ name }) => {
    const istio = istioVolume(name);
    return istio === undefined || names.has(name) || !names.has(istio) ? [] : [[name, istio] as const];
  }));
  if (renamed.size === 0) return part;
  const rename = <T extends { readonly name: string }>(one: T) => ({ ...one, name: renamed.get(one.name) ?? one.name });
  const mounted = (one: PodContainer) => ({
    ...one,
    ...(one.volumeMounts !== undefined && { volumeMounts: one.volumeMounts.map(rename) }),
  });
  return {
    ...part,
    volumes: part.volumes.map(rename),
    containers: part.containers.map(mounted),
    initContainers: part.initContainers.map(mounted),
  };
}
