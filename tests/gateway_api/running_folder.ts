/**
 * A folder with objects of the Gateway API, served by a real Envoy: a socket for each port of a Gateway, and backends on
 * loopback that report what they received.
 *
 * Permissions: read and write (temporary folders), run (envoy), net (loopback), env (ENVOY).
 *
 * @module
 */
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { Credentials } from "../../lib/discovery/credentials/credentials.ts";
import { GatewaySecrets } from "../../lib/discovery/credentials/gateway_secrets.ts";
import { tablesOfSets } from "../../lib/debug/resources.ts";
import type { OfflineMesh } from "../../lib/offline/offline_mesh.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { ResourceTable } from "../../lib/resource/set.ts";
import { resourcesIn } from "../../lib/simulate/decoded.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { meshOf } from "../offline/mesh_of.ts";
import { withEnvoy } from "../translate/gateway/running_envoy.ts";
import { inline } from "./running_listeners.ts";

type Listener = envoy.config.listener.v3.Listener;
type Cluster = envoy.config.cluster.v3.Cluster;
type Secret = envoy.extensions.transport_sockets.tls.v3.Secret;

/** A backend's server: plain, or with TLS. */
export interface BackendServer {
  readonly cert?: string;
  readonly key?: string;
  /** Authorities of the clients, which then need certificates. */
  readonly clients?: string;
}

/** Ports of running backends, by name. */
export type BackendPorts = Readonly<Record<string, number>>;

/** Runs backends, which answer every request with their name and what they received. */
export async function withBackends(
  backends: Readonly<Record<string, BackendServer>>,
  use: (ports: BackendPorts) => Promise<void>,
): Promise<void> {
  const servers = Object.entries(backends).map(([backend, { cert, key, clients }]) => {
    const answer = async (got: IncomingMessage, to: ServerResponse) => {
      let bytes = 0;
      for await (const part of got) bytes += part.length;
      const { method = "", url: path = "", headers, socket } = got;
      const tls = cert === undefined ? undefined : socket as TLSSocket;
      const client = tls?.getPeerCertificate()?.subject?.CN;
      const body = JSON.stringify({
        backend,
        method,
        host: headers.host,
        path,
        headers,
        sni: tls?.servername,
        client,
        bytes,
      });
      to.writeHead(200, { "x-backend": backend, "content-length": body.length }).end(body);
    };
    const trust = clients === undefined ? {} : { ca: clients, requestCert: true, rejectUnauthorized: true };
    const server = cert && key ? createTlsServer({ cert, key, ...trust }, answer) : createServer(answer);
    server.on("tlsClientError", () => {});
    return [backend, server] as const;
  });
  try {
    const ports: Record<string, number> = {};
    for (const [backend, server] of servers) {
      await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
      ports[backend] = (server.address() as AddressInfo).port;
    }
    await use(ports);
  } finally {
    for (const [, server] of servers) {
      server.closeAllConnections();
      server.close();
    }
  }
}

/** Where the ports of a Gateway are. */
export interface GatewayPlaces {
  /** Path of the socket of a TCP port. */
  readonly socket: (port: number) => string;
  /** The address of a UDP port. */
  readonly datagrams: (port: number) => { readonly address: string; readonly port: number };
}

/** The workload of a Gateway. */
export interface GatewayWorkload {
  readonly namespace: string;
  /** Name of the Gateway. */
  readonly name: string;
}

/**
 * Serves a folder's text to the Envoy of a Gateway.
 *
 * @param settings Default: those of a server.
 * @param addresses What a name server answers, by name.
 */
