/**
 * Parts of templates laid over each other, and over a pod's containers.
 *
 * @module
 */
import { type JsonTree, mergeTrees } from "../merge.ts";
import type { InjectedPod, PodContainer } from "../pod.ts";
import { isProxy, type PodPart } from "../sidecar/input.ts";

/** The value of an image that leaves it to the injector. */
const AUTO = "auto";

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
  const means = (one: PodContainer) => (other: PodContainer) =>
    one.name === other.name || (isProxy(one) && isProxy(other));
  const own = (list: readonly PodContainer[]) => list.filter((one) => wanted.some(means(one)));
  const rest = (list: readonly PodContainer[]) => list.filter((one) => !wanted.some(means(one)));
  const words = [...own(containers), ...own(initContainers)];
  const over = (template: PodContainer) => withWords(template, words.find(means(template)));
  const made = { containers: part.containers.map(over), initContainers: part.initContainers.map(over) };
  const names = (list: readonly PodContainer[]) => list.map(({ name }) => name);
  return {
    containers: [...rest(containers), ...made.containers],
    initContainers: [...rest(initContainers), ...made.initContainers],
    added: { containers: names(made.containers), initContainers: names(made.initContainers) },
    own: { containers: own(containers), initContainers: own(initContainers) },
  };
}

function withWords(template: PodContainer, words: PodContainer | undefined): PodContainer {
  if (words === undefined) return template;
  const { image, ...rest } = words;
  return mergeTrees(template as JsonTree, image === AUTO || image === undefined ? rest : words) as PodContainer;
}
