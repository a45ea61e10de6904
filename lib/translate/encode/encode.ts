/**
 * From built messages to encoded resources.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { Cluster_DiscoveryType } from "../../../proto/gen/enums.ts";
import { encode, TYPE_URL_PREFIX } from "../../pb/codec.ts";
import { encodeApi } from "../../pb/envoy_api.ts";
import { type EncodedResource, encodeResource, type ResourceFacts } from "../../resource/encoded.ts";
import { fieldSize, putField, putFieldHead, utf8Bytes } from "../../resource/protowire.ts";
import type { Built } from "../message/built.ts";
import { chainRuns } from "./chain_runs.ts";
import { type LeanAssignment, LoadAssignmentEncoder } from "../endpoint/encode.ts";

type Listener = envoy.config.listener.v3.Listener;

const CLUSTER = "envoy.config.cluster.v3.Cluster";
const LISTENER = "envoy.config.listener.v3.Listener";
const ASSIGNMENT = "envoy.config.endpoint.v3.ClusterLoadAssignment";
const ROUTE = "envoy.config.route.v3.RouteConfiguration";
const VIRTUAL_HOST = "envoy.config.route.v3.VirtualHost";
const EXTENSION = "envoy.config.core.v3.TypedExtensionConfig";
const SECRET = "envoy.extensions.transport_sockets.tls.v3.Secret";

/** Type URLs of the resources to which proxies subscribe. */
export const TYPE = {
  cluster: TYPE_URL_PREFIX + CLUSTER,
  listener: TYPE_URL_PREFIX + LISTENER,
  assignment: TYPE_URL_PREFIX + ASSIGNMENT,
  route: TYPE_URL_PREFIX + ROUTE,
  virtualHost: TYPE_URL_PREFIX + VIRTUAL_HOST,
  secret: TYPE_URL_PREFIX + SECRET,
  extension: TYPE_URL_PREFIX + EXTENSION,
} as const;

/** A cluster. A cluster with endpoints from EDS warms on its load assignment. */
export function encodeCluster(built: Built<envoy.config.cluster.v3.Cluster>): EncodedResource {
  const { message, causes } = built;
  const name = message.name ?? "";
  const facts: ResourceFacts = message.type === Cluster_DiscoveryType.EDS
    ? { causes, warms: [message.eds_cluster_config?.service_name || name] }
    : { causes };
  return encodeResource(TYPE.cluster, name, bytesOf(CLUSTER, built), facts);
}

export function encodeListener(
  built: Built<Listener> & Pick<ResourceFacts, "aliases">,
): EncodedResource {
  const { message, causes, parts = [], aliases = [] } = built;
  return encodeResource(TYPE.listener, message.name ?? "", bytesOf(LISTENER, built), { causes, parts, aliases });
}

/**
 * A listener whose chains, or parts of chains, are shared with other listeners. Encoded messages concatenate, and
 * `filter_chains` is repeated, so only the order among the chains matters.
 */
export function encodeListenerOfChains(built: Built<Listener>): EncodedResource {
  const { message: { filter_chains: chains = [], ...message }, causes, needsApi } = built;
  if (needsApi || chains.length === 0) return encodeListener(built);
  const runs = [encode(LISTENER, message), ...chains.flatMap(chainRuns)];
  return encodeResource(TYPE.listener, message.name ?? "", runs, { causes });
}

/** Patched messages may have fields that the builders' encoders lack. */
function bytesOf(name: string, { message, needsApi }: Pick<Built<object>, "message" | "needsApi">): Uint8Array {
  return needsApi ? encodeApi(name, message) : encode(name, message);
}

/** An extension's configuration. */
export function encodeExtension(built: Built<envoy.config.core.v3.TypedExtensionConfig>): EncodedResource {
  const { message, causes } = built;
  return encodeResource(TYPE.extension, message.name ?? "", bytesOf(EXTENSION, built), { causes });
}

/** The secrets that the listeners refer to. */
export function encodeSecrets(listeners: readonly Built<unknown>[]): EncodedResource[] {
  const made = new Map<string, EncodedResource>();
  for (const { secrets = [], causes } of listeners) {
    for (const secret of secrets) {
      const all = [...new Set([...made.get(secret.name)?.causes ?? [], ...causes])];
      made.set(secret.name, encodeResource(TYPE.secret, secret.name, encode(SECRET, secret), { causes: all }));
    }
  }
  return [...made.values()];
}

/** Encodes the endpoints of clusters. */
export function assignmentEncoder(): (built: Built<LeanAssignment>) => EncodedResource {
  const encoder = new LoadAssignmentEncoder();
  return ({ message, causes }) =>
    encodeResource(TYPE.assignment, message.cluster_name, encoder.encode(message), { causes });
}

/**
 * A virtual host as a separate resource, named `<route configuration>/<virtual host>` as in VHDS. The message has the
 * same name: Envoy adds virtual hosts by the name in the message and removes virtual hosts by the name of the resource.
 */
export function encodeVirtualHost(
  routeConfiguration: string,
  { message, causes, parts = [], needsApi = false }: Built<envoy.config.route.v3.VirtualHost>,
): EncodedResource {
  const name = `${routeConfiguration}/${message.name}`;
  const bytes = bytesOf(VIRTUAL_HOST, { message: { ...message, name }, needsApi });
  return encodeResource(TYPE.virtualHost, name, bytes, { causes, parts });
}

/** A route configuration whose virtual hosts, if any, are inside the message. */
export function encodeRouteConfiguration(
  built: Built<envoy.config.route.v3.RouteConfiguration>,
): EncodedResource {
  return encodeResource(TYPE.route, built.message.name ?? "", bytesOf(ROUTE, built), { causes: built.causes });
}

/**
 * A route configuration from encoded virtual hosts. `virtual_hosts` is field 2 and repeated, and encoded messages
 * concatenate, so nothing is encoded again. Inside the message, virtual hosts have their short names: `name` is field
 * 1, and of a repeated scalar field the last occurrence counts.
 *
 * @param named Parts of objects. Default: none, because the virtual hosts themselves name their parts.
 */
export function encodeInlineRouteConfiguration(
  bare: Built<envoy.config.route.v3.RouteConfiguration>,
  virtualHosts: readonly EncodedResource[],
  named: readonly string[] = [],
): EncodedResource {
  const routeConfiguration = bare.message.name ?? "";
  const head = bytesOf(ROUTE, bare);
  const parts = virtualHosts.map(({ name, value }) => ({
    value,
    name: utf8Bytes(name.slice(routeConfiguration.length + 1)),
  }));
  const sizes = parts.map(({ name, value }) => value.length + fieldSize(name.length));
  const size = sizes.reduce((sum, size) => sum + fieldSize(size), head.length);
  const put = (out: Uint8Array, from: number) => {
    out.set(head, from);
    let at = from + head.length;
    for (const [i, { name, value }] of parts.entries()) {
      at = putFieldHead(out, at, 2, sizes[i]!);
      out.set(value, at);
      at = putField(out, at + value.length, 1, name);
    }
  };
  const causes = [...new Set([...bare.causes, ...virtualHosts.flatMap((v) => v.causes)])];
  return encodeResource(TYPE.route, routeConfiguration, { size, put }, { causes, parts: named });
}
