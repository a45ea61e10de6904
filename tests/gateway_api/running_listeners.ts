/**
 * Derived listeners at Unix sockets of a real Envoy, with backends on loopback.
 *
 * Permissions: read and write (temporary folders), run (envoy), net (loopback), env (ENVOY).
 *
 * @module
 */
import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Server, type Socket as Connection } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { DerivedObject } from "../../lib/config/derive/derivation.ts";
import { readFact } from "../../lib/config/facts/read.ts";
import { FactStore } from "../../lib/config/facts/store.ts";
import { ConfigStore } from "../../lib/config/store.ts";
import { type AnyConfigObject, isKind } from "../../lib/config/types.ts";
import { Credentials } from "../../lib/discovery/credentials/credentials.ts";
import { GatewaySecrets } from "../../lib/discovery/credentials/gateway_secrets.ts";
import { type AttachedBytesRoute, bytesVirtualService } from "../../lib/gateway_api/derive/bytes_rules.ts";
import { any, encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { ResourceTable } from "../../lib/resource/set.ts";
import { outboundClusters } from "../../lib/translate/cluster/outbound.ts";
import { loadAssignments } from "../../lib/translate/endpoint/assignment.ts";
import { gatewayListeners } from "../../lib/translate/gateway/listeners.ts";
import type { Reader } from "../../lib/translate/reader/reader.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { inFile } from "../config/origins.ts";
import type { Served } from "../translate/gateway/running_envoy.ts";
import { gatewayOf, gatewayReader, type GivenListener, listener, made } from "./derived_world.ts";

type Cluster = envoy.config.cluster.v3.Cluster;
type Listener = envoy.config.listener.v3.Listener;
type Socket = envoy.config.core.v3.TransportSocket;
type UpstreamTls = envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext;
type Secret = envoy.extensions.transport_sockets.tls.v3.Secret;

/** A listener with its routes, oldest first. */
export interface RoutedListener {
  readonly listener: GivenListener;
  readonly routes: readonly AttachedBytesRoute[];
}

/** The resources of listeners that all listen at one socket. Certificates come from the given Secrets and ConfigMaps. */
export function servedAt(
  socket: string,
  listeners: readonly RoutedListener[],
  clusters: readonly Cluster[],
  manifests: readonly object[] = [],
): Served {
  const objects = made(
    ...listeners.flatMap(({ listener: given, routes }): DerivedObject[] => {
      const gateway = gatewayOf(given);
      const rules = bytesVirtualService(listener(given), routes);
      const servers = gateway.spec.servers.map((server) => ({
        ...server,
        port: { ...server.port, number: 0 },
        bind: `unix://${socket}`,
      }));
      return [{ ...gateway, spec: { ...gateway.spec, servers } } as DerivedObject, ...(rules ? [rules] : [])];
    }),
  );
  const names = objects.flatMap((object) => isKind(object, "Gateway") ? object.spec.servers : []).flatMap((server) => [
    ...server.tls?.credentialNames ?? [],
    ...(server.tls?.credentialName ? [server.tls.credentialName] : []),
    ...(server.internal?.clientAuthorities ? [`${server.internal.clientAuthorities}-cacert`] : []),
  ]);
  return {
    listeners: listenersOf(gatewayReader(objects)),
    routes: new Map(),
    clusters: [...clusters, cluster("BlackHoleCluster")],
    secrets: secretsOf(names, manifests, objects),
  };
}

/** The listeners of a gateway, which are all served as derived. */
export function listenersOf(read: Reader): Listener[] {
  const { listeners, problems } = gatewayListeners(read);
  assert.deepEqual(problems, []);
  return listeners.map(({ message }) => message);
}

/** The clusters of a host, with endpoints and secrets in place of subscriptions. */
export function clustersTo(
  read: Reader,
  host: string,
  objects: readonly AnyConfigObject[],
  manifests: readonly object[],
): Cluster[] {
  const assignments = new Map(loadAssignments(read, host).map(({ message }) => [message.cluster_name, message]));
  return outboundClusters(read, host).map(
    ({ message: { eds_cluster_config: _, type, transport_socket, ...cluster } }) => {
      const assignment = assignments.get(cluster.name ?? "");
      const found = type === 0
        ? {}
        : { load_assignment: decode(ASSIGNMENT, encode(ASSIGNMENT, assignment ?? {})) as object };
      const socket = transport_socket && inline(transport_socket, (names) => secretsOf(names, manifests, objects));
      return { ...cluster, type: 0, ...found, ...(socket && { transport_socket: socket }) };
    },
  );
}

const ASSIGNMENT = "envoy.config.endpoint.v3.ClusterLoadAssignment";
const UPSTREAM = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";

/** A transport socket with secrets in place of their names. A name without a secret is left out, so it stays closed. */
export function inline(socket: Socket, find: (names: readonly string[]) => readonly Secret[]): Socket {
  const context = decode<UpstreamTls>(UPSTREAM, socket.typed_config?.value as Uint8Array);
  const { tls_certificate_sds_secret_configs: named = [], combined_validation_context: combined, ...common } =
    context.common_tls_context ?? {};
  const authorities = combined?.validation_context_sds_secret_config?.name;
  const [trust] = authorities === undefined ? [] : find([authorities]);
  const certificates = find(named.flatMap(({ name }) => name ?? [])).flatMap((one) => one.tls_certificate ?? []);
  const common_tls_context = {
    ...common,
    ...(certificates.length > 0 ? { tls_certificates: certificates } : {}),
    ...(combined
      ? { validation_context: { ...combined.default_validation_context, ...trust?.validation_context } }
      : {}),
  };
  return { ...socket, typed_config: any(UPSTREAM, { ...context, common_tls_context }) };
}

/** The secrets that the gateway gets from the server's credentials. */
function secretsOf(
  names: readonly string[],
  manifests: readonly object[],
  objects: readonly AnyConfigObject[],
): Secret[] {
  const store = new ConfigStore();
  store.addSource("derived", 0).apply({ upserted: objects, removed: [] });
  const facts = new FactStore();
  const read = manifests.map((tree) => {
    const kind = (tree as { kind: "Secret" | "ConfigMap" }).kind;
    return readFact(kind, tree, inFile("test"), { digestKey: new Uint8Array(32) }).fact!;
  });
  facts.addSource("test", 0).apply({ upserted: read, removed: [] });
  const gatewaySecrets = new GatewaySecrets(store, () => {});
  const refused = (_: unknown, resource: string, why: string) => assert.fail(`${resource}: ${why}`);
  const reader = { namespace: "edge", account: "gw", labels: { app: "gw" }, name: "gw" };
  const own = new Credentials({ facts, table: new ResourceTable(), gatewaySecrets, refused }).open(reader, () => {});
  own.want(names);
  return [...own.set].map(({ value }) => decode("envoy.extensions.transport_sockets.tls.v3.Secret", value));
}

/** A static cluster. Without a server, the cluster has no endpoint. */
export function cluster(name: string, server?: Server): Cluster {
  const address = server?.address() as AddressInfo | undefined;
  const endpoints = address === undefined ? [] : [{
    endpoint: { address: { socket_address: { address: address.address, port_value: address.port } } },
  }];
  return {
    name,
    type: 0,
    connect_timeout: { seconds: 1 },
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: endpoints }] },
  };
}

