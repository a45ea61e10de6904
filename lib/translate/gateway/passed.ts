/**
 * Connections from other networks. A gateway passes connections on by the client's server name (SNI).
 *
 *     outbound_.80_._.a.demo.svc.cluster.local ─> is it for a host of the servers? ─> cluster of that name ─> mutual TLS
 *
 * One chain serves all hosts of a port, so a new or removed service changes no listener. The clusters
 * (`cluster/passed.ts`) have only endpoints that accept mutual TLS. The chain matches only connections that offer the
 * protocols of the mesh's mutual TLS, so a server in permissive mode treats every passed connection as mutual TLS.
 *
 * @module
 */
import { RBAC_Action as Action } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { ServerHost } from "../../config/kinds/gateway/hosts.ts";
import { isWildcard } from "../../mesh/host_match.ts";
import { BLACK_HOLE } from "../cluster/static.ts";
import { PASSED_PREFIX } from "../destination/passed.ts";
import { hasExtension } from "../filters/extension.ts";
import { NETWORK_RBAC, networkRbacFilter } from "../filters/network/rbac.ts";
import { SNI_CLUSTER } from "../filters/network/sni_cluster.ts";
import type { TcpProxyPlan } from "../filters/network/tcp_proxy.ts";
import type { Reader } from "../reader/reader.ts";

type Filter = envoy.config.listener.v3.Filter;
type Permission = envoy.config.rbac.v3.Permission;

/** The plan of the chain's TCP proxy. A name without a cluster is refused. */
export const PASSED_PLAN: TcpProxyPlan = {
  statPrefix: "auto_passthrough",
  clusters: [{ name: BLACK_HOLE, weight: 1 }],
  byServerName: true,
  // Takes effect only in clusters with a hash balancer. A passed connection has no other property to hash.
  hashSourceIp: true,
};

/** The first necessary filter that the proxy's build lacks. */
export function lackingFilter(read: Reader): string | undefined {
  return [NETWORK_RBAC, SNI_CLUSTER].find((name) => !hasExtension(read, name));
}

/** Server names of the chain, sorted, each once: all names under a host. Empty: any. */
export function passedServerNames(hosts: readonly ServerHost[]): string[] {
  if (hosts.some(({ host }) => host === "*")) return [];
  return [...new Set(hosts.map(({ host }) => isWildcard(host) ? host : `*.${host}`))].sort();
}

/** Refuses a name that is not of a cluster for these hosts. */
export function passedNamesFilter(hosts: readonly ServerHost[]): Filter {
  const endings = [...new Set(hosts.map(({ host }) => host))].sort();
  const permissions = endings.map(permission);
  const policies = { "passed-hosts": { permissions, principals: [{ any: true }] } };
  return networkRbacFilter({ rules: { action: Action.ALLOW, policies } });
}

/** No label of a host ends in `_`, so a name with the ending `_.HOST` belongs to the host itself. */
function permission(host: string): Permission {
  const spelled: Permission = { requested_server_name: { prefix: PASSED_PREFIX } };
  if (host === "*") return spelled;
  const suffix = isWildcard(host) ? host.slice(1) : `_.${host}`;
  return { and_rules: { rules: [spelled, { requested_server_name: { suffix } }] } };
}
