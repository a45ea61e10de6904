/**
 * The resources of a proxy as a bootstrap for an Envoy without a server. Each reference to the server is replaced by
 * the resource itself.
 *
 *     listener with rds ─────> with the route configuration itself
 *     cluster with EDS ──────> STATIC, with its endpoints
 *     secret over SDS ───────> a static secret of the same name
 *     filter over ECDS ──────> with its configuration itself
 *     scope of statistics ───> without its name: `envoy --mode validate` cannot end with a shared name
 *
 * @module
 */
import { NodeRefused } from "../translate/proxy/identity.ts";
import type { ProxyNode } from "./offline_mesh.ts";

type JsonFields = Record<string, unknown>;

/** Resources as protojson, by type. */
export interface BootstrapResources {
  readonly listeners: readonly JsonFields[];
  readonly routes: readonly JsonFields[];
  readonly clusters: readonly JsonFields[];
  readonly endpoints: readonly JsonFields[];
  readonly secrets: readonly JsonFields[];
  readonly extensions: readonly JsonFields[];
}

/** The resources that replace references, by name. */
interface Replacements {
  readonly routes: ReadonlyMap<string, JsonFields>;
  readonly extensions: ReadonlyMap<string, JsonFields>;
  readonly secrets: ReadonlySet<string>;
}

/**
 * The node of a proxy without a server. Without an agent the proxy has no certificates of the mesh, so its resources
 * must not ask for certificates.
 */
export function standaloneNode({ id, metadata }: ProxyNode): ProxyNode {
  const { PROXY_CONFIG: _, ...others } = metadata ?? {};
  return { id, metadata: others };
}

/**
 * The bootstrap, as protojson.
 *
 * @param admin Address of the admin page: `127.0.0.1` and a port; with port 0 the system chooses.
 * @throws {RangeError} naming the parts that cannot stand in a bootstrap, because they would still ask the server.
 */
export function bootstrapOf(
  node: ProxyNode,
  resources: BootstrapResources,
  admin: { readonly port: number },
): JsonFields {
  const routes = new Map(resources.routes.map((route) => [String(route.name), route]));
  const assignments = new Map(resources.endpoints.map((one) => [String(one.cluster_name), one]));
  const extensions = new Map(resources.extensions.map((one) => [String(one.name), one]));
  const secrets = new Set(resources.secrets.map(({ name }) => String(name)));
  const inlined = (value: JsonFields) => inline(value, { routes, extensions, secrets }) as JsonFields;
  const bootstrap = {
    node: { id: node.id, cluster: clusterOf(node), metadata: node.metadata ?? {} },
    admin: { address: { socket_address: { address: "127.0.0.1", port_value: admin.port } } },
    static_resources: {
      listeners: resources.listeners.map(inlined),
      clusters: resources.clusters.map((cluster) => inlined(withEndpoints(cluster, assignments))),
      secrets: resources.secrets,
    },
  };
  const asking = [...resourcesThatAsk(bootstrap.static_resources)];
  if (asking.length > 0) {
    throw new RangeError(`${asking.join(", ")} would go on asking the server, which a bootstrap cannot replace`);
  }
  return bootstrap;
}

/** `name.namespace`: the usual name of a proxy's cluster. */
function clusterOf({ id }: ProxyNode): string {
  const [, , workload] = id.split("~");
  if (workload === undefined) {
    throw new NodeRefused(`node id ${JSON.stringify(id)}, expected type~IP~name.namespace~domain`);
  }
  return workload;
}

function withEndpoints(cluster: JsonFields, assignments: ReadonlyMap<string, JsonFields>): JsonFields {
  if (cluster.type !== "EDS") return cluster;
  const { eds_cluster_config, ...rest } = cluster;
  const name = (eds_cluster_config as JsonFields | undefined)?.service_name ?? cluster.name;
  const { endpoints = [], policy } = assignments.get(String(name)) ?? {};
  const load_assignment = { cluster_name: cluster.name, endpoints, ...(policy === undefined ? {} : { policy }) };
  return { ...rest, type: "STATIC", load_assignment };
}

/**
 * A copy with the named route configurations and filter configurations inline. Secrets in the bootstrap lose their
 * source.
 */
function inline(value: unknown, by: Replacements): unknown {
  const { routes, extensions, secrets } = by;
  if (Array.isArray(value)) return value.map((item) => inline(item, by));
  if (typeof value !== "object" || value === null) return value;
  const out: JsonFields = {};
  for (const [key, inside] of Object.entries(value as JsonFields)) {
    const rds = key === "rds" ? inside as JsonFields : undefined;
    const name = String(rds?.route_config_name ?? "");
    if (rds !== undefined) {
      // Without the routes a listener of the server would wait. Without a server the listener answers 404, as the
      // server's listener does in the end.
      out.route_config = inline(routes.get(name) ?? { name }, by);
    } else if (key === "config_discovery" && extensions.has(String((value as JsonFields).name))) {
      out.typed_config = inline(extensions.get(String((value as JsonFields).name))!.typed_config, by);
    } else if (key === "sharing_name" && "max_counters" in value) {
      // Envoy 1.40 crashes when it validates a scope of statistics with a shared name.
      continue;
    } else if (key === "sds_config" && secrets.has(String((value as JsonFields).name))) continue;
    else out[key] = inline(inside, by);
  }
  return out;
}

/** Names of resources with the server as their configuration source. */
function* resourcesThatAsk(resources: Readonly<Record<string, readonly JsonFields[]>>): Iterable<string> {
  for (const [type, list] of Object.entries(resources)) {
    for (const one of list) {
      if (/"(?:ads|api_config_source)":\{/.test(JSON.stringify(one))) yield `${type}: ${String(one.name)}`;
    }
  }
}