export async function withFolder(
  binary: string,
  text: string,
  gateway: GatewayWorkload,
  use: (places: GatewayPlaces) => Promise<void>,
  settings: Partial<SettingsOf<"pilot-discovery">> = {},
  addresses: Readonly<Record<string, string>> = {},
): Promise<void> {
  const folder = await Deno.makeTempDir();
  // A loopback address of this Envoy alone: nobody else has its ports.
  const address = ["127", ...crypto.getRandomValues(new Uint8Array(2)), "9"].join(".");
  const places: GatewayPlaces = {
    socket: (port) => `${folder}/${port}`,
    datagrams: (port) => ({ address, port }),
  };
  const all = { ...defaultSettings("pilot-discovery"), ...settings };
  const mesh = meshOf({ "mesh.yaml": text }, { manifestServices: true, settings: all });
  assert.deepEqual(mesh.findings().filter(({ severity }) => severity === "error").map(({ message }) => message), []);
  const find = secretsFor(mesh, gateway);
  const { listeners, routes, clusters, assignments } = resourcesIn(tablesOfSets(join(mesh, gateway)));
  const served = {
    listeners: [...listeners.values()].flatMap((one) => atPlace(one, places)),
    routes: new Map(routes),
    clusters: [...clusters.values()].map((one) => standing(one, assignments.get(one.name ?? ""), find)),
    secrets: find(serverSecrets(mesh)),
  };
  for (const endpoint of endpointsOf(served.clusters)) {
    const at = endpoint.address?.socket_address;
    if (at?.address !== undefined) at.address = addresses[at.address] ?? at.address;
  }
  try {
    await withEnvoy(binary, served, () => use(places));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const GATEWAY_NAME = "gateway.networking.k8s.io/gateway-name";

function join(mesh: OfflineMesh, { namespace, name }: GatewayWorkload) {
  const metadata = { NAMESPACE: namespace, LABELS: { [GATEWAY_NAME]: name }, PROXY_CONFIG: {} };
  const id = `router~10.0.0.9~${name}.${namespace}~${namespace}.svc.cluster.local`;
  return mesh.join({ id, metadata });
}

/** The secrets that the Gateway's workload gets from the server's credentials, by name. */
function secretsFor(mesh: OfflineMesh, { namespace, name }: GatewayWorkload): (names: readonly string[]) => Secret[] {
  const gatewaySecrets = new GatewaySecrets(mesh.store, () => {});
  const refused = (_: unknown, resource: string, why: string) => assert.fail(`${resource}: ${why}`);
  const credentials = new Credentials({ facts: mesh.facts, table: new ResourceTable(), gatewaySecrets, refused });
  const reader = { namespace, account: `${name}-mesh`, labels: { [GATEWAY_NAME]: name }, name };
  return (names) => {
    const own = credentials.open(reader, () => {});
    own.want(names);
    return [...own.set].map(({ value }) => decode<Secret>("envoy.extensions.transport_sockets.tls.v3.Secret", value));
  };
}

/** The names of all servers' secrets. */
function serverSecrets(mesh: OfflineMesh): string[] {
  return mesh.store.list("Gateway").flatMap(({ spec }) => spec.servers).flatMap(({ tls, internal }) => [
    ...tls?.credentialNames ?? [],
    ...(tls?.credentialName ? [tls.credentialName] : []),
    ...(internal?.clientAuthorities ? [`${internal.clientAuthorities}-cacert`] : []),
  ]);
}

/** A listener at the place of its port; none of a listener without a port. */
function atPlace(listener: Listener, { socket, datagrams }: GatewayPlaces): Listener[] {
  const { additional_addresses: _, ...one } = listener;
  const at = one.address?.socket_address;
  if (at?.port_value === undefined) return [];
  if (at.protocol !== 1) return [{ ...one, address: { pipe: { path: socket(at.port_value) } } }];
  const { address, port } = datagrams(at.port_value);
  return [{ ...one, address: { socket_address: { ...at, address, port_value: port } } }];
}

/**
 * A cluster with its endpoints and secrets in place of subscriptions. The sockets for endpoints with mutual TLS of the
 * mesh are left out: no endpoint of these tests is marked so, and nobody would give their certificates.
 */
function standing(
  { eds_cluster_config: _, transport_socket_matches: __, type, transport_socket, ...cluster }: Cluster,
  assignment: envoy.config.endpoint.v3.ClusterLoadAssignment | undefined,
  find: (names: readonly string[]) => Secret[],
): Cluster {
  const socket = transport_socket && inline(transport_socket, find);
  const isSubscribed = type === 3;
  return {
    ...cluster,
    ...(isSubscribed ? { type: 0, load_assignment: assignment ?? { cluster_name: cluster.name } } : { type }),
    ...(socket && { transport_socket: socket }),
  } as Cluster;
}

/** The endpoints that clusters hold themselves. */
function endpointsOf(clusters: readonly Cluster[]) {
  const groups = clusters.flatMap(({ load_assignment }) => load_assignment?.endpoints ?? []);
  return groups.flatMap(({ lb_endpoints = [] }) => lb_endpoints).flatMap(({ endpoint }) => endpoint ?? []);
}
