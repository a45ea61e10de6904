/**
 * Parts of templates laid over each other, and over a pod's containers.
 *
 * @module
 */
import { type JsonTree, mergeTrees } from "../merge.ts";
import type { InjectedPod, PodContainer } from "../pod.ts";
import { peersVolume, roleOf } from "../names.ts";
import type { PodPart } from "../sidecar/input.ts";

/** The value of an image that leaves it to the injector. */
const AUTO = "auto";

/** What the API writes where an image has no tag and a container no policy. */
const DEFAULTED_POLICY = "Always";

const NOTHING: PodPart = {
  ...{ labels: {}, annotations: {}, containers: [], initContainers: [], volumes: [], imagePullSecrets: [], rest: {} },
};

/** Several parts as one, later ones over earlier ones. */
export function oneOf(parts: readonly PodPart[]): PodPart {
  return parts.reduce<PodPart>(
    (base, part) => mergeTrees(base as unknown as JsonTree, part as unknown as JsonTree) as unknown as PodPart,
    NOTHING,
  );
}

/** The containers of a pod with those of a part. */
export interface PodContainers {
  readonly containers: PodContainer[];
  readonly initContainers: PodContainer[];
  /** The part's, by the names that they have in the pod. */
  readonly added: { readonly containers: string[]; readonly initContainers: string[] };
  /** The user's own of these names. */
  readonly own: { readonly containers: PodContainer[]; readonly initContainers: PodContainer[] };
}

/** Containers with the part's, and the user's words about these laid over them. */
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

/** Whether a container of the pod says something about a template's: by its name, or by its role in either spelling. */
function means(own: PodContainer, template: PodContainer): boolean {
  if (own.name === template.name) return true;
  const [ofOwn, ofTemplate] = [roleOf(own), roleOf(template)];
  if (ofOwn === undefined || ofTemplate === undefined) return false;
  return ofOwn === ofTemplate || (isAuto(own) && ofOwn !== "proxy" && ofTemplate !== "proxy");
}

/** Whether a container leaves it to injection what it runs. */
function isAuto({ image }: PodContainer): boolean {
  return image === undefined || image === AUTO;
}

/**
 * A template's container with the user's words laid over it. Where the node's plugin redirects, the container that would
 * redirect is the one that checks: it has the other one's resources, not its name, by which the plugin would pass it on.
 */
function withWords(template: PodContainer, own: PodContainer | undefined): PodContainer {
  if (own === undefined) return template;
  const isOtherRole = own.name !== template.name && roleOf(own) !== roleOf(template);
  const words = isOtherRole ? { name: template.name, resources: own.resources ?? {} } : own;
  const { image: _, imagePullPolicy, ...rest } = words as PodContainer;
  if (!isAuto(words)) return mergeTrees(template as JsonTree, words) as PodContainer;
  // The API fills in a policy by the image's tag before it asks, and `auto` has none.
  const policy = imagePullPolicy === undefined || imagePullPolicy === DEFAULTED_POLICY ? {} : { imagePullPolicy };
  return mergeTrees(template as JsonTree, { ...rest, ...policy }) as PodContainer;
}

/** The part with Istio's names of volumes where the pod has volumes of those names: they are the same volumes. */
export function withPodsVolumes(part: PodPart, { volumes = [] }: InjectedPod["spec"]): PodPart {
  const names = new Set(volumes.map(({ name }) => name));
  const renamed = new Map(part.volumes.flatMap(({ name }) => {
    const peers = peersVolume(name);
    return peers === undefined || names.has(name) || !names.has(peers) ? [] : [[name, peers] as const];
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
