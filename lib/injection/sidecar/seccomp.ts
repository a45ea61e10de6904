/**
 * The seccomp profile of injected containers.
 *
 * PodSecurity `restricted` wants a profile for the pod or for each container. So a pod whose author gave each container
 * a profile is still admitted after the injection. Other pods get no profile: some OpenShift security context
 * constraints refuse every pod with a profile.
 *
 * @module
 */
import type { PodContainer } from "../pod.ts";
import { roleOf } from "../names.ts";
import type { SidecarInput } from "./input.ts";

/** Types of profiles that confine a container. */
const CONFINING: ReadonlySet<unknown> = new Set(["RuntimeDefault", "Localhost"]);

interface WithProfile {
  readonly seccompProfile?: Readonly<Record<string, unknown>>;
}

/**
 * The field of a security context. The values' profile comes first. By default, the runtime's profile confines injected
 * containers if each container of the application has a profile and the pod has none.
 */
export function seccompOf({ settings: { values: { global } }, request: { pod: { spec } } }: SidecarInput): WithProfile {
  const written = global.proxy.seccompProfile;
  if (written !== undefined && Object.keys(written).length > 0) return { seccompProfile: written };
  if (profileOf(spec) !== undefined) return {};
  const authors = [...spec.containers, ...spec.initContainers ?? []].filter((one) => roleOf(one) === undefined);
  const confined = authors.length > 0 && authors.every((one) => CONFINING.has(profileOf(one)?.["type"]));
  return confined ? { seccompProfile: { type: "RuntimeDefault" } } : {};
}

/** The profile that the author wrote for a pod or for a container. */
export function profileOf(
  { securityContext }: Pick<PodContainer, "securityContext">,
): Readonly<Record<string, unknown>> | undefined {
  return (securityContext as WithProfile | undefined)?.seccompProfile ?? undefined;
}
