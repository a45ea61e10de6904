/**
 * Names of injected containers and volumes, in both spellings: a pod that was written for Istio refers to this
 * project's containers by Istio's names.
 *
 * @module
 */

/** The purpose of an injected container: the proxy, the set-up of redirection, or the check of redirection. */
export type InjectedRole = "proxy" | "init" | "validation";

/** Names of each role, this project's first. */
const NAMES: Readonly<Record<InjectedRole, readonly [own: string, istio: string]>> = {
  proxy: ["mesh-proxy", "istio-proxy"],
  init: ["mesh-init", "istio-init"],
  validation: ["mesh-validation", "istio-validation"],
};

const ROLES: ReadonlyMap<string, InjectedRole> = new Map(
  Object.entries(NAMES).flatMap(([role, names]) => names.map((name) => [name, role as InjectedRole] as const)),
);

/** This project's name of a role. */
export function nameOf(role: InjectedRole): string {
  return NAMES[role][0];
}

/** Istio's names of all roles. */
export function istioNames(): ReadonlySet<string> {
  return new Set(Object.values(NAMES).map(([, istio]) => istio));
}

/** The role of a container, by its name in either spelling; undefined: the container belongs to the application. */
export function roleOf({ name }: { readonly name: string }): InjectedRole | undefined {
  return ROLES.get(name);
}

/** Istio's names of injected volumes, by this project's names. */
const ISTIO_VOLUMES: Readonly<Record<string, string>> = {
  "mesh-envoy": "istio-envoy",
  "mesh-data": "istio-data",
  "mesh-podinfo": "istio-podinfo",
  "mesh-token": "istio-token",
  "mesh-ca-cert": "istiod-ca-cert",
  "mesh-certs": "istio-certs",
};

/** Istio's name of a volume; undefined: Istio has no such volume. */
export function istioVolume(name: string): string | undefined {
  return Object.hasOwn(ISTIO_VOLUMES, name) ? ISTIO_VOLUMES[name] : undefined;
}
