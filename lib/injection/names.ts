/**
 * Names of injected containers and volumes, in both spellings: a pod that was written for Istio means ours by its names.
 *
 * @module
 */

/** What an injected container is for: the proxy, or the one that sets redirection up or checks it. */
export type InjectedRole = "proxy" | "init" | "validation";

/** Names of each role, ours first. */
const NAMES: Readonly<Record<InjectedRole, readonly [own: string, peers: string]>> = {
  proxy: ["mesh-proxy", "istio-proxy"],
  init: ["mesh-init", "istio-init"],
  validation: ["mesh-validation", "istio-validation"],
};

const ROLES: ReadonlyMap<string, InjectedRole> = new Map(
  Object.entries(NAMES).flatMap(([role, names]) => names.map((name) => [name, role as InjectedRole] as const)),
);

/** Our name of a role. */
export function nameOf(role: InjectedRole): string {
  return NAMES[role][0];
}

/** The role that a container's name means, in either spelling; undefined: it is the application's. */
export function roleOf({ name }: { readonly name: string }): InjectedRole | undefined {
  return ROLES.get(name);
}

/** Names of volumes that injection adds, by those that Istio's injector gives them. */
const PEERS_VOLUMES: Readonly<Record<string, string>> = {
  "mesh-envoy": "istio-envoy",
  "mesh-data": "istio-data",
  "mesh-podinfo": "istio-podinfo",
  "mesh-token": "istio-token",
  "mesh-ca-cert": "istiod-ca-cert",
  "mesh-certs": "istio-certs",
};

/** Istio's name of a volume of ours; undefined: it has none. */
export function peersVolume(name: string): string | undefined {
  return Object.hasOwn(PEERS_VOLUMES, name) ? PEERS_VOLUMES[name] : undefined;
}
