/**
 * The resources of goldens in a form that Envoy can check: as static resources and as CDS clusters.
 *
 * @module
 */
import { TYPE_URL_PREFIX } from "../../../lib/pb/codec.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { routeListener } from "../route/route_listener.ts";
import type { Resources } from "./world.ts";

type Cluster = envoy.config.cluster.v3.Cluster;
type Listener = envoy.config.listener.v3.Listener;
type Secret = envoy.extensions.transport_sockets.tls.v3.Secret;

/** Fields that Envoy calls deprecated, although the generated API has no successor yet. */
export const DEPRECATED: ReadonlySet<string> = new Set([
  "envoy.config.rbac.v3.Principal.metadata",
  "envoy.config.rbac.v3.Permission.metadata",
  // Work in progress.
  "envoy.config.rbac.v3.Principal.source_ip",
  "envoy.config.route.v3.RouteAction.max_grpc_timeout",
]);

/** Some tracers do not start without their cluster. */
export const COLLECTOR: Cluster = { name: "outbound|4318||collector.logs", connect_timeout: { seconds: 1 }, type: 0 };

/** All resources of the proxies of a golden. */
export class Accepted {
  readonly listeners: Listener[] = [];
  /** Each in a separate listener. */
  readonly routes: Listener[] = [];
  readonly secrets: Secret[] = [];
  readonly clusters: Cluster[] = [];
  readonly #prefix: string;

  /** @param prefix Makes names unique: one Envoy gets the clusters of many goldens. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Adds the resources of a proxy. */
  add(resources: Resources): void {
    const all = [...resources.values()];
    const of = <T>(type: string) =>
      all.filter(({ typeUrl }) => typeUrl === TYPE_URL_PREFIX + type).map(({ value }) => decode<T>(type, value));
    this.listeners.push(...of<Listener>("envoy.config.listener.v3.Listener"));
    const routes = of<envoy.config.route.v3.RouteConfiguration>("envoy.config.route.v3.RouteConfiguration");
    for (const route of routes) this.routes.push(routeListener(route, this.routes.length));
    this.secrets.push(...of<Secret>("envoy.extensions.transport_sockets.tls.v3.Secret").map(inOnePlace));
    const at = this.clusters.length;
    const clusters = of<Cluster>("envoy.config.cluster.v3.Cluster");
    const assignments = of<envoy.config.endpoint.v3.ClusterLoadAssignment>(
      "envoy.config.endpoint.v3.ClusterLoadAssignment",
    );
    this.clusters.push(
      ...clusters.map((cluster) => ({ ...cluster, name: `${this.#prefix}/${at}/${cluster.name}` })),
      ...assignments.map((assignment) => carrier(`${this.#prefix}/${at}/eds/`, assignment)),
    );
  }
}

/** A cluster with a load assignment of EDS inside, so Envoy checks the assignment. */
function carrier(prefix: string, assignment: envoy.config.endpoint.v3.ClusterLoadAssignment): Cluster {
  return {
    name: prefix + assignment.cluster_name,
    type: 0,
    connect_timeout: { seconds: 1 },
    common_lb_config: { locality_weighted_lb_config: {} },
    load_assignment: assignment,
  };
}

/** Static secrets watch nothing. */
function inOnePlace({ name, tls_certificate, validation_context }: Secret): Secret {
  const { watched_directory: _, ...certificate } = tls_certificate ?? {};
  const { watched_directory: __, ...validation } = validation_context ?? {};
  return tls_certificate
    ? { name: name!, tls_certificate: certificate }
    : { name: name!, validation_context: validation };
}
