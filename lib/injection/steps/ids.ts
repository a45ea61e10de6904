/**
 * User and group of a proxy. OpenShift gives each namespace ranges of ids, and pods must use ids in these ranges.
 *
 * Annotations:
 * https://docs.openshift.com/container-platform/latest/authentication/managing-security-context-constraints.html
 *
 * @module
 */
import type { InjectedPod, PodContainer } from "../pod.ts";
import { goesOn, isProxy } from "../sidecar/input.ts";
import type { Texts } from "../spelling.ts";

/** Default user and group of the proxy. Redirection exempts their traffic. */
const PROXY_ID = 1337;
const MAX_ID = 2 ** 32 - 1;
const USERS = "openshift.io/sa.scc.uid-range";
const GROUPS = "openshift.io/sa.scc.supplemental-groups";

/** User and group, and the mistakes in a namespace's ranges. */
export interface ProxyIds {
  readonly uid: number;
  readonly gid: number;
  readonly problems: readonly string[];
}

/** Default ids of a proxy. On OpenShift, the last ids of the namespace's ranges. */
export function proxyIds(platform: string, namespaceAnnotations: Texts = {}): ProxyIds {
  const users = namespaceAnnotations[USERS];
  if (platform !== "openshift" || users === undefined) return { uid: PROXY_ID, gid: PROXY_ID, problems: [] };
  const groups = namespaceAnnotations[GROUPS];
  const uid = lastOf(users);
  const gid = lastOf((groups ?? users).split(",")[0]!);
  return {
    ...{ uid: uid ?? PROXY_ID, gid: gid ?? PROXY_ID },
    problems: [
      ...(uid === undefined ? [refusal(USERS, users)] : []),
      ...(gid === undefined && groups !== undefined ? [refusal(GROUPS, groups)] : []),
    ],
  };
}

/**
 * User and group of a proxy (unless it needs the superuser), and the user and group whose traffic is not redirected.
 */
export interface ProxyOwner {
  readonly uid: number;
  readonly gid: number;
  /** User and group whose traffic is exempt. Never the superuser, who may run applications too. */
  readonly exempt: { readonly uid: number; readonly gid: number };
}

/**
 * The ids of a proxy. Ids that the user set have precedence.
 *
 * @param transparent Envoy keeps the caller's address, and must run as the superuser.
 */
export function proxyOwner(
  { runAsUser, runAsGroup }: { readonly runAsUser?: number | undefined; readonly runAsGroup?: number | undefined },
  ids: Pick<ProxyIds, "uid" | "gid">,
  transparent: boolean,
): ProxyOwner {
  const [uid, gid] = [runAsUser ?? ids.uid, runAsGroup ?? ids.gid];
  const user = transparent && runAsUser === undefined ? 0 : uid;
  return { uid, gid, exempt: { uid: user || PROXY_ID, gid: gid || PROXY_ID } };
}

/** The last id of `1000650000/10000` or `1000650000-1000659999`; undefined: the text is not a range. */
function lastOf(range: string): number | undefined {
  const [, first = "", sign = "", second = ""] = /^\s*(\d{1,10})([/-])(\d{1,10})\s*$/.exec(range) ?? [];
  const [start, other] = [Number(first), Number(second)];
  const last = sign === "/" ? start + other - 1 : other;
  return sign !== "" && last >= start && last <= MAX_ID ? last : undefined;
}

function refusal(key: string, text: string): string {
  return `the namespace's annotation ${key}: got ${
    JSON.stringify(text.slice(0, 120))
  }, expected a range such as 1000650000/10000`;
}

/**
 * Takes the proxy's user off if OpenShift gave all containers of the pod this user. The traffic of the proxy's user is
 * not redirected, so the traffic of the applications would never be redirected. A user that differs from the
 * applications' is the pod author's choice.
 */
export function withoutSharedUser(pod: InjectedPod): InjectedPod {
  const { containers, initContainers = [] } = pod.spec;
  const users = new Set(
    [...containers, ...initContainers.filter(goesOn)].filter((one) => !isProxy(one)).map((one) =>
      one.securityContext?.runAsUser
    ),
  );
  const cleaned = (list: readonly PodContainer[]) =>
    list.map((one) => {
      const user = one.securityContext?.runAsUser;
      if (!isProxy(one) || user === undefined || !users.has(user)) return one;
      const { runAsUser: _, runAsGroup: __, ...securityContext } = one.securityContext!;
      return { ...one, securityContext };
    });
  const spec = { ...pod.spec, containers: cleaned(containers) };
  return { ...pod, spec: initContainers.length === 0 ? spec : { ...spec, initContainers: cleaned(initContainers) } };
}
