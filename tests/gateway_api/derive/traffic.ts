/**
 * A real Envoy with the rules of routes on one listener, in front of a backend that reports what it received.
 *
 * Permissions: read and write (temp folder), run (envoy), net (loopback).
 *
 * @module
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { before } from "../../../lib/kernel/text/edges.ts";
import type { RouteRules } from "../../../lib/gateway_api/derive/rules.ts";
import { gatewayRouteConfigurations } from "../../../lib/translate/gateway/routes.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { type Client, exchange, isWhole, withEnvoy } from "../../translate/gateway/running_envoy.ts";
import { meshReader } from "../../translate/mesh_reader.ts";
import { routeListener } from "../../translate/route/route_listener.ts";
import { derivedObjects, type ListenerHead } from "./derived.ts";

type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;
type RouteAction = envoy.config.route.v3.RouteAction;

/** A request of a client. */
export interface Asked {
  readonly method?: string;
  /** Default: `shop.example.com`. */
  readonly host?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: no body. */
  readonly body?: string;
}

/** What the client got. */
export interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The request as the backend received it; absent: the proxy answered by itself. */
  readonly seen?: Seen;
}

/** A request that arrived at a backend. */
export interface Seen {
  /** Name of the Service. */
  readonly backend: string;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Server name in the handshake; absent: a plain connection. */
  readonly sni?: string;
  /** Name of the client by its certificate; absent: none. */
  readonly client?: string;
  /** Length of the body; absent: not measured. */
  readonly bytes?: number;
}

/** Sends requests to the listener. */
export interface Traffic {
  ask(asked: Asked): Promise<Got>;
  /** All requests that arrived at backends so far, copies too. */
  readonly seen: readonly Seen[];
  /** Settles when another request arrives. */
  next(): Promise<void>;
}

/** Runs Envoy with the rules. Paths that begin with `/status/N` are answered with status N. */
export async function withTraffic(
  binary: string,
  routes: readonly RouteRules[],
  head: ListenerHead,
  use: (traffic: Traffic) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const seen: Seen[] = [];
  let arrived = Promise.withResolvers<void>();
  const servers = new Map<string, ReturnType<typeof createServer>>();
  const server = (backend: string) => {
    const made = createServer((got, answer) => {
      const { method = "", url: path = "", headers } = got;
      const one = { backend, method, host: headers.host ?? "", path, headers };
      seen.push(one);
      arrived.resolve();
      arrived = Promise.withResolvers();
      const body = JSON.stringify(one);
      const status = Number(/^\/status\/(\d+)/.exec(path)?.[1] ?? 200);
      answer.writeHead(status, { "x-backend": backend, "content-length": body.length }).end(body);
    });
    servers.set(backend, made);
    return made;
  };
  try {
    const configuration = routeConfiguration(routes, head);
    const clusters = await Promise.all([...clustersOf(configuration)].map(async (name) => {
      const one = server(name.split("|").at(-1)!.split(".")[0]!);
      await new Promise<void>((ready) => one.listen(0, "127.0.0.1", ready));
      return upstream(name, one.address() as AddressInfo);
    }));
    const listeners = [routeListener(configuration, `${folder}/envoy`)];
    await withEnvoy(
      binary,
      { listeners, routes: new Map(), clusters },
      () => use({ ask: (asked) => ask({ socket: `${folder}/envoy` }, asked), seen, next: () => arrived.promise }),
    );
  } finally {
    for (const one of servers.values()) {
      one.closeAllConnections();
      one.close();
    }
    await Deno.remove(folder, { recursive: true });
  }
}

/** The route configuration of the listener, with its virtual hosts. */
export function routeConfiguration(routes: readonly RouteRules[], head: ListenerHead): RouteConfiguration {
  const read = meshReader({
    properties: { type: "router", namespace: "edge", labels: { edge: "yes" } },
    objects: derivedObjects(routes, head),
  });
  const [built, ...others] = gatewayRouteConfigurations(read).values();
  if (built === undefined || others.length > 0) throw new Error("expected one route configuration");
  return { ...built.routeConfiguration.message, virtual_hosts: built.virtualHosts.map(({ message }) => message) };
}

/** The clusters of services: a cluster for missing backends never exists. */
function clustersOf({ virtual_hosts = [] }: RouteConfiguration): Set<string> {
  const actions: RouteAction[] = virtual_hosts.flatMap(({ routes = [] }) => routes.flatMap(({ route }) => route ?? []));
  const names = actions.flatMap(({ cluster = "", weighted_clusters, request_mirror_policies = [] }) => [
    cluster,
    ...(weighted_clusters?.clusters ?? []).map(({ name = "" }) => name),
    ...request_mirror_policies.map(({ cluster = "" }) => cluster),
  ]);
  return new Set(names.filter((name) => name.startsWith("outbound|")));
}

function upstream(name: string, { address, port }: AddressInfo): envoy.config.cluster.v3.Cluster {
  const lb_endpoints = [{ endpoint: { address: { socket_address: { address, port_value: port } } } }];
  return {
    name,
    connect_timeout: { seconds: 1 },
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints }] },
  };
}

/** Sends a request over a connection of its own. */
export async function ask(
  client: Client,
  { method = "GET", host = "shop.example.com", path, headers = {}, body: sent }: Asked,
): Promise<Got> {
  const written = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  if (sent !== undefined) written.push(`Content-Length: ${sent.length}`);
  const head = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, "Connection: close", ...written];
  const answer = await exchange(client, `${head.join("\r\n")}\r\n\r\n${sent ?? ""}`, isWhole);
  const end = answer.indexOf("\r\n\r\n");
  const [status = "", ...lines] = answer.slice(0, end).split("\r\n");
  const got = Object.fromEntries(lines.map((line) => [before(line, ":").toLowerCase(), line.split(": ")[1] ?? ""]));
  const rest = answer.slice(end + 4);
  const body = got["transfer-encoding"] === "chunked" ? withoutChunks(rest) : rest;
  const seen = got["x-backend"] === undefined || body === "" ? undefined : JSON.parse(body) as Seen;
  return { status: Number(status.split(" ")[1]), headers: got, ...(seen && { seen }) };
}

/** The content of a body that arrives in chunks, each behind its length. */
function withoutChunks(body: string): string {
  let content = "";
  for (let rest = body; rest !== "";) {
    const line = rest.indexOf("\r\n");
    const length = Number.parseInt(rest.slice(0, line), 16);
    if (!(length > 0)) break;
    content += rest.slice(line + 2, line + 2 + length);
    rest = rest.slice(line + 2 + length + 2);
  }
  return content;
}
