/**
 * The built-in template `sidecar`, the part that is merged into a pod.
 *
 * @module
 */
import { sidecarAnnotations, sidecarLabels } from "./metadata.ts";
import { initContainer } from "./init.ts";
import type { PodPart, SidecarInput } from "./input.ts";
import { proxyContainer } from "./proxy.ts";
import { proxyVolumes } from "./volumes.ts";

/** The sidecar of a pod. */
export function sidecarPart(input: SidecarInput): PodPart {
  const { native, settings: { values: { global } } } = input;
  const { volumes, mounts } = proxyVolumes(input);
  const proxy = proxyContainer(input, mounts);
  const init = initContainer(input);
  return {
    labels: sidecarLabels(input),
    annotations: sidecarAnnotations(input),
    containers: native ? [] : [proxy],
    initContainers: [...(init === undefined ? [] : [init]), ...(native ? [proxy] : [])],
    volumes,
    imagePullSecrets: global.imagePullSecrets.map((name) => ({ name })),
    rest: {},
  };
}