/**
 * Backends on loopback, each with a cluster. A backend answers its name and the bytes, then ends.
 *
 * @param secure Certificates of backends with TLS, by name. Other backends are plain.
 */
export async function backends<T>(
  names: readonly string[],
  secure: Readonly<Record<string, { readonly cert: string; readonly key: string }>>,
  use: (clusters: readonly Cluster[]) => Promise<T>,
): Promise<T> {
  const servers: Server[] = [];
  try {
    const clusters: Cluster[] = [];
    for (const name of names) {
      const answer = (socket: Connection) => {
        socket.on("error", () => socket.destroy());
        socket.once("data", (bytes) => socket.end(`${name} ${bytes}`));
      };
      const tls = secure[name];
      const server = tls ? createTlsServer(tls, answer) : createServer(answer);
      await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
      servers.push(server);
      clusters.push(cluster(`outbound|1||${name}.svc`, server));
    }
    return await use(clusters);
  } finally {
    for (const server of servers) server.close();
  }
}

/** A Secret with a certificate and its key. */
export function tlsSecret(namespace: string, name: string, { certificate, key }: { certificate: string; key: string }) {
  const stringData = { "tls.crt": certificate, "tls.key": key };
  return { apiVersion: "v1", kind: "Secret", type: "kubernetes.io/tls", metadata: { namespace, name }, stringData };
}

/** A ConfigMap with authorities. */
export function authorities(namespace: string, name: string, text: string) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name }, data: { "ca.crt": text } };
}
